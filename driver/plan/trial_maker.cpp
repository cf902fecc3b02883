/// Makes a trial: sizes, matrices, parameters, tolerance, and the reason if it cannot run.

#include "driver/plan/trial_maker.hpp"

#include <algorithm>
#include <cstdint>

#include "driver/base/lookup.hpp"
#include "driver/plan/blur_request.hpp"
#include "driver/plan/plan_names.hpp"
#include "kernels/check/check.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the plan's tolerance for a problem, else the default tolerance times the plan's factor.
double tolerance_of(const io::Settings& settings, Problem problem) {
  if (const double* value = find_in(settings.tolerances, std::string(to_string(problem)))) return *value;
  const double* factor = find_in(settings.tolerances, "");
  return default_tolerance(problem) * (factor == nullptr ? 1 : *factor);
}

/// Returns why a trial cannot run here; empty if it can.
std::string reason_to_skip(const Method& method, const Trial& trial, std::optional<Backend> backend,
                           Backend requested, int capability) {
  const bool is_for_cuda = std::count(method.backends.begin(), method.backends.end(), Backend::cuda) > 0;
  if (!backend && requested == Backend::cuda && is_for_cuda) return "this build has no CUDA";
  if (!backend) return fmt::format("{} does not run on the backend {}", method.id(), to_string(requested));
  if (!method.has(trial.precision))
    return fmt::format("{} has no {} version", method.id(), to_string(trial.precision));
  if (*backend == Backend::cuda && capability > 0 && method.capability > capability)
    return capability_fault(method, capability);
  const std::string shape = shape_fault(method, trial.shape, trial.parameters);
  if (!shape.empty()) return shape;
  const std::string fault = precision_fault(trial.matrix.spec, trial.precision);
  return fault.empty() && trial.matrix_b ? precision_fault(trial.matrix_b->spec, trial.precision) : fault;
}

/// Returns the axis's value in `chosen`, or `otherwise` if the entry does not have the axis.
std::int64_t integer_or(const Assignment& chosen, const char* name, std::int64_t otherwise) {
  const AxisValue* choice = find_in(chosen, name);
  return choice == nullptr ? otherwise : std::get<std::int64_t>(choice->value);
}

template <class E>
E enum_or(const Assignment& chosen, const char* name, E otherwise) {
  const AxisValue* choice = find_in(chosen, name);
  return choice == nullptr ? otherwise : from_string<E>(std::get<std::string>(choice->value)).value();
}

Parameters parameters_of(const Method& method, const Assignment& chosen) {
  Parameters result;
  for (const Parameter& parameter : method.parameters) {
    const AxisValue* choice = find_in(chosen, parameter.name);
    result.set(parameter.name, choice == nullptr ? parameter.default_value : choice->value);
  }
  return result;
}

/// Throws if the plan gives a size that differs from that of the matrix file.
void require_size(const Assignment& chosen, const char* name, std::int64_t size, const MatrixRequest& file) {
  if (integer_or(chosen, name, size) == size) return;
  const io::Scalar& given = chosen.at(name).scalar;
  io::fail_at(given.location, fmt::format("{} = {}, but {} is {} x {}; leave {} out", name, given.text,
                                          file.file, file.spec.rows, file.spec.cols, name));
}

bool is_file(const MatrixRequest& request) {
  return request.kind == "file";
}

/// Throws for a batch of a matrix from a file, because a file holds one matrix. Also throws if the batch's
/// total number of columns exceeds the range of int.
void require_batch(const Trial& t, const Assignment& chosen) {
  if (t.shape.batch == 1) return;
  const io::Location& location = chosen.at("batch").scalar.location;
  if (is_file(t.matrix) || (t.matrix_b && is_file(*t.matrix_b))) {
    io::fail_at(location, fmt::format("batch = {}, but a file holds one matrix; allowed: generated kinds",
                                      t.shape.batch));
  }
  const Shape& s = t.shape;
  const std::int64_t columns = std::max({s.n, s.k, s.nrhs});
  if (s.batch <= INT32_MAX / columns) return;
  io::fail_at(location, fmt::format("batch = {} of {} columns each; allowed here: 1 to {}", s.batch, columns,
                                    INT32_MAX / columns));
}

/// Sets the sizes of a matrix. Throws for a generated rectangular matrix of a kind that must be square.
void set_size(MatrixRequest& request, std::int64_t rows, std::int64_t cols, const io::Location& location) {
  if (!is_file(request) && rows != cols && !may_be_rectangular(request.spec.kind)) {
    io::fail_at(location,
                fmt::format("a matrix of kind {} must be square, here it is {} x {}; uniform, ones, hilbert, "
                            "cauchy and blur may be rectangular",
                            request.kind, rows, cols));
  }
  request.spec.rows = rows;
  request.spec.cols = cols;
}

}  // namespace

std::vector<std::string> expected_statuses(const io::Entry& entry, const Method& method) {
  std::vector<std::string> statuses;
  for (const auto& [pattern, expectation] : entry.expect) {
    if (!matches(pattern, method)) continue;
    for (const io::Scalar& status : expectation.second) statuses.push_back(status.text);
  }
  return statuses;
}

RequestedMatrices request_matrices(const io::Entry& entry, const io::MatrixBlock& block,
                                   const FileLookup& lookup) {
  RequestedMatrices matrices;
  matrices.a = request_matrix(block, lookup);
  if (is_file(matrices.a))
    matrices.inspected = lookup(block.values.at("file").text, matrices.a.dataset).inspected;
  if (!entry.matrix_b) return matrices;
  matrices.b = request_matrix(*entry.matrix_b, lookup);
  matrices.b_has_seed = entry.matrix_b->values.count("seed") > 0 || is_file(*matrices.b);
  return matrices;
}

