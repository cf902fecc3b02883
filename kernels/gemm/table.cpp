#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_IN(host, gemm_serial)
GAUSSWEEP_DECLARE_PORTABLE(gemm_global)
GAUSSWEEP_DECLARE_PORTABLE(gemm_shared)
GAUSSWEEP_DECLARE_IN(host, gemm_openblas)
GAUSSWEEP_DECLARE_CUDA(gemm_cublas)

namespace gaussweep {
namespace {

constexpr const char* cejka_soriano =
    "L. Čejka, Parallel LU Decomposition for the GPU, ČVUT 2022; "
    "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011";

/// What all rows of this problem have in common: the answer in a matrix of its own, the inputs survive.
Method gemm_method(std::string variant, std::string summary, std::string source) {
  Method method;
  method.problem = Problem::gemm;
  method.variant = std::move(variant);
  method.summary = std::move(summary);
  method.source = std::move(source);
  method.answer = AnswerIn::x;
  method.overwrites = false;
  return method;
}

Method serial() {
  Method method = gemm_method("serial", "three loops on one CPU core", cejka_soriano);
  method.backends = {Backend::host};
  method.host = GAUSSWEEP_ENTRY(host, gemm_serial);
  return method;
}

Method one_element_a_thread(std::string variant, std::string summary, const char* tile_help, Entry cuda,
                            Entry emulated) {
  Method method = gemm_method(std::move(variant), std::move(summary), cejka_soriano);
  method.capability = 35;
  method.layout = Layout::row_major;
  method.parameters = {choice_parameter("tile", {"16", "32"}, tile_help)};
  method.backends = {Backend::cuda, Backend::emulated};
  method.cuda = cuda;
  method.emulated = emulated;
  return method;
}

Method vendor_method(std::string variant, std::string summary, std::string source, Backend backend) {
  Method method = gemm_method(std::move(variant), std::move(summary), std::move(source));
  method.vendor = true;
  method.backends = {backend};
  return method;
}

Method openblas() {
  Method method = vendor_method("openblas", "BLAS gemm on the CPU", "OpenBLAS", Backend::host);
  method.host = GAUSSWEEP_ENTRY(host, gemm_openblas);
  return method;
}

Method cublas() {
  Method method = vendor_method("cublas", "BLAS gemm on the GPU", "NVIDIA cuBLAS", Backend::cuda);
  method.capability = 35;
  method.cuda = GAUSSWEEP_CUDA_ENTRY(gemm_cublas);
  return method;
}

}  // namespace

std::vector<Method> gemm_methods() {
  return {serial(),
          one_element_a_thread("global", "a thread an element of C, from global memory",
                               "a block is tile x tile threads", GAUSSWEEP_CUDA_ENTRY(gemm_global),
                               GAUSSWEEP_ENTRY(emulated, gemm_global)),
          one_element_a_thread("shared", "a thread an element of C, by tiles in shared memory",
                               "a block is tile x tile threads and has tiles of that size in shared memory",
                               GAUSSWEEP_CUDA_ENTRY(gemm_shared), GAUSSWEEP_ENTRY(emulated, gemm_shared)),
          openblas(), cublas()};
}

}  // namespace gaussweep
