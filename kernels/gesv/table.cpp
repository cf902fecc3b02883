/// The registry's rows for the problem gesv: one row for the problem and one per method
/// (registry/method.hpp).

#include "kernels/check/verifiers.hpp"
#include "kernels/float_rows.hpp"
#include "kernels/gemm/workspaces.hpp"
#include "kernels/registry/flops.hpp"

#include "kernels/gesv/cyclic_options.hpp"
#include "kernels/gesv/mixed_workspace.hpp"
#include "kernels/getrf/migrating_columns.hpp"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/trsv/workspaces.hpp"

// The methods' functions: `host` is CPU code, and CUDA is GPU code. PORTABLE and FLOAT (float only) are
// kernels that are compiled for the GPU and for its emulation on the CPU. In kernels/tables.hpp, library()
// marks the methods of vendor libraries, and in_batches() those that take many systems per call.
GAUSSWEEP_DECLARE_IN(host, gesv_gauss_serial)
GAUSSWEEP_DECLARE_PORTABLE(gesv_gauss_block)
GAUSSWEEP_DECLARE_PORTABLE(gesv_gauss_cyclic_halving)
GAUSSWEEP_DECLARE_PORTABLE(gesv_gauss_cyclic_decrement)
GAUSSWEEP_DECLARE_PORTABLE(gesv_gauss_cyclic_shared)
GAUSSWEEP_DECLARE_IN(host, gesv_gauss_pivot_serial)
GAUSSWEEP_DECLARE_IN(host, gesv_gauss_jordan_serial)
GAUSSWEEP_DECLARE_PORTABLE(gesv_gauss_jordan_global)
GAUSSWEEP_DECLARE_PORTABLE(gesv_gauss_jordan_shared)
GAUSSWEEP_DECLARE_IN(host, gesv_crout)
GAUSSWEEP_DECLARE_PORTABLE(gesv_lu_fixed_point)
GAUSSWEEP_DECLARE_IN(host, gesv_lapack)
GAUSSWEEP_DECLARE_CUDA(gesv_cusolver)
GAUSSWEEP_DECLARE_CUDA(gesv_cusolver_irs)
GAUSSWEEP_DECLARE_CUDA(gesv_cusolver_mg)
GAUSSWEEP_DECLARE_CUDA(gesv_cublas)
GAUSSWEEP_DECLARE_PORTABLE(gesv_batched)
GAUSSWEEP_DECLARE_PORTABLE(gesv_multi_gpu)
GAUSSWEEP_DECLARE_PORTABLE(gesv_recursive)
GAUSSWEEP_DECLARE_PORTABLE(gesv_residues)
GAUSSWEEP_DECLARE_FLOAT(gesv_halves)
GAUSSWEEP_DECLARE_CUDA(gesv_mixed_gmres)

