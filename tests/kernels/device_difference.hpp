#pragma once
/// Typed tests of the reductions that verify answers on a device: norms, and differences of two answers.
/// Every result must have the bits of the CPU's result. The host copy of device-resident data is freed
/// (`released`), so that code which reads the host copy fails.

#include "kernels/check/device_reductions.hpp"
#include "tests/kernels/planted.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

enum class StorageOrder { by_columns, by_rows };

/// A matrix on a device, with NaN in its padding. Its host copy `released` has the sizes but no elements. The
/// address of released.x identifies the matrix: reductions get it and find the device copy
/// (DeviceCopy::host).
template <class T>
class OnDevice {
 public:
  OnDevice(Device& device, const HostMatrix<T>& a, StorageOrder order) {
    const bool by_rows = order == StorageOrder::by_rows;
    const std::int64_t ld = (by_rows ? a.cols : a.rows) + 3, lines = by_rows ? a.rows : a.cols;
    const std::int64_t row_stride = by_rows ? ld : 1, column_stride = by_rows ? 1 : ld;
    std::vector<T> elements(static_cast<std::size_t>(ld * lines), std::numeric_limits<T>::quiet_NaN());
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i)
        elements[static_cast<std::size_t>(i * row_stride + j * column_stride)] = a(i, j);
    }
    buffer_ = Buffer(device, elements.size() * sizeof(T));
    device.to_device(buffer_.data(), elements.data(), buffer_.bytes());
    layout_ = {static_cast<const T*>(buffer_.data()), row_stride, column_stride};
    released.x.rows = a.rows;
    released.x.cols = a.cols;
  }
  DeviceCopy<T> copy() const { return {&released.x, layout_}; }

  Answer<T> released;

 private:
  Buffer buffer_;
  StridedView<T> layout_;
};

/// Backend and precision of a test.
template <class Precision, Backend its_backend>
struct Setting {
  using T = Precision;
  static constexpr Backend backend = its_backend;
};

template <class S>
class DeviceDifference : public testing::Test {
 protected:
  using T = typename S::T;

