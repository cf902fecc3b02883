// Tests the staging of operands on a device in all three layouts: upload, download, reset and reuse.

#include "kernels/check/check.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/kernels/short_of_memory.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Returns a matrix in which every element has a different value, which shows its position.
template <class T>
HostMatrix<T> counted(std::int64_t rows, std::int64_t cols, int first) {
  HostMatrix<T> matrix(rows, cols);
  fill(matrix, [&](std::int64_t i, std::int64_t j) { return static_cast<T>(first + 100 * i + j); });
  return matrix;
}

template <class T>
Inputs<T> counted_inputs(const Method& method, const Shape& shape) {
  Inputs<T> inputs;
  inputs.shape = shape;
  const bool gemm = method.problem == Problem::named("gemm");
  inputs.a = gemm ? counted<T>(shape.m, shape.k, 1) : counted<T>(shape.n, shape.n, 1);
  if (gemm) inputs.b = counted<T>(shape.k, shape.n, 50000);
  if (has_right_hand_sides(method.problem)) inputs.b = counted<T>(shape.n, shape.nrhs, 50000);
  return inputs;
}

Method row(Problem problem, Layout layout, AnswerIn answer) {
  Method method;
  method.problem = problem;
  method.variant = "staged";
  method.layout = layout;
  method.answer = answer;
  return method;
}

/// Returns element (i, j) of a view that is stored in the given layout.
template <class T>
T at(const MatrixView<T>& view, Layout layout, std::int64_t i, std::int64_t j) {
  return layout == Layout::column_major ? view.data[i + j * view.ld] : view.data[i * view.ld + j];
}

template <class T>
void expect_equal(const MatrixView<T>& view, Layout layout, const HostMatrix<T>& matrix) {
  ASSERT_EQ(view.rows, matrix.rows);
  ASSERT_EQ(view.cols, matrix.cols);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.cols; ++j)
      ASSERT_EQ(at(view, layout, i, j), matrix(i, j)) << i << ", " << j;
  }
}

template <class T>
class StagingOf : public testing::Test {
 protected:
  std::unique_ptr<Device> device = cpu(Backend::host);
};
TYPED_TEST_SUITE(StagingOf, Precisions);

TYPED_TEST(StagingOf, ColumnAndRowMajor) {
  using T = TypeParam;
  for (const Layout layout : {Layout::column_major, Layout::row_major}) {
    for (const std::int64_t n : {1, 2, 31, 33, 70}) {
      for (const Problem problem :
           {Problem::named("gemm"), Problem::named("gesv"), Problem::named("geinv")}) {
        const Method method = row(problem, layout, AnswerIn::x);
        const Shape shape = problem == Problem::named("gemm") ? Shape{n, n + 3, 2 * n + 1, 1, Uplo::lower}
                                                              : Shape{n, n, n, 5, Uplo::lower};
        const Inputs<T> inputs = counted_inputs<T>(method, shape);
        Staging<T> staging(*this->device, method, {}, shape, 2);
        staging.upload(inputs);
        staging.reset();
        for (const int set : {0, 1}) {
          const Operands<T> op = staging.operands(set);
          expect_equal(op.a, layout, inputs.a);
          if (problem != Problem::named("geinv")) expect_equal(op.b, layout, inputs.b);
          EXPECT_EQ(op.x.rows, problem == Problem::named("gemm") ? shape.m : n);
          EXPECT_EQ(op.x.cols, problem == Problem::named("gesv") ? 5 : shape.n);
          EXPECT_EQ(*op.info, 0);
          EXPECT_EQ(op.pivots, nullptr);
          // The answer starts as NaN and is downloaded with the right rows and columns.
          EXPECT_TRUE(std::isnan(staging.download(set).x(n - 1, 0)));
          for (std::int64_t i = 0; i < op.x.rows; ++i) {
            for (std::int64_t j = 0; j < op.x.cols; ++j) {
              op.x.data[layout == Layout::row_major ? i * op.x.ld + j : i + j * op.x.ld] =
                  static_cast<T>(1000 * set + 100 * i + j);
            }
          }
        }
        for (const int set : {0, 1}) {
          EXPECT_EQ(staging.download(set).x.data,
                    counted<T>(staging.operands(0).x.rows, staging.operands(0).x.cols, 1000 * set).data);
        }
      }
    }
  }
}

