// Implements gesv_refined of cuda_blas.hpp.

#include <map>
#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep::vendor {
namespace {

const std::map<std::string, cusolverPrecType_t> precisions = {{"float", CUSOLVER_R_32F},
                                                              {"tf32", CUSOLVER_R_TF32},
                                                              {"bfloat16", CUSOLVER_R_16BF},
                                                              {"half", CUSOLVER_R_16F}};
const std::map<std::string, cusolverIRSRefinement_t> refinements = {
    {"gmres", CUSOLVER_IRS_REFINE_GMRES},
    {"gmres_gmres", CUSOLVER_IRS_REFINE_GMRES_GMRES},
    {"classical", CUSOLVER_IRS_REFINE_CLASSICAL},
    {"classical_gmres", CUSOLVER_IRS_REFINE_CLASSICAL_GMRES}};

/// The settings of one call, and the report object that cuSOLVER requires. The destructor frees both.
struct RefinementHandles {
  RefinementHandles() {
    GAUSSWEEP_CUSOLVER(cusolverDnIRSParamsCreate(&settings));
    GAUSSWEEP_CUSOLVER(cusolverDnIRSInfosCreate(&report));
  }
  ~RefinementHandles() {
    cusolver_library().cusolverDnIRSParamsDestroy(settings);
    if (report != nullptr) cusolver_library().cusolverDnIRSInfosDestroy(report);
  }
  RefinementHandles(const RefinementHandles&) = delete;
  RefinementHandles& operator=(const RefinementHandles&) = delete;

  cusolverDnIRSParams_t settings = nullptr;
  cusolverDnIRSInfos_t report = nullptr;
};

/// Solves A x = b by iterative refinement, for one right-hand side. Returns the number of iterations, or
/// a negative number if the refinement failed or the matrix is singular.
template <class T>
int solve(VendorHandles& handles, std::int64_t n, const std::string& lowest, const std::string& refinement,
          T* a, std::int64_t lda, T* b, std::int64_t ldb, T* x, std::int64_t ldx, int* info) {
  const RefinementHandles call;
  constexpr auto main_precision = sizeof(T) == sizeof(double) ? CUSOLVER_R_64F : CUSOLVER_R_32F;
  GAUSSWEEP_CUSOLVER(
      cusolverDnIRSParamsSetSolverPrecisions(call.settings, main_precision, precisions.at(lowest)));
  GAUSSWEEP_CUSOLVER(cusolverDnIRSParamsSetRefinementSolver(call.settings, refinements.at(refinement)));
  // Without this, cuSOLVER solves again in the main precision if the refinement does not converge.
  GAUSSWEEP_CUSOLVER(cusolverDnIRSParamsDisableFallback(call.settings));
  std::size_t bytes = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnIRSXgesv_bufferSize(handles.solver(), call.settings, to_int(n), /*nrhs=*/1, &bytes));
  int iterations = 0;
  const cusolverStatus_t status = cusolver_library().cusolverDnIRSXgesv(
      handles.solver(), call.settings, call.report, to_int(n), /*nrhs=*/1, a, to_int(lda), b, to_int(ldb), x,
      to_int(ldx), handles.scratch(bytes), bytes, &iterations, info);
  if (status == CUSOLVER_STATUS_IRS_NOT_SUPPORTED || status == CUSOLVER_STATUS_ARCH_MISMATCH) {
    throw NotOffered("cuSOLVER does not refine with lowest: " + lowest + " and refinement: " + refinement +
                     " on this GPU");
  }
  if (status == CUSOLVER_STATUS_IRS_MATRIX_SINGULAR) return -1;
  if (status != CUSOLVER_STATUS_SUCCESS) throw_cusolver(status, "cusolverDnIRSXgesv", __FILE__, __LINE__);
  return iterations;
}

}  // namespace

int gesv_refined(VendorHandles& handles, std::int64_t n, const std::string& lowest,
                 const std::string& refinement, float* a, std::int64_t lda, float* b, std::int64_t ldb,
                 float* x, std::int64_t ldx, int* info) {
  return solve(handles, n, lowest, refinement, a, lda, b, ldb, x, ldx, info);
}
int gesv_refined(VendorHandles& handles, std::int64_t n, const std::string& lowest,
                 const std::string& refinement, double* a, std::int64_t lda, double* b, std::int64_t ldb,
                 double* x, std::int64_t ldx, int* info) {
  return solve(handles, n, lowest, refinement, a, lda, b, ldb, x, ldx, info);
}

}  // namespace gaussweep::vendor