Trial TrialMaker::make(const Assignment& chosen, std::int64_t round) const {
  Trial t;
  static_cast<io::TrialSettings&>(t) = entry.settings;
  t.round = round;
  t.problem = method.problem;
  t.method = method.variant;
  t.library_digest = method.library_digest;
  t.precision = enum_or(chosen, "precision", t.precision);
  t.backend = backend.value_or(requested);
  const bool is_of_triangles = t.problem->used_of_a == UsedElements::triangle;
  if (is_of_triangles && matrices.inspected && matrices.inspected->facts.is_triangular())
    t.shape.uplo = matrices.inspected->facts.triangle();
  t.shape.uplo = enum_or(chosen, "uplo", t.shape.uplo);
  t.shape.nrhs = integer_or(chosen, "nrhs", 1);
  t.shape.batch = integer_or(chosen, "batch", 1);
  t.parameters = parameters_of(method, chosen);
  t.matrix = matrices.a;
  t.matrix.spec.seed =
      static_cast<std::uint64_t>(integer_or(chosen, "seed", static_cast<std::int64_t>(matrices.a.spec.seed)));
  const bool product = t.problem->second == SecondOperand::matrix;
  t.matrix.spec.batch = t.shape.batch;
  if (product) {
    set_product(t, chosen);
    t.matrix_b->spec.batch = t.shape.batch;
    set_digest(*t.matrix_b, t.precision, 1);
  } else {
    set_square(t, chosen);
  }
  t.gpus = gpus_of(method, t.shape, t.parameters);
  require_batch(t, chosen);
  set_digest(t.matrix, t.precision, product ? 1 : t.shape.nrhs);
  t.tolerance = tolerance_of(entry.settings, t.problem);
  t.expect = expected;
  t.skip_reason = reason_to_skip(method, t, backend, requested, capability);
  t.key = trial_key(t);
  return t;
}

void TrialMaker::set_square(Trial& t, const Assignment& chosen) const {
  const bool from_file = is_file(t.matrix);
  const std::int64_t blur_n = t.matrix.spec.kind == MatrixKind::blur ? blur_order(t.matrix.spec.blur) : 0;
  if (!from_file && blur_n == 0 && chosen.count("n") == 0)
    io::fail_at(entry.location, "n is missing; give a size, a list or a range");
  if (from_file && t.matrix.spec.rows != t.matrix.spec.cols) {
    io::fail_at(location, fmt::format("{} is {} x {}; {} needs a square matrix", t.matrix.file,
                                      t.matrix.spec.rows, t.matrix.spec.cols, to_string(t.problem)));
  }
  if (from_file) require_size(chosen, "n", t.matrix.spec.rows, t.matrix);
  const std::int64_t n = from_file ? t.matrix.spec.rows : integer_or(chosen, "n", blur_n);
  t.shape.m = t.shape.n = t.shape.k = t.matrix.spec.rows = t.matrix.spec.cols = n;
  t.matrix.spec.uplo = t.shape.uplo;
  complete_size(t.matrix, location);
}

/// Sets the sizes of a product: A is m x k, B is k x n. B is the plan's `matrix_b`, or it has A's kind and
/// the next seed. Files have their own sizes; m and k default to n.
void TrialMaker::set_product(Trial& t, const Assignment& chosen) const {
  MatrixRequest& a = t.matrix;
  MatrixRequest b = a;
  b.spec.seed = next_seed(a.spec.seed);
  const io::Location& b_location = entry.matrix_b ? entry.matrix_b->location : location;
  if (matrices.b) {
    b = *matrices.b;
    // Without a seed in the plan, B gets the next seed. With A's seed, B would start with the elements of A.
    if (!matrices.b_has_seed) b.spec.seed = next_seed(a.spec.seed);
  } else if (is_file(a)) {
    io::fail_at(location, t.problem->name + " with a matrix from a file needs matrix_b too");
  }
  if (is_file(a)) {
    require_size(chosen, "m", a.spec.rows, a);
    require_size(chosen, "k", a.spec.cols, a);
  }
  if (is_file(b)) {
    require_size(chosen, "k", b.spec.rows, b);
    require_size(chosen, "n", b.spec.cols, b);
  }
  if (chosen.count("n") == 0 && !is_file(b)) {
    io::fail_at(entry.location, "n is missing; give a size, a list or a range");
  }
  Shape& s = t.shape;
  s.n = is_file(b) ? b.spec.cols : integer_or(chosen, "n", 1);
  // A matrix of kind blur has the size that its images imply, if these are given; other kinds default to n.
  const auto or_n = [&](std::int64_t size) { return size > 0 ? size : s.n; };
  const bool is_blur = !is_file(a) && a.spec.kind == MatrixKind::blur;
  const std::int64_t rows = or_n(is_blur ? blur_order(a.spec.blur) : 0);
  const std::int64_t cols = or_n(is_blur ? blur_columns(a.spec.blur) : 0);
  s.m = is_file(a) ? a.spec.rows : integer_or(chosen, "m", rows);
  // k comes from A's file, else from B's file, else from the plan.
  const std::int64_t k_without_a = is_file(b) ? b.spec.rows : integer_or(chosen, "k", cols);
  s.k = is_file(a) ? a.spec.cols : k_without_a;
  if (is_file(b) && b.spec.rows != s.k) {
    io::fail_at(b_location, fmt::format("{} is {} x {}; B must be k x n with k = {}", b.file, b.spec.rows,
                                        b.spec.cols, s.k));
  }
  set_size(a, s.m, s.k, location);
  set_size(b, s.k, s.n, b_location);
  complete_size(a, location);
  complete_size(b, b_location);
  t.matrix_b = b;
}

}  // namespace gaussweep::driver