TYPED_TEST(StagingOf, Augmented) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 31, 64, 97}) {
    for (const AnswerIn answer : {AnswerIn::a, AnswerIn::b, AnswerIn::x}) {
      const Method method = row(Problem::named("gesv"), Layout::augmented, answer);
      const Shape shape{n, n, n, 3, Uplo::lower};
      const Inputs<T> inputs = counted_inputs<T>(method, shape);
      Staging<T> staging(*this->device, method, {}, shape, 1);
      staging.upload(inputs);
      staging.reset();
      const Operands<T> op = staging.operands(0);
      EXPECT_EQ(op.a.rows, n);
      EXPECT_EQ(op.a.cols, n + 3);
      EXPECT_EQ(op.a.ld * sizeof(T) % 256, 0u);
      EXPECT_LT(op.a.ld * sizeof(T), (n + 3) * sizeof(T) + 256);
      EXPECT_EQ(op.b.data, op.a.data + n);
      EXPECT_EQ(op.b.ld, op.a.ld);
      MatrixView<T> left = op.a;
      left.cols = n;
      expect_equal(left, Layout::row_major, inputs.a);
      expect_equal(op.b, Layout::row_major, inputs.b);
      const Answer<T> fetched = staging.download(0);
      if (answer == AnswerIn::x) {
        EXPECT_EQ(op.x.ld, n);  // column-major
        EXPECT_TRUE(std::isnan(fetched.x(0, 0)));
      } else {
        EXPECT_EQ(op.x.data, nullptr);
        EXPECT_EQ(fetched.x.data, inputs.b.data);
      }
    }
  }
}

/// Returns the bytes of a view with its padding.
template <class T>
std::vector<unsigned char> memory_of(const MatrixView<T>& view, Layout layout) {
  const std::int64_t lines = layout == Layout::column_major ? view.cols : view.rows;
  const auto* const data = reinterpret_cast<const unsigned char*>(view.data);
  return {data, data + static_cast<std::size_t>(view.ld * lines) * sizeof(T)};
}

// Operands and answers that the host converts to the method's layout must equal those that the device
// converts.
TYPED_TEST(StagingOf, HostArrangedOperandsAreTheSame) {
  using T = TypeParam;
  for (const Layout layout : {Layout::column_major, Layout::row_major, Layout::augmented}) {
    for (const AnswerIn answer : {AnswerIn::x, AnswerIn::a, AnswerIn::b}) {
      for (const char* problem : {"gesv", "gemm", "getrf"}) {
        if (layout == Layout::augmented && Problem::named(problem) != Problem::named("gesv")) continue;
        if (answer == AnswerIn::b && Problem::named(problem) == Problem::named("getrf")) continue;
        const Method method = row(Problem::named(problem), layout, answer);
        const bool gemm = method.problem == Problem::named("gemm");
        for (const std::int64_t n : {1, 31, 70}) {
          const Shape shape =
              gemm ? Shape{n, n + 3, 2 * n + 1, 1, Uplo::lower} : Shape{n, n, n, 5, Uplo::lower};
          const Inputs<T> inputs = counted_inputs<T>(method, shape);
          for (const int sets : {0, 2}) {
            Staging<T> staged_by_device(*this->device, method, {}, shape, sets),
                staged_by_host(*this->device, method, {}, shape, sets);
            staged_by_device.upload(inputs);
            staged_by_host.stage_pinned(views_of(inputs));
            staged_by_host.upload_pinned();
            if (sets > 0) staged_by_device.reset();
            if (sets > 0) staged_by_host.reset();
            const int last = sets > 0 ? 1 : 0;
            const Operands<T> op = staged_by_host.operands(last), expected = staged_by_device.operands(last);
            EXPECT_EQ(memory_of(op.a, layout), memory_of(expected.a, layout)) << problem << n;
            if (layout != Layout::augmented && op.b.data != nullptr) {
              EXPECT_EQ(memory_of(op.b, layout), memory_of(expected.b, layout)) << problem << n;
            }
            for (const Operands<T>& written : {op, expected}) {
              if (written.x.data != nullptr)
                std::fill_n(written.x.data, written.x.rows * written.x.cols, T{0.5});
              written.a.data[n - 1] = 42;
              *written.info = 7;
              if (written.pivots != nullptr) written.pivots[0] = 3;
            }
            staged_by_host.download_pinned(last);
            const Answer<T> fetched = staged_by_host.pinned_answer(last),
                            downloaded = staged_by_device.download(last);
            EXPECT_EQ(fetched.x.rows, downloaded.x.rows);
            EXPECT_EQ(fetched.x.data, downloaded.x.data) << problem << n;
            EXPECT_EQ(fetched.pivots, downloaded.pivots);
            EXPECT_EQ(fetched.info, 7);
          }
        }
      }
    }
  }
}

