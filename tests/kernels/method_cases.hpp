#pragma once
/// Tests for every row of the registry (one row per method) on every backend, shared by CPU and GPU tests.

#include "kernels/check/check.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns a blur matrix of width x width pixels with condition 1e8, to invert or to solve with.
inline Inputs<double> hard_blur(std::int64_t width) {
  MatrixSpec spec;
  spec.kind = MatrixKind::blur;
  spec.blur.width = spec.blur.height = width;
  spec.blur.lambda = 1e-8;
  spec.rows = spec.cols = width * width;
  Inputs<double> inputs = inputs_of<double>({spec.rows, spec.rows, spec.rows, 1, Uplo::lower},
                                            generate<double>(spec), {}, HostMatrix<double>(spec.rows, 1));
  for (std::size_t i = 0; i < inputs.x_true.data.size(); ++i) {
    inputs.x_true.data[i] = 1 + std::sin(static_cast<double>(i));
  }
  inputs.b = right_hand_side(inputs.a, inputs.x_true);
  return inputs;
}

/// Converts an id into a name that GoogleTest accepts: "gesv/lapack" becomes gesv_lapack.
inline std::string test_name(std::string id) {
  std::replace(id.begin(), id.end(), '/', '_');
  return id;
}

/// Calls body(shape, parameters) for every shape of order n and every grid point that the row accepts.
template <class Body>
void for_each_case(const Method& method, std::int64_t n, const std::vector<std::int64_t>& blocks, Body body) {
  for (const Shape& shape : shapes(method, n)) {
    for (const Parameters& parameters : parameter_grid(method, blocks)) {
      if (method.accepts == nullptr || method.accepts(shape, parameters)) body(shape, parameters);
    }
  }
}

template <class T>
std::string describe_run(const Context& context, const Method& method, const Shape& shape,
                         const Parameters& parameters, std::string_view kind) {
  return describe(method, context.device.backend(), shape, parameters, kind, to_string(precision_of<T>));
}

/// Returns true if the answer passes the verification, or if LAPACK reports a large Cauchy matrix as
/// singular: its last pivot may be 0, depending on the CPU's rounding and thread count. The factors of getrf
/// exist anyway.
template <class T>
bool is_right(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
              MatrixKind kind = MatrixKind::uniform) {
  const bool is_singular = answer.info == inputs.shape.n && inputs.shape.n > 16 &&
                           method.source == "LAPACK" && kind == MatrixKind::cauchy;
  if (is_singular && method.problem != Problem::named("getrf")) return true;
  const bool finished = answer.info == 0 || (answer.info > 0 && method.problem == Problem::named("getrf"));
  return finished && check(method, inputs, answer).ratio <= default_tolerance(method.problem);
}

/// Runs all cases on all kinds of matrix that fit the row, and expects answers that pass the verification.
template <class T>
void expect_right(Context& context, const Method& method, std::int64_t n,
                  const std::vector<std::int64_t>& blocks) {
  for_each_case(method, n, blocks, [&](const Shape& shape, const Parameters& parameters) {
    for (const MatrixKind kind : fit_kinds(method, parameters)) {
      const Inputs<T> inputs = make_inputs<T>(method.problem, shape, kind);
      const Answer<T> answer = run_method(context, method, inputs, parameters);
      EXPECT_TRUE(is_right(method, inputs, answer, kind))
          << describe_run<T>(context, method, shape, parameters, to_string(kind)) << ": ratio "
          << check(method, inputs, answer).ratio << ", info " << answer.info;
    }
  });
}

/// Expects no exception, but a nonzero info or an answer that fails the verification.
template <class T>
void expect_noticed(Context& context, const Method& method, const Inputs<T>& inputs,
                    const Parameters& parameters, const char* what) {
  Answer<T> answer;
  ASSERT_NO_THROW(answer = run_method(context, method, inputs, parameters))
      << describe_run<T>(context, method, inputs.shape, parameters, what);
  const double ratio = check(method, inputs, answer).ratio;
  EXPECT_TRUE(answer.info > 0 || !(ratio <= 10 * default_tolerance(method.problem)))
      << describe_run<T>(context, method, inputs.shape, parameters, what) << ": ratio " << ratio << ", info "
      << answer.info;
}

inline bool is_triangular_problem(Problem problem) {
  return problem == Problem::named("trsv") || problem == Problem::named("trtri");
}

/// Compares bit by bit, except that NaNs are equal: processors produce different NaNs.
template <class T>
bool same_values(const Answer<T>& one, const Answer<T>& other) {
  const auto same = [](T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(a) && std::isnan(b));
  };
  return one.info == other.info && one.pivots == other.pivots && one.x.rows == other.x.rows &&
         std::equal(one.x.data.begin(), one.x.data.end(), other.x.data.begin(), other.x.data.end(), same);
}

