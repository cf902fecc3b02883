#pragma once
/// Runs any row of the registry (one row per method) on any matrix, for the tests of all methods.

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/matrix/generate.hpp"
#include "kernels/matrix/system.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep::testing_help {

inline double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns a device on the CPU: of the backend host or emulated.
inline std::unique_ptr<Device> cpu(Backend backend) {
  return make_host_device(backend, clock_seconds, "test");
}

/// Owns the device of a CpuContext. It is the first base class, because bases are constructed in order and
/// the device must exist before the context.
struct OwnDevice {
  std::unique_ptr<Device> own_device;
};

/// A CPU device and a context on it.
struct CpuContext : private OwnDevice, public Context {
  explicit CpuContext(Backend backend = Backend::emulated) : OwnDevice{cpu(backend)}, Context(*own_device) {}
};

inline const Registry& registry() {
  static const Registry all = builtin_registry();
  return all;
}

/// Returns the row of an id such as "gesv/lapack".
inline const Method& row_of(const std::string& id) {
  for (const Method& method : registry().all()) {
    if (method.id() == id) return method;
  }
  throw std::logic_error("no row " + id);
}

/// Returns a registry row with nothing but a problem and a unit diagonal.
inline Method method_of(Problem problem, UnitDiagonal unit = UnitDiagonal::lower) {
  Method method;
  method.problem = problem;
  method.unit_diagonal = unit;
  return method;
}

/// Returns a matrix from its columns.
template <class T>
HostMatrix<T> matrix(std::int64_t rows, std::int64_t cols, std::vector<T> columns) {
  HostMatrix<T> a(rows, cols);
  a.data = std::move(columns);
  return a;
}

/// Sets every element of a matrix to a function of its row and column.
template <class T, class Element>
void fill(HostMatrix<T>& a, const Element& element) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) = static_cast<T>(element(i, j));
  }
}

template <class T>
Inputs<T> inputs_of(const Shape& shape, HostMatrix<T> a, HostMatrix<T> b = {}, HostMatrix<T> x_true = {}) {
  return {shape, std::move(a), std::move(b), std::move(x_true)};
}

template <class T>
Answer<T> answer_of(HostMatrix<T> x, std::vector<int> pivots = {}) {
  Answer<T> answer;
  answer.x = std::move(x);
  answer.pivots = std::move(pivots);
  return answer;
}

inline bool needs(const Method& method, Need need) {
  return std::find(method.needs.begin(), method.needs.end(), need) != method.needs.end();
}