namespace gaussweep {
namespace {

double flops_of(const Shape& shape) {
  return lu_flops(shape) + lu_solve_flops(shape);
}
/// Returns the number of elements that any method must read (A and B) or write (X).
double elements_moved(const Shape& shape) {
  return square_elements(shape) + 2.0 * columns_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "gesv";
  row.title = "X of A X = B";
  row.axes = {"n", "nrhs"};
  row.second = SecondOperand::right_hand_sides;
  row.b = row.x = columns_extent;
  row.flops = flops_of;
  row.elements = elements_moved;
  row.verifier = {verifiers::system_solution<float>, verifiers::system_solution<double>};
  row.tolerance = 16;  // largest ratio of a residual to its error bound that passes (kernels/check/check.hpp)
  return row;
}

Problem gesv() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

constexpr const char* fuhrmann =
    "F. Fuhrmann, Solving Linear Equations With the GPU Architecture, TU Wien 2017";
constexpr const char* xia_lee = "X. Xia, J. C. Lee, Modified CUDA Gaussian Elimination";
constexpr const char* cejka = "L. Čejka, Parallel LU Decomposition for the GPU, ČVUT 2022";

Parameter threads() {
  return integer_parameter("threads", 0, 0, 1024, "threads per block; 0: one per row, at most 1024");
}

std::vector<Parameter> cyclic_parameters() {
  return {integer_parameter("blocks", 8, 1, 65535, "blocks (stripes of rows) of the first stage"), threads(),
          choice_parameter(
              "back_substitution", {"reduction", "pipelined", "pipelined_locks"},
              "one block with sum reductions; a pipeline of blocks with one flag per unknown; or, as "
              "in the paper, a pipeline with one lock per unknown that every thread polls"),
          choice_parameter("preparation", {"none", "add_rows"},
                           "none, or adding rows to other rows until no element of A is 0")};
}

/// Returns the bytes for the row number of a stage's zero pivot (gauss_steps.cuh) and for the flags or locks
/// of the back substitution.
std::size_t cyclic_workspace(const Shape& shape, const Parameters& parameters, std::size_t) {
  return aligned_workspace_bytes(1, sizeof(int)) +
         aligned_workspace_bytes(substitution_ints(substitution(parameters), shape.n), sizeof(int));
}

/// Returns a method with the properties that all methods of Fuhrmann's thesis share.
Method fuhrmann_method(std::string variant, std::string summary) {
  Method method = make_method(gesv(), std::move(variant), std::move(summary), fuhrmann);
  method.needs = {Need::strongly_regular};
  method.layout = Layout::augmented;
  method.answer = AnswerIn::x;
  return method;
}

Method gauss_serial() {
  Method method = fuhrmann_method("gauss_serial", "Gaussian elimination on one CPU core");
  method.parameters = {choice_parameter("pivoting", {"none", "partial"},
                                        "none, or exchange rows for the largest pivot in the column")};
  return on_cpu(std::move(method), GAUSSWEEP_ENTRY(host, gesv_gauss_serial));
}

Method gauss_block() {
  Method method =
      fuhrmann_method("gauss_block", "Gaussian elimination by the threads of one block, no pivoting");
  method.parameters = {threads()};
  return in_batches(portable(std::move(method), GAUSSWEEP_ENTRIES(gesv_gauss_block)));
}

Method cyclic(std::string variant, std::string summary, PortableEntries entries) {
  Method method = fuhrmann_method(std::move(variant), std::move(summary));
  method.needs = {Need::nonzero_elements, Need::strongly_regular};
  method.parameters = cyclic_parameters();
  method.workspace_bytes = cyclic_workspace;
  return portable(std::move(method), entries);
}

Method cyclic_shared() {
  Method method = cyclic("gauss_cyclic_shared",
                         "row-cyclic Gaussian elimination with the subtracted row in shared memory",
                         GAUSSWEEP_ENTRIES(gesv_gauss_cyclic_shared));
  method.parameters.push_back(choice_parameter("schedule", {"decrement", "halving"},
                                               "one block fewer per stage, or half the blocks"));
  return method;
}

/// Returns a method with the properties that the methods of Xia and Lee share: [A | B] is row-major, and by
/// default the answer replaces B.
Method xia_lee_method(std::string variant, std::string summary) {
  Method method = make_method(gesv(), std::move(variant), std::move(summary), xia_lee);
  method.layout = Layout::augmented;
  method.answer = AnswerIn::b;
  return method;
}

Method gauss_pivot_serial() {
  Method method = xia_lee_method("gauss_pivot_serial",
                                 "Gaussian elimination with partial pivoting on one CPU core, n^3 / 3");
  method.answer = AnswerIn::x;
  return on_cpu(std::move(method), GAUSSWEEP_ENTRY(host, gesv_gauss_pivot_serial));
}

Method gauss_jordan_serial() {
  return on_cpu(
      xia_lee_method("gauss_jordan_serial", "Gauss-Jordan elimination with partial pivoting on one CPU core"),
      GAUSSWEEP_ENTRY(host, gesv_gauss_jordan_serial));
}

/// Returns the memory traffic in bytes. Iteration k reads and writes all rows except row k, in the columns
/// right of column k (`grid` shrinking) or in all columns (`grid` full).
double gauss_jordan_bytes(const Shape& shape, const Parameters& parameters, std::size_t element) {
  const auto n = static_cast<double>(shape.n);
  const double left_part = parameters.choice("grid") == "full" ? n * n : n * (n - 1) / 2;
  const double elements = (n - 1) * (left_part + n * static_cast<double>(shape.nrhs));
  return 2 * elements * static_cast<double>(element);
}

Method gauss_jordan(std::string variant, std::string summary, PortableEntries entries) {
  Method method = xia_lee_method(std::move(variant), std::move(summary));
  method.parameters = {
      choice_parameter("tile", {"16", "32"}, "a block has tile x tile threads"),
      choice_parameter(
          "grid", {"shrinking", "full"},
          "threads per iteration: for the remaining columns or, as in the paper, for all columns")};
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return aligned_workspace_bytes(shape.n, element);
  };
  method.bytes = gauss_jordan_bytes;
  return portable(std::move(method), entries);
}

/// Returns a method with the properties that Čejka's methods share: no pivoting, one factorisation for all
/// right-hand sides.
Method cejka_method(std::string variant, std::string summary) {
  Method method = make_method(gesv(), std::move(variant), std::move(summary), cejka);
  method.needs = {Need::strongly_regular};
  method.answer = AnswerIn::b;
  return method;
}

Method crout() {
  Method method = cejka_method("crout", "Crout's factorisation and substitutions on one CPU core");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return aligned_workspace_bytes(shape.n, element);
  };
  return in_batches(on_cpu(std::move(method), GAUSSWEEP_ENTRY(host, gesv_crout)));
}

