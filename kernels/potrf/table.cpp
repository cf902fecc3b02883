#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_PORTABLE(potrf_blocked)
GAUSSWEEP_DECLARE_PORTABLE(potrf_blocked_simultaneous)
GAUSSWEEP_DECLARE_IN(host, potrf_lapack)
GAUSSWEEP_DECLARE_CUDA(potrf_cusolver)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common: the Cholesky factor in place of the triangle of A that was
/// asked for.
Method potrf_method(std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = Problem::potrf;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  method.needs = {Need::spd};
  method.layout = Layout::column_major;
  method.answer = AnswerIn::a;
  return method;
}

Method blocked(std::string variant, std::string summary, Entry cuda, Entry emulated) {
  Method method = potrf_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.capability = 35;
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = cuda;
  method.emulated = emulated;
  return method;
}

Method lapack() {
  Method method = potrf_method("lapack", "Cholesky factorisation on the CPU (potrf)", "LAPACK");
  method.vendor = true;
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, potrf_lapack);
  return method;
}

Method cusolver() {
  Method method = potrf_method("cusolver", "Cholesky factorisation on the GPU (potrf)", "NVIDIA cuSOLVER");
  method.vendor = true;
  method.capability = 35;
  method.backends = {Backend::cuda};
  method.cuda = GAUSSWEEP_CUDA_ENTRY(potrf_cusolver);
  return method;
}

}  // namespace

std::vector<Method> potrf_methods() {
  return {blocked("blocked", "Cholesky by blocks of 16, trailing blocks one after another",
                  GAUSSWEEP_CUDA_ENTRY(potrf_blocked), GAUSSWEEP_ENTRY(emulated, potrf_blocked)),
          blocked("blocked_simultaneous", "Cholesky by blocks of 16, all trailing blocks at once",
                  GAUSSWEEP_CUDA_ENTRY(potrf_blocked_simultaneous),
                  GAUSSWEEP_ENTRY(emulated, potrf_blocked_simultaneous)),
          lapack(), cusolver()};
}

}  // namespace gaussweep
