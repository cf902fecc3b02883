#include "kernels/tables.hpp"

#include "kernels/geinv/lapack_workspace.hpp"

GAUSSWEEP_DECLARE_PORTABLE(geinv_gauss_jordan)
GAUSSWEEP_DECLARE_PORTABLE(geinv_gauss_jordan_pivot)
GAUSSWEEP_DECLARE_IN(host, geinv_lapack)
GAUSSWEEP_DECLARE_CUDA(geinv_cusolver)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common.
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

/// Iteration k reads and writes what lies right of column k in one matrix and, without exchanges, up to it in
/// the other.
double gauss_jordan_bytes(const Shape& shape, const Parameters&, std::size_t element) {
  const auto n = static_cast<double>(shape.n);
  return 2 * n * n * n * static_cast<double>(element);
}

Method gauss_jordan(std::string variant, std::string summary, Entry cuda, Entry emulated) {
  Method method = geinv_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.capability = 35;
  method.answer = AnswerIn::x;
  method.parameters = {choice_parameter("threads", {"512", "1024", "256", "128"},
                                        "threads of a block; fewer where the matrix has fewer rows")};
  method.bytes = gauss_jordan_bytes;
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = cuda;
  method.emulated = emulated;
  return method;
}

Method gauss_jordan_at_zero() {
  Method method =
      gauss_jordan("gauss_jordan", "Gauss-Jordan elimination, row exchanges only at a zero pivot",
                   GAUSSWEEP_CUDA_ENTRY(geinv_gauss_jordan), GAUSSWEEP_ENTRY(emulated, geinv_gauss_jordan));
  method.needs = {Need::strongly_regular};
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
  return {gauss_jordan_at_zero(),
          gauss_jordan("gauss_jordan_pivot", "Gauss-Jordan elimination with partial pivoting",
                       GAUSSWEEP_CUDA_ENTRY(geinv_gauss_jordan_pivot),
                       GAUSSWEEP_ENTRY(emulated, geinv_gauss_jordan_pivot)),
          lapack(), cusolver()};
}

}  // namespace gaussweep
