#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_PORTABLE(trtri_gets)
GAUSSWEEP_DECLARE_PORTABLE(trtri_gets_adaptive)
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

/// Step k reads and writes the part of X that it changes; then all rows are divided.
double gets_bytes(const Shape& shape, const Parameters&, std::size_t element) {
  const auto n = static_cast<double>(shape.n);
  const double changed = (n - 1) * n * (n + 1) / 6 + n * n;
  return 2 * changed * static_cast<double>(element);
}

Method gets(std::string variant, std::string summary, Entry cuda, Entry emulated) {
  Method method = trtri_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.capability = 35;
  method.answer = AnswerIn::x;
  method.overwrites = false;
  method.parameters = {choice_parameter("threads", {"512", "1024", "256", "128"}, "threads of a block")};
  method.bytes = gets_bytes;
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = cuda;
  method.emulated = emulated;
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
  return {gets("gets", "Gaussian elimination, a launch a row", GAUSSWEEP_CUDA_ENTRY(trtri_gets),
               GAUSSWEEP_ENTRY(emulated, trtri_gets)),
          gets("gets_adaptive", "Gaussian elimination, a launch a row, blocks as high as rows are left",
               GAUSSWEEP_CUDA_ENTRY(trtri_gets_adaptive), GAUSSWEEP_ENTRY(emulated, trtri_gets_adaptive)),
          lapack(), cusolver()};
}

}  // namespace gaussweep