/// Returns a matrix of ones (0 if n is 1), or a triangle with a 0 on the diagonal. Neither is invertible.
template <class T>
Inputs<T> singular_inputs(const Method& method, const Shape& shape) {
  const bool triangle = is_triangular_problem(method.problem);
  Inputs<T> inputs =
      make_inputs<T>(method.problem, shape, triangle ? MatrixKind::triangular : MatrixKind::cauchy);
  if (triangle) {
    inputs.a(shape.n / 2, shape.n / 2) = 0;
  } else {
    std::fill(inputs.a.data.begin(), inputs.a.data.end(), shape.n == 1 ? T(0) : T(1));
  }
  return inputs;
}

/// Expects a row to report a singular matrix by info or by a bad answer, and not by an exception.
template <class T>
void expect_singular_is_a_result(Context& context, const Method& method, std::int64_t n) {
  for_each_case(method, n, {1, 3}, [&](const Shape& shape, const Parameters& parameters) {
    const Inputs<T> inputs = singular_inputs<T>(method, shape);
    if (method.problem != Problem::named("getrf")) {
      expect_noticed(context, method, inputs, parameters, "singular");
      return;
    }
    // L U may reproduce a singular matrix; that is right, whatever info is.
    EXPECT_NO_THROW(run_method(context, method, inputs, parameters))
        << describe_run<T>(context, method, shape, parameters, "singular");
  });
}

/// Returns inputs with several zero pivots, the first one being number n / 3 + 1. Most methods find them in
/// row order. Methods with rows `in_stripes` (row i belongs to block i % 8) find two zeros at the same time:
/// block 1 in row 10, block 5 in row 6 (rows from 1).
template <class T>
Inputs<T> inputs_with_zero_pivots(const Method& method, const Shape& shape, bool in_stripes) {
  Inputs<T> inputs = make_inputs<T>(method.problem, shape, MatrixKind::cauchy);
  const std::int64_t n = shape.n;
  HostMatrix<T>& a = inputs.a;
  if (in_stripes) {
    for (std::int64_t j = 0; j < n; ++j) a(1, j) = a(9, j) = 1;
    a(5, 0) = 0;
    return inputs;
  }
  const bool lower = shape.uplo == Uplo::lower;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const bool is_kept = is_triangular_problem(method.problem) && (lower ? i > j : i < j);
      a(i, j) = i == j ? T(2) : (is_kept ? a(i, j) : T(0));
    }
  }
  for (const std::int64_t zero : {n / 3, n / 2, n - 2}) a(zero, zero) = 0;
  return inputs;
}

/// Expects info to be the smallest zero pivot, whichever thread finds one first. @pre n > 16
template <class T>
void expect_smallest_info(Context& context, const Method& method, std::int64_t n) {
  constexpr std::int64_t blocks = 8;
  for_each_case(method, n, {1, blocks}, [&](const Shape& shape, const Parameters& parameters) {
    const bool in_stripes = has_parameter(method, "blocks") && parameters.integer("blocks") == blocks;
    const auto inputs = inputs_with_zero_pivots<T>(method, shape, in_stripes);
    // The preparation by row additions fills row 6 and leaves rows 2 and 10 equal.
    const bool prepared =
        has_parameter(method, "preparation") && parameters.choice("preparation") == "add_rows";
    EXPECT_EQ(run_method(context, method, inputs, parameters).info,
              in_stripes ? (prepared ? 10 : 6) : n / 3 + 1)
        << describe_run<T>(context, method, shape, parameters, "zero pivots");
  });
}

/// Returns true if the answer shows that A(at, at) is NaN. The residual cannot tell, because it is NaN for
/// any answer. Every element in row `at` of a product is NaN. Other methods must report the failure, or have
/// a value in the answer that is not finite.
template <class T>
bool shows_nan(const Method& method, const Answer<T>& answer, Convergence convergence, std::int64_t at) {
  const auto is_finite = [](T value) { return std::isfinite(value); };
  if (method.problem == Problem::named("gemm")) {
    for (std::int64_t j = 0; j < answer.x.cols; ++j) {
      if (!std::isnan(answer.x(at, j))) return false;
    }
    return true;
  }
  const bool is_reported =
      answer.info > 0 || (convergence != Convergence::none && convergence != Convergence::converged);
  return is_reported || !std::all_of(answer.x.data.begin(), answer.x.data.end(), is_finite);
}

