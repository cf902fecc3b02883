#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_IN(host, trtri_lapack)
GAUSSWEEP_DECLARE_CUDA(trtri_cusolver)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common: the inverse in place of the triangle of A that was asked
/// for.
Method trtri_method(std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = Problem::trtri;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  method.needs = {Need::triangular, Need::nonzero_diagonal};
  method.layout = Layout::column_major;
  method.answer = AnswerIn::a;
  return method;
}

Method lapack() {
  Method method = trtri_method("lapack", "inverse of a triangular matrix on the CPU (trtri)", "LAPACK");
  method.vendor = true;
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, trtri_lapack);
  return method;
}

Method cusolver() {
  Method method =
      trtri_method("cusolver", "inverse of a triangular matrix on the GPU (Xtrtri)", "NVIDIA cuSOLVER");
  method.vendor = true;
  method.capability = 35;
  method.backends = {Backend::cuda};
  method.cuda = GAUSSWEEP_CUDA_ENTRY(trtri_cusolver);
  return method;
}

}  // namespace

std::vector<Method> trtri_methods() {
  return {lapack(), cusolver()};
}

}  // namespace gaussweep
