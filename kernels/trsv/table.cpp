/// The registry's rows for the problem trsv: the problem itself and its methods.

#include "kernels/check/verifiers.hpp"
#include "kernels/registry/flops.hpp"
#include "kernels/tables.hpp"
#include "kernels/trsv/workspaces.hpp"

GAUSSWEEP_DECLARE_IN(host, trsv_serial)
GAUSSWEEP_DECLARE_IN(host, trsv_serial_rows)
GAUSSWEEP_DECLARE_PORTABLE(trsv_column_sweep)
GAUSSWEEP_DECLARE_PORTABLE(trsv_pair_sweep)
GAUSSWEEP_DECLARE_PORTABLE(trsv_doubling)
GAUSSWEEP_DECLARE_PORTABLE(trsv_doubling_shared)
GAUSSWEEP_DECLARE_PORTABLE(trsv_gets)
GAUSSWEEP_DECLARE_PORTABLE(trsv_inverted_blocks)
GAUSSWEEP_DECLARE_IN(host, trsv_openblas)
GAUSSWEEP_DECLARE_CUDA(trsv_cublas)

namespace gaussweep {
namespace {

double operations(const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  return static_cast<double>(shape.nrhs) * (n * n);
}
/// Returns the minimum number of elements moved: A's triangle and B are read, X is written.
double elements_moved(const Shape& shape) {
  return triangle_elements(shape) + 2.0 * columns_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "trsv";
  row.title = "X of A X = B, A triangular";
  row.axes = {"n", "nrhs", "uplo"};
  row.needs = {Need::triangular, Need::nonzero_diagonal};
  row.second = SecondOperand::right_hand_sides;
  row.b = row.x = columns_extent;
  row.used_of_a = UsedElements::triangle;
  row.flops = operations;
  row.elements = elements_moved;
  row.verifier = {verifiers::solution<float>, verifiers::solution<double>};
  row.tolerance = 16;  // largest accepted ratio of the error to its bound
  return row;
}

Problem trsv() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

constexpr const char* course_report = "Algorithmic Techniques: Dense Lower Triangular Solver (course report)";

/// Returns a method with the properties that all trsv methods share: column-major A and b; the answer
/// replaces b.
Method trsv_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(trsv(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::b;
  return method;
}

Method serial() {
  return on_cpu(trsv_method("serial", "substitution by columns on one CPU core", course_report),
                GAUSSWEEP_ENTRY(host, trsv_serial));
}

Method serial_rows() {
  Method method = trsv_method("serial_rows", "substitution by rows on one CPU core", course_report);
  method.layout = Layout::row_major;
  return on_cpu(std::move(method), GAUSSWEEP_ENTRY(host, trsv_serial_rows));
}

Method gets() {
  Method method = trsv_method("gets", "Gaussian elimination, one launch per row",
                              "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.parameters = {choice_parameter("threads", {"512", "1024", "256", "128"}, "threads per block")};
  return portable(std::move(method), GAUSSWEEP_ENTRIES(trsv_gets));
}

/// Returns a GPU method of the course report.
Method report_method(std::string variant, std::string summary, PortableEntries entries) {
  Method method = trsv_method(std::move(variant), std::move(summary), course_report);
  method.max_nrhs = 65535;  // a grid has one row of blocks per right-hand side
  return portable(std::move(method), entries);
}

Method inverted_blocks() {
  Method method = trsv_method(
      "inverted_blocks",
      "one launch: block rows of 64 with inverted diagonal triangles, synchronised by polling", "gaussweep");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element_bytes) {
    return solve_triangle_workspace(shape.n, shape.nrhs, element_bytes);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(trsv_inverted_blocks));
}

Method openblas() {
  return library(in_batches(
      on_cpu(trsv_method("openblas", "BLAS trsv (one right-hand side) or trsm on the CPU", "OpenBLAS"),
             GAUSSWEEP_ENTRY(host, trsv_openblas))));
}

Method cublas() {
  Method method = trsv_method("cublas", "BLAS trsv (one right-hand side) or trsm on the GPU (trsmBatched)",
                              "NVIDIA cuBLAS");
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t) {
    return shape.batch == 1 ? 0 : 2 * aligned_workspace_bytes(shape.batch, sizeof(void*));
  };
  return library(in_batches(on_gpu(std::move(method), GAUSSWEEP_CUDA_ENTRY(trsv_cublas))));
}

std::vector<Method> methods() {
  return {
      serial(),
      serial_rows(),
      report_method("column_sweep", "substitution, one launch per column and one thread per row",
                    GAUSSWEEP_ENTRIES(trsv_column_sweep)),
      report_method("pair_sweep", "2 x 2 triangles solved first, then substitution by two columns per launch",
                    GAUSSWEEP_ENTRIES(trsv_pair_sweep)),
      report_method("doubling",
                    "2 x 2 triangles solved first, then triangles of order 4, 8, ... by row operations",
                    GAUSSWEEP_ENTRIES(trsv_doubling)),
      report_method("doubling_shared", "doubling, with tiles in shared memory from blocks of 32 on",
                    GAUSSWEEP_ENTRIES(trsv_doubling_shared)),
      gets(),
      inverted_blocks(),
      openblas(),
      cublas()};
}

}  // namespace

ProblemTable trsv_table() {
  return {trsv(), methods};
}

}  // namespace gaussweep
