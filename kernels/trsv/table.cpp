#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_IN(host, trsv_serial)
GAUSSWEEP_DECLARE_IN(host, trsv_openblas)
GAUSSWEEP_DECLARE_CUDA(trsv_cublas)

namespace gaussweep {
namespace {

/// What all rows of this problem have in common: [A, b] in columns, the answer in b.
Method trsv_method(std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = Problem::trsv;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  method.needs = {Need::triangular, Need::nonzero_diagonal};
  method.layout = Layout::column_major;
  method.answer = AnswerIn::b;
  return method;
}

Method serial() {
  Method method = trsv_method("serial", "substitution by columns on one CPU core",
                              "Algorithmic Techniques: Dense Lower Triangular Solver (course report)");
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, trsv_serial);
  return method;
}

Method openblas() {
  Method method = trsv_method("openblas", "BLAS trsv (one right-hand side) or trsm on the CPU", "OpenBLAS");
  method.vendor = true;
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, trsv_openblas);
  return method;
}

Method cublas() {
  Method method =
      trsv_method("cublas", "BLAS trsv (one right-hand side) or trsm on the GPU", "NVIDIA cuBLAS");
  method.vendor = true;
  method.capability = 35;
  method.backends = {Backend::cuda};
  method.cuda = GAUSSWEEP_CUDA_ENTRY(trsv_cublas);
  return method;
}

}  // namespace

std::vector<Method> trsv_methods() {
  return {serial(), openblas(), cublas()};
}

}  // namespace gaussweep
