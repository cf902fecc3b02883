/// The registry's rows for the problem posv: one row for the problem and one per method
/// (registry/method.hpp).

#include "kernels/check/verifiers.hpp"
#include "kernels/getrf/migrating_columns.hpp"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/posv/mixed_workspace.hpp"
#include "kernels/registry/flops.hpp"
#include "kernels/tables.hpp"

// The methods' functions: `host` is CPU code, and CUDA is GPU code. PORTABLE are kernels that are compiled
// for the GPU and for its emulation on the CPU. In kernels/tables.hpp, library() marks the methods of vendor
// libraries, and in_batches() those that take many systems per call.
GAUSSWEEP_DECLARE_PORTABLE(posv_multi_gpu)
GAUSSWEEP_DECLARE_PORTABLE(posv_recursive)
GAUSSWEEP_DECLARE_IN(host, posv_lapack)
GAUSSWEEP_DECLARE_CUDA(posv_cusolver)
GAUSSWEEP_DECLARE_CUDA(posv_cusolver_mg)
GAUSSWEEP_DECLARE_CUDA(posv_mixed_gmres)
GAUSSWEEP_DECLARE_PORTABLE(posv_batched)

namespace gaussweep {
namespace {

double flops_of(const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  return cholesky_flops(shape) + static_cast<double>(shape.nrhs) * (2.0 * n * n);
}
/// Returns the minimum number of elements moved: A's triangle and B are read, X is written.
double elements_moved(const Shape& shape) {
  return triangle_elements(shape) + 2.0 * columns_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "posv";
  row.title = "X of A X = B, A symmetric positive definite";
  row.axes = {"n", "nrhs", "uplo"};
  row.needs = {Need::spd};
  row.second = SecondOperand::right_hand_sides;
  row.b = row.x = columns_extent;
  row.negated = Region::checkered;  // the sign changes between runs keep A positive definite
  row.negated_of_b = Region::odd_rows;
  row.flops = flops_of;
  row.elements = elements_moved;
  row.verifier = {verifiers::solution<float>, verifiers::solution<double>};
  row.tolerance = 16;  // largest ratio of a residual to its error bound that passes (kernels/check/check.hpp)
  return row;
}

Problem posv() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

/// Returns a method whose answer replaces B.
Method posv_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(posv(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::b;
  return method;
}

Method recursive() {
  Method method =
      posv_method("recursive", "Cholesky as potrf/recursive; both solves in one launch", "gaussweep");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return definite::direct_bytes(shape, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(posv_recursive), /*capability=*/90);
}

Method multi_gpu() {
  Method method = tiles::on_several_gpus(
      posv_method("multi_gpu", "Cholesky of one matrix on several GPUs, lower triangle", "gaussweep"));
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    if (parameters.integer("gpus") == 1 || tiles::solve_uses_one_gpu(shape, parameters))
      return definite::direct_bytes(shape, element);
    return travelling_bytes(shape, element) + tiles::multi_gpu_bytes(shape, parameters, element);
  };
  method.uses_one_gpu = tiles::solve_uses_one_gpu;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(posv_multi_gpu), /*capability=*/90);
}

Method mixed_gmres() {
  Method method =
      posv_method("mixed_gmres",
                  "Cholesky in float with tensor-core products, GMRES to full precision; else as recursive",
                  "gaussweep, after N. J. Higham, S. Pranesh, SIAM J. Sci. Comput. 43, 2021");
  method.mixed_precision = true;
  method.parameters = {integer_parameter("float_from", 0, 0, 65537,
                                         "smallest n that tries factors in float (below: recursive); 0: "
                                         "if that is expected to be faster")};
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return definite::mixed_bytes(shape, element, parameters.integer("float_from"));
  };
  return on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(posv_mixed_gmres), /*capability=*/90);
}

Method lapack() {
  return library(in_batches(on_cpu(posv_method("lapack", "Cholesky on the CPU (potrf, potrs)", "LAPACK"),
                                   GAUSSWEEP_ENTRY(host, posv_lapack))));
}

Method batched() {
  Method method = make_method(
      posv(), "batched", "Cholesky of many small systems, with rows or panels in registers", "gaussweep");
  method.parameters = batched::parameters();
  method.accepts = batched::accepts;
  return in_batches(portable(std::move(method), GAUSSWEEP_ENTRIES(posv_batched)));
}

Method cusolver() {
  Method method = posv_method("cusolver", "Cholesky on the GPU (potrf, potrs; potrfBatched, potrsBatched)",
                              "NVIDIA cuSOLVER");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t) {
    return shape.batch == 1 ? 0 : 2 * aligned_workspace_bytes(shape.batch, sizeof(void*));
  };
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(posv_cusolver))));
}

Method cusolver_mg() {
  Method method = posv_method("cusolver_mg", "Cholesky on several GPUs, lower triangle (potrf, potrs)",
                              "NVIDIA cuSOLVERMg");
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.uplo == Uplo::lower; };
  return on_cusolver_mg(std::move(method), GAUSSWEEP_CUDA_ENTRY(posv_cusolver_mg));
}

std::vector<Method> methods() {
  return {recursive(), multi_gpu(), mixed_gmres(), batched(), lapack(), cusolver(), cusolver_mg()};
}

}  // namespace

ProblemTable posv_table() {
  return {posv(), methods};
}

}  // namespace gaussweep
