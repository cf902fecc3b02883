/// gesv/cusolver_irs: LU in a lower precision with iterative refinement on the GPU, cuSOLVER's IRSXgesv.
///
/// Layout: column-major; X is a separate matrix. Cost: 2/3 n^3 operations in the lowest precision
/// and 4 n^2 nrhs per iteration. Workspace: IRSXgesv's buffer. Only cuSOLVER on a GPU can report its size, so
/// VendorHandles keeps it; the first run of a size (the warm-up) allocates it. The report holds the number of
/// iterations; its convergence is `converged`, or empty if cuSOLVER solved the system in full precision
/// instead. GMRES takes one right-hand side. A must be nonsingular.

#include <map>
#include <string>

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_cusolver_irs(Context& context, Operands<T>& op, const Parameters& parameters) {
  using vendor::LowestPrecision;
  using vendor::Refinement;
  static const std::map<std::string, LowestPrecision> precisions = {
      {"auto", sizeof(T) == sizeof(double) ? LowestPrecision::float32 : LowestPrecision::tf32},
      {"float", LowestPrecision::float32},
      {"tf32", LowestPrecision::tf32},
      {"bfloat16", LowestPrecision::bfloat16},
      {"half", LowestPrecision::float16}};
  static const std::map<std::string, Refinement> refinements = {
      {"auto", Refinement::gmres},
      {"gmres", Refinement::gmres},
      {"classical", Refinement::classical},
      {"classical_gmres", Refinement::classical_gmres},
      {"gmres_gmres", Refinement::gmres_gmres}};
  const std::string& requested = parameters.choice("refinement");
  const Refinement refinement =
      requested == "auto" && op.shape.nrhs > 1 ? Refinement::classical : refinements.at(requested);
  context.report = {};
  context.stage("solve");
  const int iterations = vendor::gesv_refined(
      vendor_handles(context), op.shape.n, op.shape.nrhs, precisions.at(parameters.choice("lowest")),
      refinement, op.a.data, op.a.ld, op.b.data, op.b.ld, op.x.data, op.x.ld, op.info);
  context.report.iterations = iterations < 0 ? 0 : iterations;
  if (iterations >= 0) context.report.convergence = Convergence::converged;
}

GAUSSWEEP_INSTANTIATE(gesv_cusolver_irs)

}  // namespace gaussweep::cuda