// The next trial reuses the inputs that one trial uploaded, for any two layouts. The test changes the host's
// A between the trials, so that an upload would be noticed.
TYPED_TEST(StagingOf, ReusesTheInputsOfTheLastTrial) {
  using T = TypeParam;
  Context context(*this->device);
  const auto gesv = Problem::named("gesv"), getrf = Problem::named("getrf");
  const std::vector<Method> methods = {
      row(gesv, Layout::column_major, AnswerIn::x), row(gesv, Layout::row_major, AnswerIn::b),
      row(gesv, Layout::augmented, AnswerIn::b), row(getrf, Layout::column_major, AnswerIn::a),
      row(getrf, Layout::row_major, AnswerIn::a)};
  for (const Method& first : methods) {
    for (const Method& second : methods) {
      for (const std::int64_t n : {1, 31, 32, 70}) {
        const Shape shape{n, n, n, 5, Uplo::lower};
        Staging<T> left(*this->device, first, {}, shape, 1);
        left.upload(counted_inputs<T>(first, shape));
        ResidentInputs<T> resident = left.release_inputs();
        ASSERT_TRUE(resident.has_a());
        const void* const memory = resident.memory.data();
        const bool has_b = first.problem == gesv;
        const bool same = first.layout == second.layout && first.problem == second.problem;
        Staging<T> staging(*this->device, second, {}, shape, 1, std::move(resident));
        EXPECT_EQ(staging.has_resident_inputs(), same);
        const Inputs<T> expected_inputs = counted_inputs<T>(second, shape);
        Inputs<T> others = expected_inputs;
        std::fill(others.a.data.begin(), others.a.data.end(), T{-1});
        if (has_b) std::fill(others.b.data.begin(), others.b.data.end(), T{-1});
        // An augmented matrix without its right-hand sides is uploaded as a whole.
        const bool whole = second.layout == Layout::augmented && !has_b;
        staging.upload_from(context, views_of(whole ? expected_inputs : others));
        EXPECT_EQ(staging.pristine().data() == memory, same);
        staging.reset();
        const Operands<T> op = staging.operands(0);
        MatrixView<T> a = op.a;
        a.cols = n;
        const Layout layout = second.layout == Layout::augmented ? Layout::row_major : second.layout;
        expect_equal(a, layout, expected_inputs.a);
        if (second.problem == gesv) expect_equal(op.b, layout, expected_inputs.b);
        staging.guard(context, 0, false);
        EXPECT_EQ(staging.forbidden_writes(context, 0, false), "") << "the padding between rows";
        EXPECT_EQ(*op.info, 0);
        for (std::int64_t i = 0; op.pivots != nullptr && i < n; ++i) EXPECT_EQ(op.pivots[i], i);
      }
    }
  }
}

TYPED_TEST(StagingOf, UploadsMissingRightHandSides) {
  using T = TypeParam;
  Context context(*this->device);
  for (const Layout layout : {Layout::column_major, Layout::row_major, Layout::augmented}) {
    const Method method = row(Problem::named("gesv"), layout, AnswerIn::b);
    const Shape shape{9, 9, 9, 2, Uplo::lower};
    const Inputs<T> first = counted_inputs<T>(method, shape);
    Inputs<T> second = first;
    second.b = counted<T>(9, 2, 7000);
    Staging<T> left(*this->device, method, {}, shape, 1);
    left.upload(first);
    ResidentInputs<T> resident = left.release_inputs();
    resident.b = {};
    Staging<T> staging(*this->device, method, {}, shape, 1, std::move(resident));
    EXPECT_FALSE(staging.has_resident_inputs());
    staging.upload_from(context, views_of(second));
    staging.reset();
    MatrixView<T> a = staging.operands(0).a;
    a.cols = 9;
    const Layout stored = layout == Layout::augmented ? Layout::row_major : layout;
    expect_equal(a, stored, first.a);
    expect_equal(staging.operands(0).b, stored, second.b);
  }
}

