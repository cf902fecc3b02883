/// The registry's rows for the problem trtri: the problem itself and its methods.

#include "kernels/check/verifiers.hpp"
#include "kernels/geinv/distributed_workspace.hpp"
#include "kernels/registry/flops.hpp"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels_workspace.hpp"

GAUSSWEEP_DECLARE_PORTABLE(trtri_gets)
GAUSSWEEP_DECLARE_PORTABLE(trtri_gets_adaptive)
GAUSSWEEP_DECLARE_PORTABLE(trtri_levels)
GAUSSWEEP_DECLARE_PORTABLE(trtri_multi_gpu)
GAUSSWEEP_DECLARE_IN(host, trtri_lapack)
GAUSSWEEP_DECLARE_CUDA(trtri_cusolver)

namespace gaussweep {
namespace {

double operations(const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  return n * n * n / 3.0 + 2.0 / 3.0 * n;
}
/// Returns the minimum number of elements moved: the triangle is read, and its inverse is written.
double elements_moved(const Shape& shape) {
  return 2.0 * triangle_elements(shape);
}

ProblemRow problem_row() {
  ProblemRow row;
  row.name = "trtri";
  row.title = "the inverse of a triangular matrix";
  row.axes = {"n", "uplo"};
  row.needs = {Need::triangular, Need::nonzero_diagonal};
  row.used_of_a = row.used_of_x = UsedElements::triangle;
  row.flops = operations;
  row.elements = elements_moved;
  row.verifier = {verifiers::inverse<float>, verifiers::inverse<double>};
  row.tolerance = 30;  // largest accepted ratio of the error to its bound
  return row;
}

Problem trtri() {
  static const ProblemRow the_row = problem_row();
  return Problem(the_row);
}

/// Returns a method whose inverse overwrites the triangle `uplo` of A.
Method trtri_method(std::string variant, std::string summary, std::string source) {
  Method method = make_method(trtri(), std::move(variant), std::move(summary), std::move(source));
  method.answer = AnswerIn::a;
  return method;
}

/// Returns the bytes moved by GETS (gets_steps.cuh). Step k reads and writes the part of X that it changes.
/// In the end all elements of X are read, divided and written.
double gets_bytes(const Shape& shape, const Parameters&, std::size_t element_bytes) {
  const auto n = static_cast<double>(shape.n);
  const double changed = (n - 1) * n * (n + 1) / 6 + n * n;
  return 2 * changed * static_cast<double>(element_bytes);
}

Method gets(std::string variant, std::string summary, PortableEntries entries) {
  Method method = trtri_method(std::move(variant), std::move(summary),
                               "J. Soriano Pinedo, Matrix Inversion Speed Up with CUDA, IIT 2011");
  method.answer = AnswerIn::x;
  method.overwrites = false;
  method.parameters = {choice_parameter("threads", {"512", "1024", "256", "128"}, "threads per block")};
  method.bytes = gets_bytes;
  return portable(std::move(method), entries);
}

Method by_levels() {
  Method method =
      trtri_method("levels", "level by level, by products that join pairs of inverses", "gaussweep");
  method.answer = AnswerIn::x;
  method.overwrites = false;
  method.workspace_bytes = [](const Shape& shape, const Parameters&, std::size_t element_bytes) {
    return aligned_workspace_bytes(levels::workspace_elements(shape.n), element_bytes);
  };
  return portable(std::move(method), GAUSSWEEP_ENTRIES(trtri_levels));
}

Method multi_gpu() {
  Method method = trtri_method("multi_gpu", "substitution by block columns on several GPUs", "gaussweep");
  method.parameters = {gpus_parameter(), inverse::block_parameter("512, or 256 up to n = 24576"),
                       inverse::panel_parameter(), inverse::gpus_from_parameter()};
  method.answer = AnswerIn::x;
  method.uses_one_gpu = inverse::uses_one_gpu;
  method.column_block = inverse::trtri_block;
  method.workspace_bytes = inverse::trtri_bytes;
  return portable(std::move(method), GAUSSWEEP_ENTRIES(trtri_multi_gpu), /*capability=*/90);
}

Method lapack() {
  return library(on_cpu(trtri_method("lapack", "inverse of a triangular matrix on the CPU (trtri)", "LAPACK"),
                        GAUSSWEEP_ENTRY(host, trtri_lapack)));
}

Method cusolver() {
  return library(on_gpu(
      trtri_method("cusolver", "inverse of a triangular matrix on the GPU (Xtrtri)", "NVIDIA cuSOLVER"),
      GAUSSWEEP_CUDA_ENTRY(trtri_cusolver)));
}

std::vector<Method> methods() {
  return {gets("gets", "Gaussian elimination, one launch per row", GAUSSWEEP_ENTRIES(trtri_gets)),
          gets("gets_adaptive",
               "Gaussian elimination, one launch per row, thread blocks shaped for the remaining rows",
               GAUSSWEEP_ENTRIES(trtri_gets_adaptive)),
          by_levels(),
          multi_gpu(),
          lapack(),
          cusolver()};
}

}  // namespace

ProblemTable trtri_table() {
  return {trtri(), methods};
}

}  // namespace gaussweep
