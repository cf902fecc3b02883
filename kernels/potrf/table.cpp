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
  Method method = row(Problem::potrf, std::move(variant), std::move(summary), std::move(source));
  method.needs = {Need::spd};
  method.answer = AnswerIn::a;
  return method;
}

Method blocked(std::string variant, std::string summary, PortableEntries entries) {
  Method method = potrf_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.parameters = {choice_parameter("topleft", {"square", "triangle"},
                                        "threads that factorise a block on the diagonal: 16 x 16, or, as he "
                                        "proposes, only those that its triangle needs")};
  return portable(std::move(method), entries);
}

Method lapack() {
  return library(on_cpu(potrf_method("lapack", "Cholesky factorisation on the CPU (potrf)", "LAPACK"),
                        GAUSSWEEP_ENTRY(host, potrf_lapack)));
}

Method cusolver() {
  return library(
      on_gpu(potrf_method("cusolver", "Cholesky factorisation on the GPU (potrf)", "NVIDIA cuSOLVER"),
             GAUSSWEEP_CUDA_ENTRY(potrf_cusolver)));
}

}  // namespace

std::vector<Method> potrf_methods() {
  return {blocked("blocked", "Cholesky by blocks of 16, trailing blocks one after another",
                  GAUSSWEEP_ENTRIES(potrf_blocked)),
          blocked("blocked_simultaneous", "Cholesky by blocks of 16, all trailing blocks at once",
                  GAUSSWEEP_ENTRIES(potrf_blocked_simultaneous)),
          lapack(), cusolver()};
}

}  // namespace gaussweep