/// Expects that a NaN on the diagonal of A shows in the answer or in the report.
template <class T>
void expect_nan_is_seen(Context& context, const Method& method, std::int64_t n) {
  for_each_case(method, n, {1, 3}, [&](const Shape& shape, const Parameters& parameters) {
    const MatrixKind kind = fit_kinds(method, parameters).front();
    Inputs<T> inputs = make_inputs<T>(method.problem, shape, kind);
    const std::int64_t middle = std::min(inputs.a.rows, inputs.a.cols) / 2;
    inputs.a(middle, middle) = std::numeric_limits<T>::quiet_NaN();
    Answer<T> answer;
    ASSERT_NO_THROW(answer = run_method(context, method, inputs, parameters))
        << describe_run<T>(context, method, shape, parameters, "NaN");
    // This is not required of vendors' methods. OpenBLAS's spotri returns a number for n = 1, and cuSOLVER's
    // LU (CUDA 13.0, H200) a finite answer with info 0. The verification rejects both, because their
    // residuals are NaN.
    const bool has_lu = method.problem == Problem::named("getrf") ||
                        method.problem == Problem::named("gesv") || method.problem == Problem::named("geinv");
    if (method.vendor && (n == 1 || (has_lu && context.device.backend() == Backend::cuda))) return;
    EXPECT_TRUE(shows_nan(method, answer, context.report.convergence, middle))
        << describe_run<T>(context, method, shape, parameters, "NaN") << ": info " << answer.info;
  });
}

/// Runs with exactly the announced workspace and checks that the memory behind it is untouched. A smaller
/// workspace must be refused, so no row announces more than it uses.
template <class T>
void expect_workspace_is_enough(Context& context, const Method& method, std::int64_t n) {
  if (method.workspace_bytes == nullptr) return;  // a use of workspace would have thrown in other tests
  constexpr std::size_t guard = 4096;
  for_each_case(method, n, {1, 14}, [&](const Shape& shape, const Parameters& parameters) {
    const Inputs<T> inputs = make_inputs<T>(method.problem, shape, fit_kinds(method, parameters).front());
    Staging<T> staging(context.device, method, parameters, shape, 1);
    staging.upload(inputs);
    staging.reset();
    const std::size_t announced = method.workspace_bytes(shape, parameters, sizeof(T));
    Buffer memory(context.device, announced + guard);
    context.device.fill(memory.data(), 0xA5, memory.bytes());
    Operands<T> op = staging.operands(0);
    op.workspace = Workspace(memory.data(), announced);
    context.report = {};
    EXPECT_NO_THROW(method.entry(context.device.backend()).template get<T>()(context, op, parameters));
    context.device.synchronize();
    std::vector<unsigned char> behind(guard);
    context.device.to_host(behind.data(), static_cast<std::byte*>(memory.data()) + announced, guard);
    EXPECT_EQ(behind, std::vector<unsigned char>(guard, 0xA5))
        << describe_run<T>(context, method, shape, parameters, "workspace");
    if (announced == 0) return;
    op = staging.operands(0);
    op.workspace = Workspace(memory.data(), announced - 1);
    EXPECT_THROW(method.entry(context.device.backend()).template get<T>()(context, op, parameters),
                 std::logic_error)
        << describe_run<T>(context, method, shape, parameters, "less workspace");
  });
}

/// Expects two runs on the same operands, without a reset between them, to have the same bits and to leave
/// the inputs unchanged.
template <class T>
void expect_inputs_survive(Context& context, const Method& method, std::int64_t n) {
  for_each_case(method, n, {1, 3}, [&](const Shape& shape, const Parameters& parameters) {
    const Inputs<T> inputs = make_inputs<T>(method.problem, shape, fit_kinds(method, parameters).front());
    Staging<T> staging(context.device, method, parameters, shape, 1);
    staging.upload(inputs);
    staging.reset();
    const auto bytes_of_a = [&] {
      const MatrixView<T> a = staging.operands(0).a;
      const std::int64_t lines = method.layout == Layout::column_major ? a.cols : a.rows;
      std::vector<unsigned char> bytes(static_cast<std::size_t>(a.ld * lines) * sizeof(T));
      context.device.to_host(bytes.data(), a.data, bytes.size());
      return bytes;
    };
    const auto before = bytes_of_a();
    std::vector<Answer<T>> answers;
    for (int run = 0; run < 2; ++run) {
      Operands<T> op = staging.operands(0);
      context.report = {};
      method.entry(context.device.backend()).template get<T>()(context, op, parameters);
      context.device.synchronize();
      answers.push_back(staging.download(0));
    }
    const std::string what = describe_run<T>(context, method, shape, parameters, "twice");
    EXPECT_EQ(bytes_of_a(), before) << what;
    EXPECT_TRUE(is_right(method, inputs, answers[1])) << what;
    EXPECT_EQ(
        std::memcmp(answers[0].x.data.data(), answers[1].x.data.data(), answers[0].x.data.size() * sizeof(T)),
        0)
        << what;
  });
}

}  // namespace gaussweep::testing_help