Method lu_fixed_point() {
  Method method = cejka_method("lu_fixed_point", "L and U by fixed-point iteration, then substitutions");
  method.parameters = fixed_point_parameters();
  method.iterations = fixed_point_iterations;
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return aligned_workspace_bytes(shape.n * shape.n, element) +
           fixed_point_workspace(shape, parameters, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(gesv_lu_fixed_point));
}

/// Returns a method with column-major A and B whose answer replaces B.
Method in_place(std::string variant, std::string summary, std::string source) {
  Method method = make_method(gesv(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::b;
  return method;
}

Method recursive() {
  Method method =
      in_place("recursive", "LU with partial pivoting, recursive in columns; both solves in one launch",
               "gaussweep, after S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997");
  method.accepts = lu::panels_fit_in_cluster;
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element) {
    return mixed::direct_bytes(shape.n, shape.nrhs, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(gesv_recursive), /*capability=*/90);
}

Method multi_gpu() {
  Method method =
      lu::on_several_gpus(in_place("multi_gpu", "LU with partial pivoting of one matrix on several GPUs",
                                   "gaussweep, after S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997"));
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    if (parameters.integer("gpus") == 1 || lu::uses_one_gpu(shape, parameters))
      return mixed::direct_bytes(shape.n, shape.nrhs, element);
    return aligned_workspace_bytes(shape.n, sizeof(int)) + travelling_bytes(shape, element) +
           lu::multi_gpu_bytes(shape, parameters, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(gesv_multi_gpu), /*capability=*/90);
}

Method by_residues() {
  Method method = in_place("residues", "recursive, with large products by INT8 residues if that is faster",
                           "gaussweep, after K. Ozaki, Y. Uchino, T. Imamura, arXiv:2504.08009");
  method.mixed_precision = true;
  method.parameters = lu::residue_parameters();
  method.accepts = lu::accepts_residues;
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return aligned_workspace_bytes(shape.n, sizeof(int)) +
           aligned_workspace_bytes(
               static_cast<std::int64_t>(solve_lu_workspace(shape.n, shape.nrhs, element)), 1) +
           lu::residue_bytes(shape, parameters, element);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(gesv_residues), /*capability=*/90);
}

Method by_halves() {
  Method method = in_place("halves", "recursive, with large products of floats by split halves",
                           "gaussweep, after H. Ootomo, R. Yokota, IJHPCA 36, 2022");
  method.mixed_precision = true;
  method.parameters = halves::lu_parameters();
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.n <= lu::max_rows; };
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return mixed::direct_bytes(shape.n, shape.nrhs, element) +
           halves::lu_bytes(shape.n, parameters, /*includes_solves=*/false);
  };
  return portable(std::move(method), GAUSSWEEP_FLOAT_ENTRIES(gesv_halves), /*capability=*/90);
}

Method mixed_gmres() {
  Method method = in_place(
      "mixed_gmres", "LU in float with tensor-core products, GMRES to full precision; else as recursive",
      "gaussweep, after E. Carson, N. J. Higham, SIAM J. Sci. Comput. 40, 2018");
  method.mixed_precision = true;
  method.parameters = {
      integer_parameter("float_from", 0, 0, lu::max_rows + 1,
                        "smallest n for which factors in float are tried (below: recursive); "
                        "0: they are tried if that is expected to be faster")};
  method.accepts = [](const Shape& shape, const Parameters&) { return shape.n <= lu::max_rows; };
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    return mixed::workspace_bytes(shape.n, shape.nrhs, element, parameters.integer("float_from"));
  };
  return on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(gesv_mixed_gmres), /*capability=*/90);
}