inline bool has_parameter(const Method& method, const std::string& name) {
  return std::any_of(method.parameters.begin(), method.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

inline Parameters defaults(const Method& method) {
  return defaults(method.parameters);
}

/// Returns the defaults with every combination of the choices, and of `blocks` if the row has that parameter.
inline std::vector<Parameters> parameter_grid(const Method& method, const std::vector<std::int64_t>& blocks) {
  std::vector<Parameters> grid{defaults(method)};
  for (const Parameter& parameter : method.parameters) {
    std::vector<ParameterValue> values;
    for (const std::string& choice : parameter.choices) values.emplace_back(choice);
    if (parameter.name == "blocks") values.assign(blocks.begin(), blocks.end());
    if (values.empty()) continue;
    std::vector<Parameters> next;
    for (const Parameters& point : grid) {
      for (const ParameterValue& value : values) {
        next.push_back(point);
        next.back().set(parameter.name, value);
      }
    }
    grid = std::move(next);
  }
  return grid;
}

/// Returns the kinds of matrix on which this row must be accurate with these parameters.
inline std::vector<MatrixKind> fit_kinds(const Method& method, const Parameters& parameters) {
  const ProblemRow& problem = method.problem.row();
  if (problem.second == SecondOperand::matrix) return {MatrixKind::uniform};
  const auto problem_needs = [&](Need need) {
    return std::find(problem.needs.begin(), problem.needs.end(), need) != problem.needs.end();
  };
  if (problem_needs(Need::triangular)) return {MatrixKind::triangular};
  if (problem_needs(Need::spd)) return {MatrixKind::spd};
  // The residual of Gauss-Jordan elimination grows with the condition, whatever the pivots (Higham, "Accuracy
  // and Stability of Numerical Algorithms", 14.4). It is far too large on a Cauchy matrix.
  if (problem.name == "geinv") {
    if (needs(method, Need::strongly_regular)) return {MatrixKind::spd, MatrixKind::diagonally_dominant};
    return {MatrixKind::uniform, MatrixKind::diagonally_dominant};
  }
  if (needs(method, Need::spd)) return {MatrixKind::spd};
  if (needs(method, Need::triangular)) return {MatrixKind::triangular};
  if (needs(method, Need::diagonally_dominant)) return {MatrixKind::diagonally_dominant};
  if (method.problem == Problem::named("gesv") && method.variant.rfind("gauss_jordan", 0) == 0) {
    return {MatrixKind::uniform, MatrixKind::diagonally_dominant};
  }
  // With several stripes of rows, methods divide by off-diagonal elements, which are small in a matrix with a
  // dominant diagonal.
  const bool stripes = needs(method, Need::nonzero_elements) && has_parameter(method, "blocks") &&
                       parameters.integer("blocks") > 1;
  if (stripes) return {MatrixKind::cauchy};
  return {MatrixKind::cauchy, MatrixKind::diagonally_dominant};
}

/// Returns a kind of matrix on which the vendor's answer is accurate.
inline MatrixKind kind_for(Problem problem) {
  for (const Need need : problem->needs) {
    if (need == Need::triangular) return MatrixKind::triangular;
    if (need == Need::spd) return MatrixKind::spd;
  }
  return MatrixKind::uniform;
}

inline bool has_right_hand_sides(Problem problem) {
  return problem->second == SecondOperand::right_hand_sides;
}

/// Returns the shapes of order n to test: for gemm m, n and k differ; both triangles if the problem has them.
inline std::vector<Shape> shapes(const Method& method, std::int64_t n) {
  Shape square{n, n, n, 1, Uplo::lower};
  if (method.problem->has_axis("m"))
    return {square, {n, n + 3, 2 * n + 1, 1, Uplo::lower}, {n + 2, 1, n, 1, Uplo::lower}};
  std::vector<Shape> all{square};
  if (has_right_hand_sides(method.problem) && method.max_nrhs >= 3) all.push_back({n, n, n, 3, Uplo::lower});
  if (method.problem->has_axis("uplo")) {
    all.push_back({n, n, n, 1, Uplo::upper});
  }
  return all;
}

/// Generates the operands of a problem. The second operand has the seed `seed` + 1.
template <class T>
Inputs<T> make_inputs(Problem problem, const Shape& shape, MatrixKind kind, std::uint64_t seed = 1,
                      int threads = 1) {
  MatrixSpec spec;
  spec.kind = kind;
  spec.seed = seed;
  spec.uplo = shape.uplo;
  spec.rows = problem->a(shape).rows;
  spec.cols = problem->a(shape).cols / shape.batch;
  spec.batch = shape.batch;
  Inputs<T> inputs = inputs_of<T>(shape, generate<T>(spec, threads));
  if (problem->second == SecondOperand::matrix) {
    spec.rows = problem->b(shape).rows;
    spec.cols = problem->b(shape).cols / shape.batch;
    spec.seed = seed + 1;
    inputs.b = generate<T>(spec, threads);
  } else if (has_right_hand_sides(problem)) {
    System<T> systems = make_systems(inputs.a, shape.nrhs, seed + 1, shape.batch);
    inputs.x_true = std::move(systems.x_true);
    inputs.b = std::move(systems.b);
  }
  return inputs;
}

/// Returns the shape of a batch of square systems.
inline Shape shape_of(std::int64_t n, std::int64_t nrhs, std::int64_t batch, Uplo uplo = Uplo::lower) {
  Shape shape{n, n, n, nrhs, uplo};
  shape.batch = batch;
  return shape;
}

template <class T>
bool same_bits(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return a.rows == b.rows && a.cols == b.cols && a.data.size() == b.data.size() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)) == 0;
}

/// Returns inputs of order n, with the lower triangle if the problem reads one.
template <class T>
Inputs<T> square_inputs(const char* problem, std::int64_t n, MatrixKind kind, std::int64_t nrhs = 1,
                        std::uint64_t seed = 1) {
  return make_inputs<T>(Problem::named(problem), {n, n, n, nrhs, Uplo::lower}, kind, seed);
}

/// Uploads the inputs to `staging`, which may have been used before, and runs once.
template <class T>
Answer<T> run_staged(Context& context, const Method& method, const Inputs<T>& inputs,
                     const Parameters& parameters, Staging<T>& staging) {
  staging.upload(inputs);
  staging.reset();
  Operands<T> operands = staging.operands(0);
  context.report = {};
  method.entry(context.device.backend()).template get<T>()(context, operands, parameters);
  context.device.synchronize();
  return staging.download(0);
}

/// Runs once on fresh operands. With `pinned` the host converts operands and answer to and from the method's
/// layout, in pinned memory.
template <class T>
Answer<T> run_method(Context& context, const Method& method, const Inputs<T>& inputs,
                     const Parameters& parameters, bool pinned = false) {
  Staging<T> staging(context.device, method, parameters, inputs.shape, 1);
  if (!pinned) return run_staged(context, method, inputs, parameters, staging);
  staging.stage_pinned(views_of(inputs));
  staging.upload_pinned();
  staging.reset();
  Operands<T> operands = staging.operands(0);
  context.report = {};
  method.entry(context.device.backend()).template get<T>()(context, operands, parameters);
  context.device.synchronize();
  staging.download_pinned(0);
  return staging.pinned_answer(0);
}

inline std::string describe(const Method& method, Backend backend, const Shape& shape,
                            const Parameters& parameters, std::string_view kind, std::string_view precision) {
  std::ostringstream text;
  text << method.id() << " on " << to_string(backend) << ", " << precision << ", " << kind << ", m "
       << shape.m << ", n " << shape.n << ", k " << shape.k << ", nrhs " << shape.nrhs << ", "
       << to_string(shape.uplo);
  for (const auto& [name, value] : parameters.all()) {
    text << ", " << name << " ";
    std::visit([&](const auto& v) { text << v; }, value);
  }
  return text.str();
}

}  // namespace gaussweep::testing_help