TYPED_TEST(StagingOf, DownloadsTheTransposedCopyOfAnAnswer) {
  using T = TypeParam;
  Context context(*this->device);
  for (const Layout layout : {Layout::column_major, Layout::row_major}) {
    const Method method = row(Problem::named("getrf"), layout, AnswerIn::a);
    const Shape shape{33, 33, 33, 1, Uplo::lower};
    Staging<T> staging(*this->device, method, {}, shape, 1);
    staging.upload(counted_inputs<T>(method, shape));
    staging.reset();
    staging.operands(0).pivots[3] = 7;
    *staging.operands(0).info = 5;
    const Buffer transposed(*this->device, 33 * 33 * sizeof(T));
    auto* const by_columns = static_cast<T*>(transposed.data());
    convert_layout(context, staging.answer(0), 33, 33, {by_columns, 1, 33});
    const Answer<T> expected = staging.download(0);
    staging.operands(0).a.data[0] = -1;  // the download must no longer read this
    const Answer<T> answer = staging.download(0, by_columns);
    EXPECT_EQ(answer.x.data, expected.x.data);
    EXPECT_EQ(answer.info, 5);
    EXPECT_EQ(answer.pivots, expected.pivots);
  }
}

TYPED_TEST(StagingOf, InputsUploadedForEveryRunAreNotReusable) {
  using T = TypeParam;
  const Method method = row(Problem::named("getrf"), Layout::column_major, AnswerIn::a);
  const Shape shape{5, 5, 5, 1, Uplo::lower};
  Staging<T> staging(*this->device, method, {}, shape, 0);
  staging.upload(counted_inputs<T>(method, shape));
  EXPECT_FALSE(staging.release_inputs().has_a());
}

TYPED_TEST(StagingOf, ConvertsLargeMatricesInPanels) {
  // Rows so long that 64 MiB hold only some hundreds of them.
  using T = TypeParam;
  const std::int64_t k = (std::int64_t{1} << 18) / static_cast<std::int64_t>(sizeof(T));
  const Method method = row(Problem::named("gemm"), Layout::row_major, AnswerIn::x);
  const Shape shape{300, 1, k, 1, Uplo::lower};
  const Inputs<T> inputs = counted_inputs<T>(method, shape);
  Staging<T> staging(*this->device, method, {}, shape, 1);
  staging.upload(inputs);
  staging.reset();
  expect_equal(staging.operands(0).a, Layout::row_major, inputs.a);
}

TYPED_TEST(StagingOf, ResetRestoresTheOperands) {
  using T = TypeParam;
  const Method method = row(Problem::named("getrf"), Layout::column_major, AnswerIn::a);
  const Shape shape{5, 5, 5, 1, Uplo::lower};
  const Inputs<T> inputs = counted_inputs<T>(method, shape);
  Staging<T> staging(*this->device, method, {}, shape, 2);
  staging.upload(inputs);
  for (int round = 0; round < 2; ++round) {
    staging.reset();
    for (const int set : {0, 1}) {
      Operands<T> op = staging.operands(set);
      expect_equal(op.a, Layout::column_major, inputs.a);
      for (int i = 0; i < 5; ++i) EXPECT_EQ(op.pivots[i], i);
      EXPECT_TRUE(staging.download(set).pivots.empty());  // no exchange
      EXPECT_EQ(*op.info, 0);
      op.a.data[7] = 42;
      op.pivots[1] = 4;
      *op.info = 3;
      const Answer<T> answer = staging.download(set);
      EXPECT_EQ(answer.x(2, 1), 42);
      EXPECT_EQ(answer.pivots, (std::vector<int>{0, 4, 2, 3, 4}));
      EXPECT_EQ(answer.info, 3);
    }
  }
}

TYPED_TEST(StagingOf, HasOneSetPerRunUnlessInputsSurvive) {
  using T = TypeParam;
  Method method = row(Problem::named("gesv"), Layout::column_major, AnswerIn::x);
  const Shape shape{4, 4, 4, 1, Uplo::lower};
  {
    Staging<T> staging(*this->device, method, {}, shape, 3);
    EXPECT_NE(staging.operands(0).a.data, staging.operands(2).a.data);
    EXPECT_THROW(staging.operands(3), std::out_of_range);
    EXPECT_THROW(staging.operands(-1), std::out_of_range);
  }
  const std::size_t three = staging_bytes(method, shape, {}, sizeof(T), 3);
  method.overwrites = false;
  Staging<T> staging(*this->device, method, {}, shape, 3);
  EXPECT_EQ(staging.operands(0).a.data, staging.operands(2).a.data);
  EXPECT_LT(staging_bytes(method, shape, {}, sizeof(T), 3), three);
}

