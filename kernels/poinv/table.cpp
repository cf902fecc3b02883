#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_IN(host, poinv_lapack)
GAUSSWEEP_DECLARE_CUDA(poinv_cusolver)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common: the whole inverse in place of A.
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
  return {lapack(), cusolver()};
}

}  // namespace gaussweep