  void SetUp() override {
    std::string why;
    if (S::backend == Backend::cuda && cuda_device_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
    device = S::backend == Backend::cuda ? make_cuda_device(0) : cpu(S::backend);
    context.emplace(*device);
    context->emulation.shuffle_seed = 3;
  }

  /// Compares norms and differences of x and y in all layouts. @return the CPU's result
  ElementDifference compare(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part,
                            const std::string& comparison) {
    HostReductions<T> on_host;
    const double x_norm = on_host.max_norm(x, part), y_norm = on_host.max_norm(y, part);
    const ElementDifference expected = on_host.element_difference(x, y, part, x_norm, y_norm);
    for (const StorageOrder x_order : {StorageOrder::by_columns, StorageOrder::by_rows}) {
      for (const StorageOrder y_order : {StorageOrder::by_columns, StorageOrder::by_rows}) {
        const OnDevice<T> first(*device, x, x_order), second(*device, y, y_order);
        const auto on_device = device_reductions<T>(*context, {first.copy(), second.copy()});
        const HostMatrix<T>&first_answer = first.released.x, &other = second.released.x;
        EXPECT_TRUE(same_number(on_device->max_norm(first_answer, part), x_norm)) << comparison;
        EXPECT_TRUE(same_number(on_device->max_norm(other, part), y_norm)) << comparison;
        const ElementDifference found =
            on_device->element_difference(first_answer, other, part, x_norm, y_norm);
        EXPECT_TRUE(same_number(found.largest, expected.largest)) << comparison;
        EXPECT_TRUE(same_number(found.largest_relative, expected.largest_relative)) << comparison;
        EXPECT_TRUE(same_number(found.mean_relative, expected.mean_relative)) << comparison;
        EXPECT_TRUE(same_number(found.mean_absolute, expected.mean_absolute)) << comparison;
      }
    }
    return expected;
  }

  std::unique_ptr<Device> device;
  std::optional<Context> context;
};
TYPED_TEST_SUITE_P(DeviceDifference);

constexpr MatrixPart every_part[] = {MatrixPart::all, MatrixPart::lower, MatrixPart::upper};

inline std::string matrix_description(const char* kind, std::int64_t rows, std::int64_t cols,
                                      MatrixPart part) {
  return std::string(kind) + ", " + std::to_string(rows) + " x " + std::to_string(cols) + ", part " +
         std::to_string(static_cast<int>(part));
}

/// A range of elements' binary exponents: from low * e to high * e, where e is the largest exponent of T.
/// Below about -1, elements are subnormal.
struct Kind {
  const char* name;
  double low, high;
};
constexpr Kind kinds[] = {
    {"ordinary", -0.01, 0.01}, {"all exponents", -1.2, 1}, {"subnormal", -1.2, -1}, {"huge", 0.95, 1}};

/// Returns random elements, including zeros of both signs. With `similar_to`, some elements equal those of
/// this matrix, some differ in the last bits, some in the sign.
template <class T>
HostMatrix<T> drawn(const Kind& kind, std::int64_t rows, std::int64_t cols, unsigned seed,
                    const HostMatrix<T>* similar_to = nullptr) {
  using Limits = std::numeric_limits<T>;
  std::mt19937 generator(seed);
  HostMatrix<T> a(rows, cols);
  for (std::size_t k = 0; k < a.data.size(); ++k) {
    const double uniform = static_cast<double>(generator()) / 0x1p32;
    const auto exponent =
        static_cast<int>((kind.low + (kind.high - kind.low) * uniform) * Limits::max_exponent);
    const double fraction = 0.5 + static_cast<double>(generator()) / 0x1p33;
    T value = std::ldexp(static_cast<T>(fraction), std::max(exponent, Limits::min_exponent - Limits::digits));
    if (!std::isfinite(value)) value = Limits::max();
    const auto choice = generator() % 16;
    if (choice == 0) value = 0;
    if (similar_to != nullptr && choice < 4) value = similar_to->data[k];
    if (similar_to != nullptr && choice >= 4 && choice < 8)
      value = similar_to->data[k] - similar_to->data[k] * Limits::epsilon() * static_cast<T>(choice);
    a.data[k] = generator() % 2 == 0 ? value : -value;
  }
  return a;
}

inline std::vector<std::pair<std::int64_t, std::int64_t>> sizes_to_compare() {
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes{
      {1, 70}, {70, 1}, {5, 100}, {100, 5}, {33, 200}, {200, 33}, {2047, 1}, {2048, 2}, {2049, 1}, {4100, 3}};
  for (const std::int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 130}) sizes.emplace_back(n, n);
  return sizes;
}

// Expects the bits of the CPU's difference for all exponent ranges and sizes.
TYPED_TEST_P(DeviceDifference, EqualsTheCpus) {
  using T = typename TypeParam::T;
  unsigned seed = 0;
  for (const Kind& kind : kinds) {
    for (const auto& [rows, cols] : sizes_to_compare()) {
      const HostMatrix<T> y = drawn<T>(kind, rows, cols, ++seed), x = drawn<T>(kind, rows, cols, ++seed, &y);
      for (const MatrixPart part : every_part) {
        const ElementDifference found =
            this->compare(x, y, part, matrix_description(kind.name, rows, cols, part));
        if (rows == cols && rows > 30) {
          EXPECT_GT(found.mean_relative, 0) << kind.name;
        }
      }
    }
  }
}

// Reversing the elements changes the last bits of these sums. A device that sums in another order than the
// CPU would therefore fail the comparison of bits.
TYPED_TEST_P(DeviceDifference, SumsInTheCpusOrder) {
  using T = typename TypeParam::T;
  constexpr double high = 20.0 / std::numeric_limits<T>::max_exponent;
  constexpr Kind spread{"spread", -high, high};  // 2^-20 to 2^20
  for (const auto& [rows, cols] : {std::pair{300, 40}, std::pair{5000, 1}}) {
    const HostMatrix<T> y = drawn<T>(spread, rows, cols, 7), x = drawn<T>(spread, rows, cols, 8, &y);
    HostMatrix<T> x_reversed = x, y_reversed = y;
    std::reverse(x_reversed.data.begin(), x_reversed.data.end());
    std::reverse(y_reversed.data.begin(), y_reversed.data.end());
    const ElementDifference found = this->compare(x, y, MatrixPart::all, "in order");
    const ElementDifference reversed = this->compare(x_reversed, y_reversed, MatrixPart::all, "reversed");
    EXPECT_EQ(found.largest, reversed.largest);
    EXPECT_NE(found.mean_relative, reversed.mean_relative);
    EXPECT_NE(found.mean_absolute, reversed.mean_absolute);
  }
}

