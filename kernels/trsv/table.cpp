#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_IN(host, trsv_serial)
GAUSSWEEP_DECLARE_PORTABLE(trsv_column_sweep)
GAUSSWEEP_DECLARE_PORTABLE(trsv_pair_sweep)
GAUSSWEEP_DECLARE_PORTABLE(trsv_doubling)
GAUSSWEEP_DECLARE_PORTABLE(trsv_doubling_shared)
GAUSSWEEP_DECLARE_IN(host, trsv_openblas)
GAUSSWEEP_DECLARE_CUDA(trsv_cublas)

namespace gaussweep {
namespace {

constexpr const char* report = "Algorithmic Techniques: Dense Lower Triangular Solver (course report)";

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
  Method method = trsv_method("serial", "substitution by columns on one CPU core", report);
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, trsv_serial);
  return method;
}

/// The report's solvers for the GPU.
Method report_method(std::string variant, std::string summary, Entry cuda, Entry emulated) {
  Method method = trsv_method(std::move(variant), std::move(summary), report);
  method.capability = 35;
  method.max_nrhs = 65535;  // a row of blocks each
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = cuda;
  method.emulated = emulated;
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
  return {
      serial(),
      report_method("column_sweep", "substitution, a launch a column and a thread a row",
                    GAUSSWEEP_CUDA_ENTRY(trsv_column_sweep), GAUSSWEEP_ENTRY(emulated, trsv_column_sweep)),
      report_method("pair_sweep", "2 x 2 triangles solved first, then substitution by two columns a launch",
                    GAUSSWEEP_CUDA_ENTRY(trsv_pair_sweep), GAUSSWEEP_ENTRY(emulated, trsv_pair_sweep)),
      report_method("doubling",
                    "2 x 2 triangles solved first, then blocks of doubling size by row operations",
                    GAUSSWEEP_CUDA_ENTRY(trsv_doubling), GAUSSWEEP_ENTRY(emulated, trsv_doubling)),
      report_method("doubling_shared", "doubling with tiles in shared memory, from blocks of 32 on",
                    GAUSSWEEP_CUDA_ENTRY(trsv_doubling_shared),
                    GAUSSWEEP_ENTRY(emulated, trsv_doubling_shared)),
      openblas(),
      cublas()};
}

}  // namespace gaussweep
