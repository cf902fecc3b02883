#include "kernels/tables.hpp"

#include "kernels/geinv/lapack_workspace.hpp"

GAUSSWEEP_DECLARE_IN(host, geinv_lapack)
GAUSSWEEP_DECLARE_CUDA(geinv_cusolver)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common: the inverse in place of A.
Method geinv_method(std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = Problem::geinv;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  method.layout = Layout::column_major;
  method.answer = AnswerIn::a;
  return method;
}

Method lapack() {
  Method method = geinv_method(
      "lapack", "LU with partial pivoting, then the inverse, on the CPU (getrf, getri)", "LAPACK");
  method.vendor = true;
  method.workspace_bytes = geinv_lapack_workspace;
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, geinv_lapack);
  return method;
}

Method cusolver() {
  Method method =
      geinv_method("cusolver", "LU with partial pivoting on the GPU, solved for the identity (getrf, getrs)",
                   "NVIDIA cuSOLVER");
  method.vendor = true;
  method.capability = 35;
  method.answer = AnswerIn::x;
  method.backends = {Backend::cuda};
  method.cuda = GAUSSWEEP_CUDA_ENTRY(geinv_cusolver);
  return method;
}

}  // namespace

std::vector<Method> geinv_methods() {
  return {lapack(), cusolver()};
}

}  // namespace gaussweep
