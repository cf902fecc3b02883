/// Generates matrices from counter-based random numbers. All backends and any number of threads give the same
/// bits.

#include "kernels/matrix/generate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels/core/parallel_rows.hpp"
#include "kernels/matrix/condition.hpp"
#include "kernels/matrix/element.hpp"
#include "kernels/matrix/generate_kernel.hpp"
#include "kernels/matrix/shortest.hpp"

namespace gaussweep {
namespace {

/// Returns true if the elements are uniform in [low, high).
bool has_range(MatrixKind kind) {
  return kind == MatrixKind::uniform || kind == MatrixKind::symmetric;
}

/// Returns the generator's version, which is part of MatrixSpec::canonical. The version increases when the
/// same spec gives other bits, so that matrices stored by older versions are not used. Version 2 redraws
/// elements that are rounded to `high`. In double this affects only narrow ranges.
int generator_version(const MatrixSpec& spec, Precision precision) {
  const bool is_narrow = spec.high - spec.low < 0x1p-20 * std::max(std::fabs(spec.low), std::fabs(spec.high));
  return has_range(spec.kind) && (precision == Precision::float32 || is_narrow) ? 2 : 1;
}

bool may_be_rectangular(MatrixKind kind) {
  return kind == MatrixKind::uniform || kind == MatrixKind::ones || kind == MatrixKind::hilbert ||
         kind == MatrixKind::cauchy || kind == MatrixKind::blur;  // blur_fault checks blur
}

constexpr double element_operations = 40;  // operations per generated element, mostly of Philox

[[noreturn]] void reject(const MatrixSpec& spec, const std::string& why) {
  throw std::invalid_argument("matrix kind " + std::string(to_string(spec.kind)) + ": " + why);
}

/// Check parts of a spec. @throws std::invalid_argument with the allowed values
void check_dimensions(const MatrixSpec& spec) {
  const std::string size = std::to_string(spec.rows) + " x " + std::to_string(spec.cols);
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  if (spec.rows < 1 || spec.cols < 1 || spec.rows >= limit || spec.cols >= limit) {
    reject(spec, "rows and cols must be 1 to 2147483647, not " + size);
  }
  if (spec.batch < 1 || spec.batch >= limit / spec.cols)
    reject(spec, std::to_string(spec.batch) + " matrices of " + size + " have more than 2147483647 columns");
  if (spec.rows != spec.cols && !may_be_rectangular(spec.kind)) {
    reject(spec, "the matrix must be square, not " + size +
                     "; uniform, ones, hilbert, cauchy and blur may be rectangular");
  }
}

void check_range(const MatrixSpec& spec) {
  const std::string range = "low = " + shortest(spec.low) + ", high = " + shortest(spec.high);
  if (!(spec.low < spec.high)) reject(spec, "low must be less than high, not " + range);
  const double largest = std::fmax(std::fabs(spec.low), std::fabs(spec.high));
  // In this range all elements are finite in float, and nonzero elements stay nonzero.
  if (!(largest >= 1e-20 && largest <= 1e30)) {
    reject(spec, "the larger of |low| and |high| must be 1e-20 to 1e30, not " + range);
  }
}

/// Checks the values that the kind of the matrix uses, for any precision. @throws std::invalid_argument
void validate(const MatrixSpec& spec) {
  check_dimensions(spec);
  switch (spec.kind) {
    case MatrixKind::uniform:
    case MatrixKind::symmetric:
      check_range(spec);
      break;
    case MatrixKind::spd:
    case MatrixKind::condition:
      if (!spec.has_condition()) break;
      if (!(spec.condition >= 1 && spec.condition <= 1e300)) {
        reject(spec, "condition must be 1 to 1e300, not " + shortest(spec.condition));
      }
      if (spec.rows == 1 && spec.condition != 1) {
        reject(spec, "a 1 x 1 matrix has condition 1, not " + shortest(spec.condition));
      }
      if (spec.mode < 1 || spec.mode > 5)
        reject(spec, "mode must be 1 to 5, not " + std::to_string(spec.mode));
      break;
    case MatrixKind::kernel:
      if (!(spec.s >= 0 && spec.s <= 1e30)) reject(spec, "s must be 0 to 1e30, not " + shortest(spec.s));
      if (!(spec.lambda >= 0 && spec.lambda <= 1e30))
        reject(spec, "lambda must be 0 to 1e30, not " + shortest(spec.lambda));
      break;
    case MatrixKind::ones:
      if (!(std::fabs(spec.value) <= 1e30)) {
        reject(spec, "value must be -1e30 to 1e30, not " + shortest(spec.value));
      }
      break;
    case MatrixKind::blur: {
      const std::string fault = blur_fault(spec.blur, spec.rows, spec.cols);
      if (!fault.empty()) reject(spec, fault);
      break;
    }
    default:
      break;
  }
}

/// Checks the spec for matrices in precision T. @throws std::invalid_argument
template <class T>
void validate_for(const MatrixSpec& spec) {
  validate(spec);
  const std::string fault = precision_fault(spec, precision_of<T>);
  if (!fault.empty()) reject(spec, fault);
}

}  // namespace

std::string precision_fault(const MatrixSpec& spec, Precision precision) {
  const std::string name(to_string(precision));
  const double epsilon = precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                         : std::numeric_limits<double>::epsilon();
  if (has_range(spec.kind)) {
    // With this distance, at least seven of eight draws lie below `high` after rounding.
    const double min_distance = 4 * epsilon * std::fmax(std::fabs(spec.low), std::fabs(spec.high));
    if (spec.high - spec.low >= min_distance) return {};
    return "low = " + shortest(spec.low) + " and high = " + shortest(spec.high) + " are too close in " +
           name + "; allowed: a distance of at least " + shortest(min_distance);
  }
  const bool spd = spec.kind == MatrixKind::spd;
  const double max_condition = spd ? max_spd_condition_number(precision) : max_condition_number(precision);
  if (spec.has_condition() && spec.condition > max_condition) {
    return "condition " + shortest(spec.condition) + " is beyond what a matrix in " + name +
           " can have: rounding its elements would change the condition; allowed: up to 1/" +
           (spd ? "(64 u)" : "u") + ", " + shortest(max_condition);
  }
  return {};
}

std::string MatrixSpec::canonical(Precision precision) const {
  std::string text = "gaussweep generator " + std::to_string(generator_version(*this, precision)) + ": kind=";
  text += to_string(kind);
  text += " precision=";
  text += to_string(precision);
  text += " rows=" + std::to_string(rows) + " cols=" + std::to_string(cols);
  if (batch > 1) text += " batch=" + std::to_string(batch);
  // The text has only values that affect this kind, because equal matrices must have equal texts.
  switch (kind) {
    case MatrixKind::uniform:
    case MatrixKind::symmetric:
      text += " seed=" + std::to_string(seed) + " low=" + shortest(low) + " high=" + shortest(high);
      break;
    case MatrixKind::diagonally_dominant:
      text += " seed=" + std::to_string(seed);
      break;
    case MatrixKind::triangular:
      text += " seed=" + std::to_string(seed) + " uplo=";
      text += to_string(uplo);
      break;
    case MatrixKind::spd:
    case MatrixKind::condition:
      text += " seed=" + std::to_string(seed);
      if (has_condition()) text += " condition=" + shortest(condition) + " mode=" + std::to_string(mode);
      break;
    case MatrixKind::kernel:
      text += " s=" + shortest(s) + " lambda=" + shortest(lambda);
      break;
    case MatrixKind::ones:
      text += " value=" + shortest(value);
      break;
    case MatrixKind::blur:
      text += " " + blur.canonical();
      break;
    case MatrixKind::identity:
    case MatrixKind::hilbert:
    case MatrixKind::cauchy:
    case MatrixKind::wilkinson:
      break;
  }
  return text;
}

/// Generates one matrix of a valid specification, on the host.
template <class T>
HostMatrix<T> generate_single(const MatrixSpec& spec, int threads) {
  if (spec.kind == MatrixKind::blur) return blur_matrix<T>(spec.blur, threads);
  HostMatrix<T> a = HostMatrix<T>::uninitialized(spec.rows, spec.cols);
  if (spec.has_condition()) {
    const HostMatrix<double> exact = condition_matrix(spec, threads);
    for (std::size_t k = 0; k < a.data.size(); ++k) a.data[k] = static_cast<T>(exact.data[k]);
    return a;
  }
  for_row_ranges(spec.rows, threads, element_operations * spec.rows * spec.cols,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t j = 0; j < spec.cols; ++j) {
                     for (std::int64_t i = begin; i < end; ++i) a(i, j) = element<T>(spec, i, j);
                   }
                 });
  return a;
}

