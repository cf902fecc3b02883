/// The registry's rows for the problem getrf: one row for the problem and one per method
/// (registry/method.hpp).

#include "kernels/check/verifiers.hpp"
#include "kernels/float_rows.hpp"
#include "kernels/gemm/workspaces.hpp"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/flops.hpp"

// The methods' functions: `host` is CPU code, and CUDA is GPU code. PORTABLE and FLOAT (float only) are
// kernels that are compiled for the GPU and for its emulation on the CPU. In kernels/tables.hpp, library()
// marks the methods of vendor libraries, and in_batches() those that take many systems per call.
GAUSSWEEP_DECLARE_IN(host, getrf_crout_serial)
GAUSSWEEP_DECLARE_PORTABLE(getrf_fixed_point)
GAUSSWEEP_DECLARE_IN(host, getrf_lapack)
GAUSSWEEP_DECLARE_CUDA(getrf_cusolver)
GAUSSWEEP_DECLARE_CUDA(getrf_cusolver_mg)
GAUSSWEEP_DECLARE_CUDA(getrf_cublas)
GAUSSWEEP_DECLARE_PORTABLE(getrf_batched)
GAUSSWEEP_DECLARE_PORTABLE(getrf_multi_gpu)
GAUSSWEEP_DECLARE_PORTABLE(getrf_recursive)
GAUSSWEEP_DECLARE_PORTABLE(getrf_residues)
GAUSSWEEP_DECLARE_FLOAT(getrf_halves)

namespace gaussweep {
namespace {

/// Returns the number of elements that any method must read (A) or write (L and U).
double elements_moved(const Shape& shape) {
  return 2.0 * square_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "getrf";
  row.title = "L and U of P A = L U";
  row.axes = {"n"};
  row.has_pivots = true;
  row.zero_pivot = ZeroPivot::singular;
  row.flops = lu_flops;
  row.elements = elements_moved;
  row.verifier = {verifiers::lu_factors<float>, verifiers::lu_factors<double>};
  row.tolerance = 30;  // largest ratio of a residual to its error bound that passes (kernels/check/check.hpp)
  return row;
}

Problem getrf() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

/// Returns a method whose factors replace A.
Method getrf_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(getrf(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::a;
  return method;
}

/// Returns a method with the properties of both methods in Čejka's thesis: no pivoting, unit diagonal in U.
Method cejka_method(std::string variant, std::string summary) {
  Method method = getrf_method(std::move(variant), std::move(summary),
                               "L. Čejka, Parallel LU Decomposition for the GPU, ČVUT 2022");
  method.needs = {Need::strongly_regular};
  method.unit_diagonal = UnitDiagonal::upper;
  return method;
}

Method crout_serial() {
  Method method = cejka_method("crout_serial", "Crout's factorisation on one CPU core, no pivoting");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return aligned_workspace_bytes(shape.n, element);
  };
  return on_cpu(std::move(method), GAUSSWEEP_ENTRY(host, getrf_crout_serial));
}

Method fixed_point() {
  Method method =
      cejka_method("fixed_point", "all elements of L and U in parallel, iterated to a fixed point");
  method.answer = AnswerIn::x;
  method.overwrites = false;
  method.parameters = fixed_point_parameters();
  method.workspace_bytes = fixed_point_workspace;
  method.iterations = fixed_point_iterations;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(getrf_fixed_point));
}

Method recursive() {
  Method method = getrf_method(
      "recursive", "LU with partial pivoting, recursive in columns; panels in a cluster's registers",
      "gaussweep, after S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997");
  method.accepts = lu::panels_fit_in_cluster;
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return lu::workspace_bytes(shape.n, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(getrf_recursive), /*capability=*/90);
}

Method multi_gpu() {
  Method method =
      lu::on_several_gpus(getrf_method("multi_gpu", "LU with partial pivoting of one matrix on several GPUs",
                                       "gaussweep, after S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997"));
  method.workspace_bytes = lu::multi_gpu_bytes;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(getrf_multi_gpu), /*capability=*/90);
}

Method by_residues() {
  Method method = getrf_method(
      "residues", "recursive, with large products by residues on INT8 tensor cores if that is faster",
      "gaussweep, after K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009");
  method.mixed_precision = true;
  method.parameters = lu::residue_parameters();
  method.accepts = lu::accepts_residues;
  method.workspace_bytes = lu::residue_bytes;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(getrf_residues), /*capability=*/90);
}

Method by_halves() {
  Method method =
      getrf_method("halves", "recursive, with large products of floats by split halves on tensor cores",
                   "gaussweep, after H. Ootomo, R. Yokota, IJHPCA 36, 2022");
  method.mixed_precision = true;
  method.parameters = halves::lu_parameters();
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.n <= lu::max_rows; };
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return lu::workspace_bytes(shape.n, element) +
           halves::lu_bytes(shape.n, parameters, /*includes_solves=*/false);
  };
  return portable(std::move(method), GAUSSWEEP_FLOAT_ENTRIES(getrf_halves), /*capability=*/90);
}

Method lapack() {
  return library(in_batches(on_cpu(getrf_method("lapack", "LU with partial pivoting on the CPU", "LAPACK"),
                                   GAUSSWEEP_ENTRY(host, getrf_lapack))));
}

Method batched() {
  Method method = getrf_method(
      "batched", "LU with partial pivoting of many small matrices, with rows or panels in registers",
      "gaussweep");
  method.parameters = batched::parameters();
  method.accepts = batched::accepts;
  return in_batches(portable(std::move(method), GAUSSWEEP_ENTRIES(getrf_batched)));
}

Method cublas() {
  Method method = getrf_method("cublas", "LU with partial pivoting of many small matrices (getrfBatched)",
                               "NVIDIA cuBLAS");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t) {
    return aligned_workspace_bytes(shape.batch, sizeof(void*));
  };
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(getrf_cublas))));
}

Method cusolver() {
  return library(on_gpu(getrf_method("cusolver", "LU with partial pivoting on the GPU", "NVIDIA cuSOLVER"),
                        GAUSSWEEP_CUDA_ENTRY(getrf_cusolver)));
}

Method cusolver_mg() {
  Method method =
      getrf_method("cusolver_mg", "LU with partial pivoting on several GPUs", "NVIDIA cuSOLVERMg");
  return on_cusolver_mg(std::move(method), GAUSSWEEP_CUDA_ENTRY(getrf_cusolver_mg));
}

std::vector<Method> methods() {
  return {crout_serial(), fixed_point(), recursive(), multi_gpu(),   by_residues(), by_halves(),
          batched(),      lapack(),      cusolver(),  cusolver_mg(), cublas()};
}

}  // namespace

ProblemTable getrf_table() {
  return {getrf(), methods};
}

}  // namespace gaussweep