/// Returns the report of a forbidden write, which `write` makes to a new working set. Also tests that there
/// is no report before it.
template <class T, class Write>
std::string report_of_write(Device& device, const Method& method, const Shape& shape, int sets,
                            Write&& write) {
  Context context(device);
  Staging<T> staging(device, method, {}, shape, sets);
  const Inputs<T> inputs = make_inputs<T>(method.problem, shape, MatrixKind::uniform);
  staging.upload(inputs);
  if (sets > 0) staging.reset();
  const int last = std::max(sets, 1) - 1;
  staging.guard(context, last, false);
  EXPECT_EQ(staging.forbidden_writes(context, last, false), "");
  if (sets > 0) staging.reset();
  staging.guard(context, last, false);
  write(staging.operands(last));
  return staging.forbidden_writes(context, last, false);
}

TYPED_TEST(StagingOf, ReportsWritesOutsideOfEveryOperand) {
  using T = TypeParam;
  Method method = row(Problem::named("gesv"), Layout::column_major, AnswerIn::x);
  method.workspace_bytes = [](const Shape&, const Parameters&, std::size_t) { return std::size_t{256}; };
  const std::string outside = "the method wrote outside of its operands: ";
  for (const Backend backend : {Backend::host, Backend::emulated}) {
    const auto device = cpu(backend);
    for (const Shape& shape : {shape_of(16, 2, 1), shape_of(5, 2, 3)}) {  // 16 x 16 needs no alignment
      for (const int sets : {0, 2}) {
        for (const AnswerIn answer : {AnswerIn::a, AnswerIn::b, AnswerIn::x}) {
          method.problem = Problem::named(answer == AnswerIn::a ? "getrf" : "gesv");
          method.answer = answer;
          const auto found = [&](auto&& write) {
            const std::string report = report_of_write<T>(*device, method, shape, sets, write);
            EXPECT_EQ(report.rfind(outside, 0), 0U) << report;
            return report.substr(std::min(report.size(), outside.size()));
          };
          for (const std::int64_t distance : {1, 30, 60}) {
            const std::string element = "element " + std::to_string(distance);
            const auto write_behind = [&](const MatrixView<T>& matrix) {
              matrix.data[matrix.rows * matrix.cols + distance - 1] = 1;
            };
            EXPECT_EQ(found([&](const auto& op) { write_behind(op.a); }), element + " behind A");
            if (answer == AnswerIn::a) continue;
            EXPECT_EQ(found([&](const auto& op) { write_behind(op.b); }), element + " behind B");
            if (answer == AnswerIn::b) continue;
            EXPECT_EQ(found([&](const auto& op) { write_behind(op.x); }), element + " behind X");
          }
          EXPECT_EQ(found([](const auto& op) { op.a.data[-1] = 1; }), "element 1 before A");
          EXPECT_EQ(found([](const auto& op) { op.a.data[op.a.rows * op.a.cols] += 1; }),
                    "element 1 behind A");
          EXPECT_EQ(found([&](const auto& op) { op.info[shape.batch] = 0; }), "element 1 behind info");
          EXPECT_EQ(found([](const auto& op) { op.info[-1] = 0; }), "element 1 before info");
          EXPECT_EQ(found([](auto op) { op.workspace.template take<char>(256)[256] = 0; }),
                    "byte 1 behind the workspace");
          if (answer != AnswerIn::x) continue;  // a copy that begins one element too early
          EXPECT_EQ(found([](const auto& op) { op.x.data[-1] = op.b.data[-1]; }), "element 1 before X");
        }
      }
    }
  }
}

TYPED_TEST(StagingOf, ReportsWritesBetweenTheRowsOfAnAugmentedMatrix) {
  using T = TypeParam;
  const Method method = row(Problem::named("gesv"), Layout::augmented, AnswerIn::x);
  for (const std::int64_t n : {5, 400}) {
    for (const std::int64_t i : {std::int64_t{0}, n - 1}) {
      const std::string found =
          report_of_write<T>(*this->device, method, {n, n, n, 1, Uplo::lower}, 1,
                             [&](const auto& op) { op.a.data[i * op.a.ld + op.a.cols] = 1; });
      EXPECT_EQ(found, "the method wrote outside of its operands: element 1 behind row " +
                           std::to_string(i + 1) + " of [A|B]");
    }
  }
}

