/// The registry's rows for the problem geinv: one row for the problem and one per method
/// (registry/method.hpp).

#include "kernels/check/verifiers.hpp"
#include "kernels/float_rows.hpp"
#include "kernels/gemm/workspaces.hpp"
#include "kernels/registry/flops.hpp"

#include "kernels/geinv/distributed_workspace.hpp"
#include "kernels/geinv/recursive_workspace.hpp"
#include "kernels/getrf/workspaces.hpp"

// The methods' functions: `host` is CPU code, and CUDA is GPU code. PORTABLE and FLOAT (float only) are
// kernels that are compiled for the GPU and for its emulation on the CPU. In kernels/tables.hpp, library()
// marks the methods of vendor libraries, and in_batches() those that take many systems per call.
GAUSSWEEP_DECLARE_PORTABLE(geinv_gauss_jordan)
GAUSSWEEP_DECLARE_PORTABLE(geinv_gauss_jordan_pivot)
GAUSSWEEP_DECLARE_PORTABLE(geinv_multi_gpu)
GAUSSWEEP_DECLARE_PORTABLE(geinv_recursive)
GAUSSWEEP_DECLARE_FLOAT(geinv_halves)
GAUSSWEEP_DECLARE_PORTABLE(geinv_residues)
GAUSSWEEP_DECLARE_IN(host, geinv_lapack)
GAUSSWEEP_DECLARE_CUDA(geinv_cusolver)
GAUSSWEEP_DECLARE_CUDA(geinv_cublas)
GAUSSWEEP_DECLARE_PORTABLE(geinv_batched)

namespace gaussweep {
namespace {

/// Returns the operations of LU and of the inverse from its factors.
double flops_of(const Shape& shape) {
  return lu_flops(shape) + lu_inverse_flops(shape);
}
/// Returns the minimum number of elements moved: A is read, and the inverse is written.
double elements_moved(const Shape& shape) {
  return 2.0 * square_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "geinv";
  row.title = "the inverse of a matrix";
  row.axes = {"n"};
  row.flops = flops_of;
  row.elements = elements_moved;
  row.verifier = {verifiers::left_or_right_inverse<float>, verifiers::left_or_right_inverse<double>};
  row.tolerance = 30;  // largest ratio of a residual to its error bound that passes (kernels/check/check.hpp)
  return row;
}

Problem geinv() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

/// Returns a method with the properties that most geinv methods share: the answer replaces A.
Method geinv_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(geinv(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::a;
  return method;
}

/// Returns the memory traffic without row exchanges. With `grid` = shrinking, iteration k reads and writes
/// the columns of A right of k and the columns of X up to k; with `grid` = full, all columns of both.
double gauss_jordan_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  const auto n = static_cast<double>(shape.n);
  return (parameters.choice("grid") == "full" ? 4 : 2) * n * n * n * static_cast<double>(element);
}

Method gauss_jordan(std::string variant, std::string summary, PortableEntries entries) {
  Method method = geinv_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.answer = AnswerIn::x;
  method.parameters = {
      choice_parameter("threads", {"512", "1024", "256", "128"},
                       "threads per block; fewer if the matrix has fewer rows"),
      choice_parameter("grid", {"shrinking", "full"},
                       "columns per iteration: those that change or, as in the paper, all of "
                       "both matrices")};
  method.bytes = gauss_jordan_bytes;
  return portable(std::move(method), entries);
}

Method gauss_jordan_at_zero() {
  Method method = gauss_jordan("gauss_jordan", "Gauss-Jordan elimination, row exchanges only at a zero pivot",
                               GAUSSWEEP_ENTRIES(geinv_gauss_jordan));
  method.needs = {Need::strongly_regular};
  return method;
}

Method recursive() {
  Method method =
      geinv_method("recursive", "LU of getrf/recursive, the inverse of L, a solve with U", "gaussweep");
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.n <= lu::max_rows; };
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return geinv_recursive_workspace(shape.n, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(geinv_recursive), /*capability=*/90);
}

Method multi_gpu() {
  Method method = lu::on_several_gpus(geinv_method(
      "multi_gpu", "LU with the inverse of L, and a solve with U, on several GPUs", "gaussweep"));
  method.workspace_bytes = inverse::geinv_bytes;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(geinv_multi_gpu), /*capability=*/90);
}