template <class T>
HostMatrix<T> generate(const MatrixSpec& spec, int threads) {
  validate_for<T>(spec);
  if (spec.batch == 1) return generate_single<T>(spec, threads);
  const std::int64_t elements = spec.rows * spec.cols;
  HostMatrix<T> all = HostMatrix<T>::uninitialized(spec.rows, spec.cols * spec.batch);
  for_row_ranges(spec.batch, threads, element_operations * static_cast<double>(elements * spec.batch),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t s = begin; s < end; ++s) {
                     const HostMatrix<T> one = generate_single<T>(spec.single(s), /*threads=*/1);
                     std::copy(one.data.begin(), one.data.end(), all.data.begin() + s * elements);
                   }
                 });
  return all;
}

template <class T>
HostMatrix<T> generate_on(Context& context, const MatrixSpec& spec, std::int64_t max_elements) {
  Device& device = context.device;
  const bool elementwise = !spec.has_condition() && spec.kind != MatrixKind::blur;
  if (!elementwise || device.backend() == Backend::host) return generate<T>(spec);
  validate_for<T>(spec);
  HostMatrix<T> a = HostMatrix<T>::uninitialized(spec.rows, spec.cols * spec.batch);
  // A column block of at most max_elements is generated at a time, because the whole matrix may not fit on
  // the device.
  const std::int64_t block_columns = std::clamp<std::int64_t>(max_elements / a.rows, 1, a.cols);
  const Buffer buffer(device, static_cast<std::size_t>(a.rows * block_columns) * sizeof(T));
  for (std::int64_t first = 0; first < a.cols; first += block_columns) {
    const MatrixView<T> view{static_cast<T*>(buffer.data()), a.rows, std::min(block_columns, a.cols - first),
                             a.rows};
    if (device.backend() == Backend::emulated) {
      emulated::fill_matrix(context, spec, view, first);
    } else {
#ifdef GAUSSWEEP_HAS_CUDA
      cuda::fill_matrix(context, spec, view, first);
#else
      throw std::logic_error("generate_on: a device of the backend cuda in a build without CUDA");
#endif
    }
    device.to_host(&a(0, first), view.data, static_cast<std::size_t>(view.rows * view.cols) * sizeof(T));
  }
  return a;
}

