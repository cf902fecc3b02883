#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_PORTABLE(poinv_cholesky_gets)
GAUSSWEEP_DECLARE_PORTABLE(poinv_gauss_seidel)
GAUSSWEEP_DECLARE_IN(host, poinv_lapack)
GAUSSWEEP_DECLARE_CUDA(poinv_cusolver)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common.
Method poinv_method(std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = Problem::poinv;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  method.needs = {Need::spd};
  method.layout = Layout::column_major;
  method.answer = AnswerIn::a;
  return method;
}

/// What the methods of the paper have in common: the inverse in a matrix of its own.
Method soriano_method(std::string variant, std::string summary) {
  Method method = poinv_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.capability = 35;
  method.answer = AnswerIn::x;
  method.backends = {Backend::cuda, Backend::emulated};
  return method;
}

Method cholesky_gets() {
  Method method = soriano_method("cholesky_gets", "Cholesky by blocks, GETS, and the product L^-T L^-1");
  method.parameters = {choice_parameter("update", {"sequential", "simultaneous"},
                                        "trailing blocks of the factorisation one after another, or at once"),
                       choice_parameter("gets", {"fixed", "adaptive"},
                                        "thread blocks of 512 rows, or as high as rows are left")};
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return workspace_piece(shape.n * shape.n, element);
  };
  method.cuda = GAUSSWEEP_CUDA_ENTRY(poinv_cholesky_gets);
  method.emulated = GAUSSWEEP_ENTRY(emulated, poinv_cholesky_gets);
  return method;
}

Method gauss_seidel() {
  Method method = soriano_method("gauss_seidel", "all columns of the inverse by Gauss-Seidel iteration");
  method.overwrites = false;
  method.parameters = {
      real_parameter("residual_tolerance", 0, 0, 1,
                     "ends where no equation is off by more than this; 0: 32 unit roundoffs"),
      integer_parameter("max_iterations", 1000, 1, 1 << 30, "most sweeps")};
  method.workspace_bytes = [](const Shape&, const Parameters&, std::size_t) {
    return workspace_piece(1, sizeof(unsigned long long));
  };
  method.cuda = GAUSSWEEP_CUDA_ENTRY(poinv_gauss_seidel);
  method.emulated = GAUSSWEEP_ENTRY(emulated, poinv_gauss_seidel);
  return method;
}

Method lapack() {
  Method method =
      poinv_method("lapack", "Cholesky factorisation, then the inverse, on the CPU (potrf, potri)", "LAPACK");
  method.vendor = true;
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, poinv_lapack);
  return method;
}

Method cusolver() {
  Method method = poinv_method(
      "cusolver", "Cholesky factorisation, then the inverse, on the GPU (potrf, potri)", "NVIDIA cuSOLVER");
  method.vendor = true;
  method.capability = 35;
  method.backends = {Backend::cuda};
  method.cuda = GAUSSWEEP_CUDA_ENTRY(poinv_cusolver);
  return method;
}

}  // namespace

std::vector<Method> poinv_methods() {
  return {cholesky_gets(), gauss_seidel(), lapack(), cusolver()};
}

}  // namespace gaussweep