Method by_halves() {
  Method method =
      geinv_method("halves", "as recursive, large products of floats by split halves on tensor cores",
                   "gaussweep, after H. Ootomo, R. Yokota, IJHPCA 36, 2022");
  method.mixed_precision = true;
  method.parameters = halves::lu_parameters();
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.n <= lu::max_rows; };
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return geinv_recursive_workspace(shape.n, element) +
           halves::lu_bytes(levels::padded_order(shape.n), parameters, /*includes_solves=*/true);
  };
  return portable(std::move(method), GAUSSWEEP_FLOAT_ENTRIES(geinv_halves), /*capability=*/90);
}

Method by_residues() {
  Method method =
      geinv_method("residues", "as recursive, with large products by INT8 residues if that is faster",
                   "gaussweep, after K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009");
  method.mixed_precision = true;
  method.parameters = lu::residue_parameters();
  method.accepts = lu::accepts_residues;
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return geinv_recursive_workspace(shape.n, element) +
           lu::residue_product_bytes(levels::padded_order(shape.n), parameters, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(geinv_residues), /*capability=*/90);
}

Method lapack() {
  return library(in_batches(
      on_cpu(geinv_method("lapack", "LU with partial pivoting, then the inverse, on the CPU (getrf, getri)",
                          "LAPACK"),
             GAUSSWEEP_ENTRY(host, geinv_lapack))));
}

Method batched() {
  Method method = geinv_method("batched",
                               "LU of many small matrices and both substitutions of the identity, with rows, "
                               "panels or columns in registers",
                               "gaussweep");
  method.answer = AnswerIn::x;
  method.parameters = batched::parameters();
  method.accepts = batched::accepts_inverse;
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return batched::inverts_by_columns(shape.n, parameters, element) ? batched::row_order_bytes(shape) : 0;
  };
  return in_batches(portable(std::move(method), GAUSSWEEP_ENTRIES(geinv_batched)));
}

Method cublas() {
  Method method =
      geinv_method("cublas", "inverses of many small matrices (getrfBatched, getriBatched; matinvBatched)",
                   "NVIDIA cuBLAS");
  method.answer = AnswerIn::x;
  method.parameters = {
      choice_parameter("routine", {"getri", "matinv"}, "LU, then the inverse; or one call, up to order 32")};
  method.accepts = [](const Shape& shape, const Parameters& parameters) {
    return parameters.choice("routine") == "getri" || shape.n <= 32;
  };
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t) {
    return 2 * aligned_workspace_bytes(shape.batch, sizeof(void*)) +
           aligned_workspace_bytes(shape.n * shape.batch, sizeof(int)) +
           aligned_workspace_bytes(shape.batch, sizeof(int));
  };
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(geinv_cublas))));
}

Method cusolver() {
  Method method =
      geinv_method("cusolver", "LU with partial pivoting on the GPU, solved for the identity (getrf, getrs)",
                   "NVIDIA cuSOLVER");
  method.answer = AnswerIn::x;
  return library(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(geinv_cusolver)));
}

std::vector<Method> methods() {
  return {gauss_jordan_at_zero(),
          gauss_jordan("gauss_jordan_pivot", "Gauss-Jordan elimination with partial pivoting",
                       GAUSSWEEP_ENTRIES(geinv_gauss_jordan_pivot)),
          recursive(),
          multi_gpu(),
          by_halves(),
          by_residues(),
          batched(),
          lapack(),
          cusolver(),
          cublas()};
}

}  // namespace

ProblemTable geinv_table() {
  return {geinv(), methods};
}

}  // namespace gaussweep