TEST(Staging, BytesEqualTheAllocations) {
  // Counts the bytes that are allocated on the device and as pinned host memory.
  struct Counting : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    void* allocate(std::size_t bytes) override {
      allocated += bytes;
      return ForwardingDevice::allocate(bytes);
    }
    void* allocate_host(std::size_t bytes) override {
      pinned += bytes;
      return ForwardingDevice::allocate_host(bytes);
    }
    std::size_t allocated = 0, pinned = 0;
  };
  for (const Method& method : registry().all()) {
    for (const Shape& shape : shapes(method, 33)) {
      for (const Parameters& parameters : parameter_grid(method, {3})) {
        for (const int sets : {0, 2}) {
          Counting counting(cpu(Backend::host));
          Staging<double> staging(counting, method, parameters, shape, sets);
          EXPECT_EQ(counting.allocated, staging_bytes(method, shape, parameters, 8, sets)) << method.id();
          EXPECT_EQ(counting.pinned, 0u);
          const Inputs<double> inputs = counted_inputs<double>(method, shape);
          staging.stage_pinned(views_of(inputs));
          EXPECT_EQ(counting.pinned, pinned_bytes(method, shape, parameters, 8)) << method.id();
        }
      }
    }
  }
}

// Every method must also be right without working sets, when it reads and writes the caller's memory
// directly.
TEST(Staging, SingleRunHoldsNothingTwice) {
  for (const Method& method : registry().all()) {
    const Backend backend = method.runs_on(Backend::host) ? Backend::host : Backend::emulated;
    if (!method.runs_on(backend) || method.entry(backend).float64 == nullptr) continue;
    const auto device = cpu(backend);
    Context context(*device);
    const Shape shape = shapes(method, 33).back();
    const Parameters parameters = parameter_grid(method, {3}).front();
    if (method.accepts != nullptr && !method.accepts(shape, parameters)) continue;
    const Inputs<double> inputs =
        make_inputs<double>(method.problem, shape, fit_kinds(method, parameters).front());
    const Answer<double> expected = run_method(context, method, inputs, parameters);
    Staging<double> staging(*device, method, parameters, shape, 0);
    const auto view = [](const HostMatrix<double>& m) {
      return MatrixView<const double>{m.data.data(), m.rows, m.cols, m.rows};
    };
    staging.upload(InputViews<double>{view(inputs.a), view(inputs.b)});
    Operands<double> operands = staging.operands(0);
    context.report = {};
    method.entry(backend).float64(context, operands, parameters);
    Answer<double> answer = expected;
    std::vector<double> memory(expected.x.data.size() + 1, -7);
    answer.info = staging.download_to(memory.data(), 0);
    EXPECT_EQ(memory.back(), -7) << method.id();
    memory.pop_back();
    answer.x.data = std::move(memory);
    EXPECT_EQ(answer.info, expected.info) << method.id();  // LAPACK's last pivot may round to 0 here
    EXPECT_LE(check(method, inputs, answer).ratio, default_tolerance(method.problem)) << method.id();
    EXPECT_THROW(staging.reset(), std::logic_error);
    EXPECT_THROW(staging.operands(-1), std::out_of_range);
  }
}

TEST(Staging, RefusesWrongInputs) {
  const auto device = cpu(Backend::host);
  const Method method = row(Problem::named("gesv"), Layout::augmented, AnswerIn::x);
  const Shape shape{4, 4, 4, 2, Uplo::lower};
  EXPECT_THROW(Staging<float>(*device, method, {}, shape, -1), std::invalid_argument);
  EXPECT_THROW(Staging<float>(*device, method, {}, (Shape{0, 0, 0, 1, Uplo::lower}), 1),
               std::invalid_argument);
  EXPECT_THROW(staging_bytes(method, {4, 4, 4, 0, Uplo::lower}, {}, 4, 1), std::invalid_argument);
  Staging<float> staging(*device, method, {}, shape, 1);
  Inputs<float> inputs = counted_inputs<float>(method, {4, 4, 4, 1, Uplo::lower});
  EXPECT_THROW(staging.upload(inputs), std::invalid_argument);  // one right-hand side instead of two
  inputs = counted_inputs<float>(method, {3, 3, 3, 2, Uplo::lower});
  EXPECT_THROW(staging.upload(inputs), std::invalid_argument);
}

}  // namespace
}  // namespace gaussweep