Method lapack() {
  return library(
      in_batches(on_cpu(in_place("lapack", "LU with partial pivoting on the CPU (getrf, getrs)", "LAPACK"),
                        GAUSSWEEP_ENTRY(host, gesv_lapack))));
}

Method cublas() {
  Method method =
      in_place("cublas", "LU with partial pivoting of many small systems (getrfBatched, getrsBatched)",
               "NVIDIA cuBLAS");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t) {
    return 2 * aligned_workspace_bytes(shape.batch, sizeof(void*)) +
           aligned_workspace_bytes(shape.n * shape.batch, sizeof(int));
  };
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(gesv_cublas))));
}

Method batched() {
  Method method = make_method(
      gesv(), "batched", "LU with partial pivoting of many small systems, with rows or panels in registers",
      "gaussweep");
  method.parameters = batched::parameters();
  method.accepts = batched::accepts;
  method.workspace_bytes = [](const Shape& shape, const Parameters& parameters, std::size_t element) {
    const bool in_registers = batched::solves_in_registers(shape, parameters, element);
    return in_registers || shape.nrhs == 1 ? 0 : batched::row_order_bytes(shape);
  };
  return in_batches(portable(std::move(method), GAUSSWEEP_ENTRIES(gesv_batched)));
}

Method cusolver() {
  return library(
      on_gpu(in_place("cusolver", "LU with partial pivoting on the GPU (getrf, getrs)", "NVIDIA cuSOLVER"),
             GAUSSWEEP_CUDA_ENTRY(gesv_cusolver)));
}

Method cusolver_mg() {
  Method method =
      in_place("cusolver_mg", "LU with partial pivoting on several GPUs (getrf, getrs)", "NVIDIA cuSOLVERMg");
  return on_cusolver_mg(std::move(method), GAUSSWEEP_CUDA_ENTRY(gesv_cusolver_mg));
}

Method cusolver_irs() {
  Method method =
      make_method(gesv(), "cusolver_irs",
                  "LU in a lower precision on the GPU with iterative refinement (IRSXgesv); else as cusolver",
                  "NVIDIA cuSOLVER");
  method.answer = AnswerIn::x;
  method.mixed_precision = true;
  method.max_nrhs = 1;
  method.parameters = {
      choice_parameter("lowest", {"float", "tf32", "bfloat16", "half"}, "precision of the factors"),
      choice_parameter("refinement", {"gmres", "gmres_gmres", "classical", "classical_gmres"},
                       "the refining solver")};
  return library(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(gesv_cusolver_irs)));
}

std::vector<Method> methods() {
  return {gauss_serial(),
          gauss_block(),
          cyclic("gauss_cyclic_halving", "row-cyclic Gaussian elimination, half the blocks per stage",
                 GAUSSWEEP_ENTRIES(gesv_gauss_cyclic_halving)),
          cyclic("gauss_cyclic_decrement", "row-cyclic Gaussian elimination, one block fewer per stage",
                 GAUSSWEEP_ENTRIES(gesv_gauss_cyclic_decrement)),
          cyclic_shared(),
          gauss_pivot_serial(),
          gauss_jordan_serial(),
          gauss_jordan("gauss_jordan_global",
                       "Gauss-Jordan elimination with partial pivoting, from global memory",
                       GAUSSWEEP_ENTRIES(gesv_gauss_jordan_global)),
          in_batches(gauss_jordan("gauss_jordan_shared",
                                  "Gauss-Jordan elimination with partial pivoting, by tiles in shared memory",
                                  GAUSSWEEP_ENTRIES(gesv_gauss_jordan_shared))),
          crout(),
          lu_fixed_point(),
          recursive(),
          multi_gpu(),
          by_residues(),
          by_halves(),
          mixed_gmres(),
          batched(),
          lapack(),
          cusolver(),
          cusolver_mg(),
          cusolver_irs(),
          cublas()};
}

}  // namespace

ProblemTable gesv_table() {
  return {gesv(), methods};
}

}  // namespace gaussweep
