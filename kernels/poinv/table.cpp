/// The registry's rows for the problem poinv: one row for the problem and one per method
/// (registry/method.hpp).

#include "kernels/check/verifiers.hpp"
#include "kernels/geinv/distributed_workspace.hpp"
#include "kernels/poinv/recursive_workspace.hpp"
#include "kernels/registry/flops.hpp"
#include "kernels/tables.hpp"

#include <algorithm>

// The methods' functions: `host` is CPU code, and CUDA is GPU code. PORTABLE are kernels that are compiled
// for the GPU and for its emulation on the CPU. In kernels/tables.hpp, library() marks the methods of vendor
// libraries.
GAUSSWEEP_DECLARE_PORTABLE(poinv_cholesky_gets)
GAUSSWEEP_DECLARE_PORTABLE(poinv_gauss_seidel)
GAUSSWEEP_DECLARE_PORTABLE(poinv_multi_gpu)
GAUSSWEEP_DECLARE_PORTABLE(poinv_recursive)
GAUSSWEEP_DECLARE_IN(host, poinv_lapack)
GAUSSWEEP_DECLARE_CUDA(poinv_cusolver)

namespace gaussweep {
namespace {

double flops_of(const Shape& shape) {
  return cholesky_flops(shape) + cholesky_inverse_flops(shape);
}
/// Returns the minimum number of elements moved: A is read, and the inverse is written.
double elements_moved(const Shape& shape) {
  return 2.0 * square_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "poinv";
  row.title = "the inverse of a symmetric positive definite matrix";
  row.axes = {"n"};
  row.needs = {Need::spd};
  row.negated = Region::checkered;  // the sign changes between runs keep A positive definite
  row.flops = flops_of;
  row.elements = elements_moved;
  row.verifier = {verifiers::inverse<float>, verifiers::inverse<double>};
  row.tolerance = 30;  // largest ratio of a residual to its error bound that passes (kernels/check/check.hpp)
  return row;
}

Problem poinv() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

/// Returns a method whose inverse overwrites A.
Method poinv_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(poinv(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::a;
  return method;
}

/// Returns a method of Soriano's thesis, which stores the inverse in a separate matrix.
Method soriano_method(std::string variant, std::string summary) {
  Method method = poinv_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.answer = AnswerIn::x;
  return method;
}

Method cholesky_gets() {
  Method method = soriano_method("cholesky_gets", "Cholesky by blocks, GETS, and the product L^-T L^-1");
  method.parameters = {
      choice_parameter("update", {"sequential", "simultaneous"},
                       "trailing blocks of the factorisation one after another, or in one launch"),
      choice_parameter("gets", {"fixed", "adaptive"},
                       "thread blocks of 512 rows, or of fewer if fewer rows remain")};
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return aligned_workspace_bytes(shape.n * shape.n, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(poinv_cholesky_gets));
}

Method gauss_seidel() {
  Method method = soriano_method("gauss_seidel", "all columns of the inverse by Gauss-Seidel iteration");
  method.overwrites = false;
  method.parameters = {
      real_parameter("residual_tolerance", 0, 0, 1, "ends if no residual exceeds this; 0: 32 unit roundoffs"),
      integer_parameter("max_iterations", 1000, 1, 1 << 30, "maximum number of sweeps")};
  method.workspace_bytes = [](const Shape&, const Parameters&, std::size_t) {
    return aligned_workspace_bytes(1, sizeof(unsigned long long));
  };
  // Well-conditioned matrices need ten to forty sweeps.
  method.iterations = [](const Shape&, const Parameters& parameters) {
    return static_cast<double>(std::min<std::int64_t>(20, parameters.integer("max_iterations")));
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(poinv_gauss_seidel));
}

Method recursive() {
  Method method =
      poinv_method("recursive", "the Cholesky factor L, its inverse, and the product L^-T L^-1", "gaussweep");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return poinv_recursive_workspace(shape.n, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(poinv_recursive));
}

Method multi_gpu() {
  Method method = poinv_method(
      "multi_gpu", "the Cholesky factor L, its inverse, and the product L^-T L^-1, on several GPUs",
      "gaussweep");
  method.parameters = {gpus_parameter(), inverse::block_parameter("512, up to n = 4096 256"),
                       inverse::panel_parameter(), inverse::gpus_from_parameter()};
  method.uses_one_gpu = inverse::uses_one_gpu;
  method.column_block = inverse::poinv_block;
  method.workspace_bytes = inverse::poinv_bytes;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(poinv_multi_gpu), /*capability=*/90);
}

Method lapack() {
  return library(on_cpu(
      poinv_method("lapack", "Cholesky factorisation, then the inverse, on the CPU (potrf, potri)", "LAPACK"),
      GAUSSWEEP_ENTRY(host, poinv_lapack)));
}

Method cusolver() {
  return library(
      on_gpu(poinv_method("cusolver", "Cholesky factorisation, then the inverse, on the GPU (potrf, potri)",
                          "NVIDIA cuSOLVER"),
             GAUSSWEEP_CUDA_ENTRY(poinv_cusolver)));
}

std::vector<Method> methods() {
  return {cholesky_gets(), gauss_seidel(), recursive(), multi_gpu(), lapack(), cusolver()};
}

}  // namespace

ProblemTable poinv_table() {
  return {poinv(), methods};
}

}  // namespace gaussweep
