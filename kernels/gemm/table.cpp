/// The registry's rows for the problem gemm: the problem itself and its methods.

#include "kernels/check/verifiers.hpp"
#include "kernels/float_rows.hpp"
#include "kernels/gemm/workspaces.hpp"

GAUSSWEEP_DECLARE_IN(host, gemm_serial)
GAUSSWEEP_DECLARE_PORTABLE(gemm_direct)
GAUSSWEEP_DECLARE_PORTABLE(gemm_global)
GAUSSWEEP_DECLARE_PORTABLE(gemm_shared)
GAUSSWEEP_DECLARE_PORTABLE(gemm_residues)
GAUSSWEEP_DECLARE_FLOAT(gemm_halves)
GAUSSWEEP_DECLARE_IN(host, gemm_openblas)
GAUSSWEEP_DECLARE_CUDA(gemm_cublas)
GAUSSWEEP_DECLARE_CUDA(gemm_cublas_lt)
GAUSSWEEP_DECLARE_CUDA(gemm_cublas_emulated)

namespace gaussweep {
namespace {

Extent extent_of_a(const Shape& s) {
  return {s.m, s.k * s.batch};
}
Extent extent_of_b(const Shape& s) {
  return {s.k, s.n * s.batch};
}
Extent extent_of_c(const Shape& s) {
  return {s.m, s.n * s.batch};
}
double flops_of(const Shape& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}
/// Returns the number of elements that any method must read (A and B) or write (C).
double elements_moved(const Shape& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return m * k + k * n + m * n;
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "gemm";
  row.title = "C = A B";
  row.axes = {"m", "n", "k"};
  row.a = extent_of_a;
  row.second = SecondOperand::matrix;
  row.b = extent_of_b;
  row.x = extent_of_c;
  row.flops = flops_of;
  row.elements = elements_moved;
  row.verifier = {verifiers::product<float>, verifiers::product<double>};
  row.tolerance = 3;  // largest accepted error ratio (kernels/check/verifiers.hpp)
  return row;
}

Problem gemm() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

constexpr const char* cejka_soriano =
    "L. Čejka, Parallel LU Decomposition for the GPU, ČVUT 2022; "
    "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011";

/// Returns a method with the properties that all gemm methods share: C is a separate matrix, and A and B are
/// not overwritten.
Method gemm_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(gemm(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::x;
  method.overwrites = false;
  return method;
}

Method serial() {
  return on_cpu(gemm_method("serial", "three loops on one CPU core", cejka_soriano),
                GAUSSWEEP_ENTRY(host, gemm_serial));
}

Method one_element_per_thread(std::string variant, std::string summary, const char* tile_help,
                              PortableEntries entries) {
  Method method = gemm_method(std::move(variant), std::move(summary), cejka_soriano);
  method.layout = Layout::row_major;
  method.parameters = {choice_parameter("tile", {"16", "32"}, tile_help)};
  return portable(std::move(method), entries);
}

Method direct() {
  Method method =
      gemm_method("direct", "one thread per element of C, from global memory by columns, not coalesced",
                  "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.parameters = {choice_parameter("tile", {"16", "32"}, "a block has tile x tile threads")};
  return portable(std::move(method), GAUSSWEEP_ENTRIES(gemm_direct));
}

Method by_residues() {
  Method method = gemm_method("residues", "residues modulo coprime numbers, products on INT8 tensor cores",
                              "gaussweep, after K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009");
  method.mixed_precision = true;
  method.parameters = {
      integer_parameter(
          "moduli", 0, 0, residues::max_moduli,
          "number of moduli, at least 5; 0: the number that full precision needs; if a given number is not "
          "accurate enough (e.g. below 12 in double), the vendor's GEMM computes the product"),
      integer_parameter(
          "least_inner", 0, 0, residues::max_inner_size,
          "smallest k of products by residues; 0: any if `moduli` is given, else use residues if "
          "that is faster")};
  method.accepts = [](const Shape&, const Parameters& p) {
    return p.integer("moduli") == 0 || p.integer("moduli") >= residues::min_moduli;
  };
  method.workspace_bytes = [](const Shape& s, const Parameters& parameters, std::size_t element) {
    if (!residues::are_used(s, parameters, element)) return std::size_t{0};
    const auto moduli = static_cast<int>(parameters.integer("moduli"));
    return residues::bytes_of(
        residues::capacity_for(s.m, s.n, s.k, moduli == 0 ? residues::max_moduli : moduli));
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(gemm_residues), /*capability=*/80);
}

Method by_halves() {
  Method method = gemm_method("halves", "each float as two halves, three products of halves on tensor cores",
                              "gaussweep, after H. Ootomo, R. Yokota, IJHPCA 36, 2022");
  method.mixed_precision = true;
  method.parameters = {halves::inner_parameter(halves::product_inner)};
  method.workspace_bytes = [](const Shape& s, const Parameters& parameters, std::size_t) {
    if (s.k <= halves::max_small_k) return std::size_t{0};
    return halves::bytes_of(
        halves::capacity_of_product(s, halves::terms_per_sum(s.k, parameters.integer("inner"))));
  };
  return portable(std::move(method), GAUSSWEEP_FLOAT_ENTRIES(gemm_halves), /*capability=*/70);
}

Method openblas() {
  return library(in_batches(on_cpu(gemm_method("openblas", "BLAS gemm on the CPU", "OpenBLAS"),
                                   GAUSSWEEP_ENTRY(host, gemm_openblas))));
}

Method cublas() {
  return library(in_batches(
      on_gpu(gemm_method("cublas", "BLAS gemm on the GPU (gemm; gemmStridedBatched)", "NVIDIA cuBLAS"),
             GAUSSWEEP_CUDA_ENTRY(gemm_cublas))));
}

Method cublas_lt() {
  Method method =
      gemm_method("cublas_lt", "cublasLtMatmul on the GPU, with an algorithm that its heuristic proposes",
                  "NVIDIA cuBLASLt");
  method.parameters = {
      integer_parameter("candidate", 0, 0, 31,
                        "index in the heuristic's list; 0: the algorithm that it expects to be fastest")};
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(gemm_cublas_lt))));
}

Method cublas_emulated() {
  Method method = gemm_method("cublas_emulated",
                              "cuBLAS's emulation: doubles in fixed point, floats as bfloat16 (BF16x9)",
                              "NVIDIA cuBLAS 13");
  method.mixed_precision = true;
  method.parameters = {
      integer_parameter("mantissa_bits", 0, 0, 120, "mantissa bits of doubles; 0: cuBLAS determines them")};
  return on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(gemm_cublas_emulated), /*capability=*/80);
}

std::vector<Method> methods() {
  return {serial(),
          direct(),
          one_element_per_thread("global", "one thread per element of C, from global memory",
                                 "a block has tile x tile threads", GAUSSWEEP_ENTRIES(gemm_global)),
          one_element_per_thread("shared", "one thread per element of C, by tiles in shared memory",
                                 "a block has tile x tile threads and shared memory tiles of that size",
                                 GAUSSWEEP_ENTRIES(gemm_shared)),
          by_residues(),
          by_halves(),
          openblas(),
          cublas(),
          cublas_lt(),
          cublas_emulated()};
}

}  // namespace

ProblemTable gemm_table() {
  return {gemm(), methods};
}

}  // namespace gaussweep