TYPED_TEST_P(DeviceDifference, EqualsTheCpusForExtremeElements) {
  using T = typename TypeParam::T;
  using Limits = std::numeric_limits<T>;
  const T huge = Limits::max(), smallest = Limits::denorm_min();
  const std::vector<T> values{0, T(-0.0), 1, -1, huge, -huge, smallest, -smallest, Limits::min()};
  const auto count = static_cast<std::int64_t>(values.size());
  HostMatrix<T> x(count, count), y(count, count);  // pairs every value with every other one
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t i = 0; i < count; ++i) {
      x(i, j) = values[static_cast<std::size_t>(i)];
      y(i, j) = values[static_cast<std::size_t>(j)];
    }
  }
  const bool is_double = std::is_same_v<T, double>;
  for (const MatrixPart part : every_part) {
    const ElementDifference found =
        this->compare(x, y, part, matrix_description("extreme", count, count, part));
    EXPECT_EQ(found.largest, 2);  // |huge - (-huge)| / huge
    if (is_double) {
      EXPECT_EQ(found.largest_relative, std::numeric_limits<double>::max());
    }
  }
  for (std::int64_t j = 0; j < count; ++j) {  // one by one
    for (std::int64_t i = 0; i < count; ++i) {
      HostMatrix<T> one(1, 1), other(1, 1);
      one(0, 0) = x(i, j);
      other(0, 0) = y(i, j);
      const ElementDifference found = this->compare(one, other, MatrixPart::all, "one element");
      EXPECT_EQ(std::isnan(found.largest_relative), y(i, j) == 0);
    }
  }
}

TYPED_TEST_P(DeviceDifference, NormsOfNonFiniteMatricesEqualTheCpus) {
  using T = typename TypeParam::T;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{70, 1}, std::pair{1, 70}, std::pair{66, 130}}) {
    const HostMatrix<T> finite = drawn<T>(kinds[0], rows, cols, 5);
    int nan_norms = 0, infinite_norms = 0, finite_norms = 0;
    for (const T bad : {nan, -nan, inf, -inf}) {
      for (const std::int64_t at : {0, rows - 1, rows * cols / 2, rows * cols - 1}) {
        for (const bool both : {false, true}) {
          HostMatrix<T> a = finite;
          a.data[static_cast<std::size_t>(at)] = bad;
          if (both) a.data[static_cast<std::size_t>(rows * cols - 1 - at)] = inf;
          for (const MatrixPart part : every_part) {
            const double expected = max_norm(a, part);
            ++(std::isnan(expected) ? nan_norms : std::isinf(expected) ? infinite_norms : finite_norms);
            for (const StorageOrder order : {StorageOrder::by_columns, StorageOrder::by_rows}) {
              const OnDevice<T> on_device(*this->device, a, order);
              const auto reductions = device_reductions<T>(*this->context, {on_device.copy()});
              EXPECT_TRUE(same_number(reductions->max_norm(on_device.released.x, part), expected))
                  << bad << " at " << at << matrix_description("", rows, cols, part);
            }
          }
        }
      }
    }
    EXPECT_GT(nan_norms, 0);
    EXPECT_GT(infinite_norms, 0);
    if (rows * cols > 70) {
      EXPECT_GT(finite_norms, 0) << "the NaN or Inf was never outside the triangle";
    }
  }
}

/// Returns true if every member has the same bits in `a` and `b`, or is NaN in both.
inline bool same_numbers(const Difference& a, const Difference& b) {
  return same_number(a.largest, b.largest) && same_number(a.largest_relative, b.largest_relative) &&
         same_number(a.mean_relative, b.mean_relative) && same_number(a.mean_absolute, b.mean_absolute);
}