template <class T>
HostMatrix<T> generate_solution(std::int64_t n, std::int64_t nrhs, std::uint64_t seed) {
  if (n < 1 || nrhs < 1) {
    throw std::invalid_argument("solution: n and nrhs must be at least 1, not " + std::to_string(n) +
                                " and " + std::to_string(nrhs));
  }
  HostMatrix<T> x(n, nrhs);
  for (std::int64_t j = 0; j < nrhs; ++j) {
    for (std::int64_t i = 0; i < n; ++i)
      x(i, j) = static_cast<T>(signed_unit(seed, RandomStream::solution, i, j));
  }
  return x;
}

template <class T>
HostMatrix<T> right_hand_side(const HostMatrix<T>& a, const HostMatrix<T>& x_true, int threads) {
  if (a.cols != x_true.rows) {
    throw std::invalid_argument("right-hand side: A is " + std::to_string(a.rows) + " x " +
                                std::to_string(a.cols) + ", so x must have " + std::to_string(a.cols) +
                                " rows, not " + std::to_string(x_true.rows));
  }
  HostMatrix<T> b(a.rows, x_true.cols);
  const double cost = 4.0 * a.rows * a.cols * x_true.cols;
  for_row_ranges(a.rows, threads, cost, [&](std::int64_t begin, std::int64_t end) {
    std::vector<long double> sum(static_cast<std::size_t>(end - begin));
    for (std::int64_t r = 0; r < x_true.cols; ++r) {
      std::fill(sum.begin(), sum.end(), 0.0L);
      // Processes A column by column, because columns are contiguous. Each sum still runs over j in ascending
      // order.
      for (std::int64_t j = 0; j < a.cols; ++j) {
        const long double x = x_true(j, r);
        for (std::int64_t i = begin; i < end; ++i) sum[static_cast<std::size_t>(i - begin)] += a(i, j) * x;
      }
      for (std::int64_t i = begin; i < end; ++i)
        b(i, r) = static_cast<T>(sum[static_cast<std::size_t>(i - begin)]);
    }
  });
  return b;
}

template HostMatrix<float> generate<float>(const MatrixSpec&, int);
template HostMatrix<double> generate<double>(const MatrixSpec&, int);
template HostMatrix<float> generate_on<float>(Context&, const MatrixSpec&, std::int64_t);
template HostMatrix<double> generate_on<double>(Context&, const MatrixSpec&, std::int64_t);
template HostMatrix<float> generate_solution<float>(std::int64_t, std::int64_t, std::uint64_t);
template HostMatrix<double> generate_solution<double>(std::int64_t, std::int64_t, std::uint64_t);
template HostMatrix<float> right_hand_side<float>(const HostMatrix<float>&, const HostMatrix<float>&, int);
template HostMatrix<double> right_hand_side<double>(const HostMatrix<double>&, const HostMatrix<double>&,
                                                    int);

}  // namespace gaussweep
