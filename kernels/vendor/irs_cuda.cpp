#include <stdexcept>
#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/vendor/blas.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep::vendor {
namespace {

/// The parameters of one call; destroyed in any case.
class SolveSettings {
 public:
  SolveSettings() { GAUSSWEEP_CUSOLVER(cusolverDnIRSParamsCreate(&handle_)); }
  ~SolveSettings() { cusolver_library().cusolverDnIRSParamsDestroy(handle_); }
  SolveSettings(const SolveSettings&) = delete;
  SolveSettings& operator=(const SolveSettings&) = delete;
  cusolverDnIRSParams_t get() const { return handle_; }

 private:
  cusolverDnIRSParams_t handle_ = nullptr;
};

/// What cuSOLVER reports about one call; destroyed in any case.
class SolveReport {
 public:
  SolveReport() { GAUSSWEEP_CUSOLVER(cusolverDnIRSInfosCreate(&handle_)); }
  ~SolveReport() { cusolver_library().cusolverDnIRSInfosDestroy(handle_); }
  SolveReport(const SolveReport&) = delete;
  SolveReport& operator=(const SolveReport&) = delete;
  cusolverDnIRSInfos_t get() const { return handle_; }

 private:
  cusolverDnIRSInfos_t handle_ = nullptr;
};

template <class T>
constexpr cusolverPrecType_t main_precision = sizeof(T) == sizeof(double) ? CUSOLVER_R_64F : CUSOLVER_R_32F;

cusolverPrecType_t precision_of(LowestPrecision lowest) {
  switch (lowest) {
    case LowestPrecision::float32:
      return CUSOLVER_R_32F;
    case LowestPrecision::tf32:
      return CUSOLVER_R_TF32;
    case LowestPrecision::bfloat16:
      return CUSOLVER_R_16BF;
    case LowestPrecision::float16:
      return CUSOLVER_R_16F;
  }
  throw std::invalid_argument("gesv_refined: a precision without a name");
}

cusolverIRSRefinement_t solver_of(Refinement refinement) {
  switch (refinement) {
    case Refinement::classical:
      return CUSOLVER_IRS_REFINE_CLASSICAL;
    case Refinement::gmres:
      return CUSOLVER_IRS_REFINE_GMRES;
    case Refinement::classical_gmres:
      return CUSOLVER_IRS_REFINE_CLASSICAL_GMRES;
    case Refinement::gmres_gmres:
      return CUSOLVER_IRS_REFINE_GMRES_GMRES;
  }
  throw std::invalid_argument("gesv_refined: a refinement without a name");
}

template <class T>
int solve(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, LowestPrecision lowest,
          Refinement refinement, T* a, std::int64_t lda, T* b, std::int64_t ldb, T* x, std::int64_t ldx,
          int* info) {
  const SolveSettings settings;
  const SolveReport report;
  GAUSSWEEP_CUSOLVER(
      cusolverDnIRSParamsSetSolverPrecisions(settings.get(), main_precision<T>, precision_of(lowest)));
  GAUSSWEEP_CUSOLVER(cusolverDnIRSParamsSetRefinementSolver(settings.get(), solver_of(refinement)));
  std::size_t bytes = 0;
  GAUSSWEEP_CUSOLVER(
      cusolverDnIRSXgesv_bufferSize(handles.solver(), settings.get(), to_int(n), to_int(nrhs), &bytes));
  int iterations = 0;
  const cusolverStatus_t status = cusolver_library().cusolverDnIRSXgesv(
      handles.solver(), settings.get(), report.get(), to_int(n), to_int(nrhs), a, to_int(lda), b, to_int(ldb),
      x, to_int(ldx), handles.scratch(bytes), bytes, &iterations, info);
  if (status == CUSOLVER_STATUS_IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES) {
    throw NotOffered("cuSOLVER refines one right-hand side by GMRES; choose refinement: classical");
  }
  if (status == CUSOLVER_STATUS_IRS_NOT_SUPPORTED || status == CUSOLVER_STATUS_ARCH_MISMATCH) {
    throw NotOffered("cuSOLVER does not offer this refinement on this GPU");
  }
  if (status != CUSOLVER_STATUS_SUCCESS && status != CUSOLVER_STATUS_IRS_MATRIX_SINGULAR) {
    throw_cusolver(status, "cusolverDnIRSXgesv", __FILE__, __LINE__);
  }
  return iterations;
}

}  // namespace

int gesv_refined(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, LowestPrecision lowest,
                 Refinement refinement, float* a, std::int64_t lda, float* b, std::int64_t ldb, float* x,
                 std::int64_t ldx, int* info) {
  return solve(handles, n, nrhs, lowest, refinement, a, lda, b, ldb, x, ldx, info);
}
int gesv_refined(VendorHandles& handles, std::int64_t n, std::int64_t nrhs, LowestPrecision lowest,
                 Refinement refinement, double* a, std::int64_t lda, double* b, std::int64_t ldb, double* x,
                 std::int64_t ldx, int* info) {
  return solve(handles, n, nrhs, lowest, refinement, a, lda, b, ldb, x, ldx, info);
}

}  // namespace gaussweep::vendor