TYPED_TEST_P(DeviceDifference, EqualsTheCpusForAnswers) {
  using T = typename TypeParam::T;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  using Change = std::function<void(HostMatrix<T>&)>;
  const auto last = [](HostMatrix<T>& a) -> T& { return a(a.rows - 1, a.cols - 1); };
  const std::vector<std::pair<const char*, Change>> changes{
      {"as it is", [](HostMatrix<T>&) {}},
      {"NaN first", [=](HostMatrix<T>& a) { a(0, 0) = nan; }},
      {"NaN last", [=](HostMatrix<T>& a) { last(a) = nan; }},
      {"Inf last", [=](HostMatrix<T>& a) { last(a) = -inf; }},
      {"NaN in the upper triangle", [=](HostMatrix<T>& a) { a(0, a.cols - 1) = nan; }},
      {"Inf in the lower triangle", [=](HostMatrix<T>& a) { a(a.rows - 1, 0) = inf; }},
      {"zeros", [](HostMatrix<T>& a) { std::fill(a.data.begin(), a.data.end(), T(0)); }}};
  int unknown = 0, infinite = 0, finite = 0;
  for (const Problem problem : all_problems()) {
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      const Shape shape{40, 40, 40, 3, uplo};
      const Extent extent = problem->x(shape);
      Answer<T> reference, answer;
      reference.x = drawn<T>(kinds[0], extent.rows, extent.cols, 1);
      answer.x = drawn<T>(kinds[0], extent.rows, extent.cols, 2, &reference.x);
      for (const auto& [of_reference, change] : changes) {
        for (const auto& [of_answer, damage] : changes) {
          Answer<T> first = answer, second = reference;
          change(second.x);
          damage(first.x);
          const std::string comparison = std::string(to_string(problem)) + ", " +
                                         std::string(to_string(uplo)) + ", reference " + of_reference +
                                         ", answer " + of_answer;
          const OnDevice<T> first_on_device(*this->device, first.x, StorageOrder::by_rows);
          const OnDevice<T> second_on_device(*this->device, second.x, StorageOrder::by_columns);
          const auto reductions =
              device_reductions<T>(*this->context, {first_on_device.copy(), second_on_device.copy()});
          const double norm = norm_of_answer(problem, shape, second);
          EXPECT_TRUE(
              same_number(norm_of_answer(problem, shape, second_on_device.released, *reductions), norm))
              << comparison;
          const Difference expected = difference(problem, shape, first, second, norm);
          EXPECT_TRUE(same_numbers(difference(problem, shape, first_on_device.released,
                                              second_on_device.released, norm, *reductions),
                                   expected))
              << comparison;
          ++(std::isnan(expected.largest) ? unknown : std::isinf(expected.largest) ? infinite : finite);
        }
      }
    }
  }
  for (const int count : {unknown, infinite, finite}) EXPECT_GT(count, 50);
}

TYPED_TEST_P(DeviceDifference, IsUnknownForOtherPivots) {
  using T = typename TypeParam::T;
  const Problem lu = Problem::named("getrf");
  const Shape shape{40, 40, 40, 1, Uplo::lower};
  const HostMatrix<T> y = drawn<T>(kinds[0], 40, 40, 1), x = drawn<T>(kinds[0], 40, 40, 2, &y);
  OnDevice<T> first(*this->device, x, StorageOrder::by_columns),
      second(*this->device, y, StorageOrder::by_columns);
  const auto reductions = device_reductions<T>(*this->context, {first.copy(), second.copy()});
  const double norm = max_norm(y);
  const auto found = [&] {
    return difference(lu, shape, first.released, second.released, norm, *reductions);
  };
  for (int i = 0; i < 40; ++i) second.released.pivots.push_back(i);
  EXPECT_GT(found().mean_relative, 0) << "no pivots and identity pivots are equal";
  second.released.pivots.back() = 38;
  EXPECT_TRUE(std::isnan(found().mean_relative));
  first.released.pivots = second.released.pivots;
  EXPECT_GT(found().mean_relative, 0);
}

