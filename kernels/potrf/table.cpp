/// The registry's rows for the problem potrf: one row for the problem and one per method
/// (registry/method.hpp).

#include "kernels/check/verifiers.hpp"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/potrf/recursive_workspace.hpp"
#include "kernels/registry/flops.hpp"
#include "kernels/tables.hpp"

// The methods' functions: `host` is CPU code, and CUDA is GPU code. PORTABLE are kernels that are compiled
// for the GPU and for its emulation on the CPU. In kernels/tables.hpp, library() marks the methods of vendor
// libraries, and in_batches() those that take many systems per call.
GAUSSWEEP_DECLARE_PORTABLE(potrf_blocked)
GAUSSWEEP_DECLARE_PORTABLE(potrf_blocked_simultaneous)
GAUSSWEEP_DECLARE_PORTABLE(potrf_multi_gpu)
GAUSSWEEP_DECLARE_PORTABLE(potrf_recursive)
GAUSSWEEP_DECLARE_IN(host, potrf_lapack)
GAUSSWEEP_DECLARE_CUDA(potrf_cusolver)
GAUSSWEEP_DECLARE_CUDA(potrf_cusolver_mg)
GAUSSWEEP_DECLARE_PORTABLE(potrf_batched)

#ifdef GAUSSWEEP_HAS_CUDA
namespace gaussweep::cuda {
void potrf_halves(Context&, Operands<float>&, const Parameters&);
}
#endif

namespace gaussweep {
namespace {

/// Returns the minimum number of elements moved: the triangle is read and written.
double elements_moved(const Shape& shape) {
  return 2.0 * triangle_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "potrf";
  row.title = "L of A = L L^T, or U of A = U^T U, A symmetric positive definite";
  row.axes = {"n", "uplo"};
  row.needs = {Need::spd};
  // These elements of A are negated in every second run, so that a stale answer fails. The checkered pattern
  // keeps A positive definite.
  row.negated = Region::checkered;
  row.used_of_a = UsedElements::mirrored_triangle;
  row.used_of_x = UsedElements::triangle;
  row.flops = cholesky_flops;
  row.elements = elements_moved;
  row.verifier = {verifiers::cholesky_factor<float>, verifiers::cholesky_factor<double>};
  row.tolerance = 30;  // largest accepted ratio of the error to its bound
  return row;
}

Problem potrf() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

/// Returns a method with the property that all potrf methods share: the factor replaces the triangle `uplo`
/// of A.
Method potrf_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(potrf(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::a;
  return method;
}

Method blocked(std::string variant, std::string summary, PortableEntries entries) {
  Method method = potrf_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.parameters = {choice_parameter("topleft", {"square", "triangle"},
                                        "threads that factorise a diagonal block: 16 x 16 or, as the paper "
                                        "proposes, one per element of its triangle")};
  return portable(std::move(method), entries);
}

Method recursive() {
  Method method = potrf_method(
      "recursive", "Cholesky, recursive in block columns; a launch's blocks wait for each other's tiles",
      "gaussweep");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element_bytes) {
    return tiles::workspace_bytes(shape, element_bytes);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(potrf_recursive), /*capability=*/90);
}

Method multi_gpu() {
  Method method = tiles::on_several_gpus(
      potrf_method("multi_gpu", "Cholesky of one matrix on several GPUs, lower triangle", "gaussweep"));
  method.workspace_bytes = tiles::multi_gpu_bytes;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(potrf_multi_gpu), /*capability=*/90);
}

Method halves() {
  Method method = potrf_method("halves", "recursive in float, with FP16 products on tensor cores",
                               "gaussweep, after H. Ootomo, R. Yokota, IJHPCA 36, 2022");
  method.mixed_precision = true;
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element_bytes) {
    return tiles::workspace_bytes(shape, element_bytes, /*scaled=*/true) + tiles::split_bytes(shape.n);
  };
#ifdef GAUSSWEEP_HAS_CUDA
  return on_gpu(std::move(method), {cuda::potrf_halves, nullptr}, /*capability=*/90);
#else
  return on_gpu(std::move(method), {}, /*capability=*/90);
#endif
}

Method lapack() {
  return library(
      in_batches(on_cpu(potrf_method("lapack", "Cholesky factorisation on the CPU (potrf)", "LAPACK"),
                        GAUSSWEEP_ENTRY(host, potrf_lapack))));
}

Method batched() {
  Method method = potrf_method("batched", "Cholesky of many small matrices, with rows or panels in registers",
                               "gaussweep");
  method.parameters = batched::parameters();
  method.accepts = batched::accepts;
  return in_batches(portable(std::move(method), GAUSSWEEP_ENTRIES(potrf_batched)));
}

Method cusolver() {
  Method method =
      potrf_method("cusolver", "Cholesky factorisation on the GPU (potrf; potrfBatched)", "NVIDIA cuSOLVER");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t) {
    return shape.batch == 1 ? 0 : aligned_workspace_bytes(shape.batch, sizeof(void*));
  };
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(potrf_cusolver))));
}

Method cusolver_mg() {
  Method method = potrf_method("cusolver_mg", "Cholesky factorisation on several GPUs, lower triangle",
                               "NVIDIA cuSOLVERMg");
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.uplo == Uplo::lower; };
  return on_cusolver_mg(std::move(method), GAUSSWEEP_CUDA_ENTRY(potrf_cusolver_mg));
}

std::vector<Method> methods() {
  return {blocked("blocked", "Cholesky by blocks of 16, trailing blocks one after another",
                  GAUSSWEEP_ENTRIES(potrf_blocked)),
          blocked("blocked_simultaneous", "Cholesky by blocks of 16, all trailing blocks in one launch",
                  GAUSSWEEP_ENTRIES(potrf_blocked_simultaneous)),
          recursive(),
          multi_gpu(),
          halves(),
          batched(),
          lapack(),
          cusolver(),
          cusolver_mg()};
}

}  // namespace

ProblemTable potrf_table() {
  return {potrf(), methods};
}

}  // namespace gaussweep