TYPED_TEST_P(DeviceDifference, FromItselfNeedsNoData) {
  using T = typename TypeParam::T;
  const Problem problem = Problem::named("geinv");
  const Shape shape{40, 40, 40, 1, Uplo::lower};
  const auto without_data = device_reductions<T>(*this->context);
  Answer<T> answer;
  answer.x.rows = answer.x.cols = 40;
  EXPECT_EQ(difference(problem, shape, answer, answer, 1.0, *without_data).mean_absolute, 0);
  const OnDevice<T> zeros(*this->device, HostMatrix<T>(40, 40), StorageOrder::by_columns);
  const auto on_device = device_reductions<T>(*this->context, {zeros.copy()});
  const Difference found = difference(problem, shape, zeros.released, zeros.released, 0.0, *on_device);
  EXPECT_EQ(found.largest, 0);
  EXPECT_TRUE(std::isnan(found.mean_relative));
}

TYPED_TEST_P(DeviceDifference, UploadsHostDataAndRefusesMissingData) {
  using T = typename TypeParam::T;
  const HostMatrix<T> y = drawn<T>(kinds[0], 40, 40, 1), x = drawn<T>(kinds[0], 40, 40, 2, &y);
  HostMatrix<T> without_data;
  without_data.rows = without_data.cols = 40;
  const auto on_device = device_reductions<T>(*this->context);
  HostReductions<T> on_host;
  const double x_norm = max_norm(x), y_norm = max_norm(y);
  const ElementDifference found = on_device->element_difference(x, y, MatrixPart::all, x_norm, y_norm);
  EXPECT_TRUE(same_number(found.mean_relative,
                          on_host.element_difference(x, y, MatrixPart::all, x_norm, y_norm).mean_relative));
  for (Reductions<T>* reductions : {on_device.get(), static_cast<Reductions<T>*>(&on_host)}) {
    EXPECT_THROW(reductions->max_norm(without_data, MatrixPart::all), std::invalid_argument);
    EXPECT_THROW(reductions->first_not_finite(without_data, MatrixPart::all), std::invalid_argument);
    EXPECT_THROW(reductions->element_difference(without_data, y, MatrixPart::all, 1, y_norm),
                 std::invalid_argument);
    EXPECT_THROW(reductions->element_difference(x, without_data, MatrixPart::all, x_norm, 1),
                 std::invalid_argument);
  }
}

// Released data exist on the device only, so the device compares them even if they are few.
TYPED_TEST_P(DeviceDifference, ComparesSmallReleasedDataOnTheDevice) {
  using T = typename TypeParam::T;
  const HostMatrix<T> y = drawn<T>(kinds[0], 5, 5, 1), x = drawn<T>(kinds[0], 5, 5, 2, &y);
  const OnDevice<T> first(*this->device, x, StorageOrder::by_columns),
      second(*this->device, y, StorageOrder::by_columns);
  const auto reductions =
      small_on_host(device_reductions<T>(*this->context, {first.copy(), second.copy()}), 100);
  const double x_norm = max_norm(x), y_norm = max_norm(y);
  const HostMatrix<T>&device_x = first.released.x, &device_y = second.released.x;
  EXPECT_EQ(reductions->max_norm(device_x, MatrixPart::all), x_norm);
  EXPECT_EQ(reductions->first_not_finite(device_x, MatrixPart::all), std::nullopt);
  const double expected = element_difference(x, y, MatrixPart::all, x_norm, y_norm).mean_relative;
  for (const auto& [first_answer, other] :
       {std::pair{&x, &y}, {&x, &device_y}, {&device_x, &y}, {&device_x, &device_y}}) {
    const ElementDifference found =
        reductions->element_difference(*first_answer, *other, MatrixPart::all, x_norm, y_norm);
    EXPECT_TRUE(same_number(found.mean_relative, expected));
  }
}

REGISTER_TYPED_TEST_SUITE_P(DeviceDifference, EqualsTheCpus, SumsInTheCpusOrder,
                            EqualsTheCpusForExtremeElements, NormsOfNonFiniteMatricesEqualTheCpus,
                            EqualsTheCpusForAnswers, IsUnknownForOtherPivots, FromItselfNeedsNoData,
                            UploadsHostDataAndRefusesMissingData, ComparesSmallReleasedDataOnTheDevice);

}  // namespace gaussweep::testing_help
