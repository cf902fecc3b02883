/// Solves systems with given triangles or factors, on the backend of the context's device.

#include "kernels/solves/triangles.hpp"

#include <algorithm>

#include "kernels/trsv/block_chain.hpp"

namespace gaussweep {
namespace {

/// The maximum number of right-hand sides for which solve_triangle is faster than solve_wide.
constexpr std::int64_t max_narrow = 128;

}  // namespace

std::size_t factors_workspace(std::int64_t n, std::int64_t nrhs, std::size_t element) {
  return solve_lu_workspace(n, nrhs, element);
}

template <class T>
void solve_with_factors(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,
                        const int* pivots, T* b, std::int64_t ldb, void* workspace) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::solve_lu(context, n, nrhs, lu, ld, pivots, b, ldb, workspace, nullptr);
#endif
  emulated::solve_lu(context, n, nrhs, lu, ld, pivots, b, ldb, workspace, nullptr);
}

std::size_t triangle_workspace(std::int64_t n, std::int64_t nrhs, std::size_t element) {
  return nrhs <= max_narrow ? solve_triangle_workspace(n, nrhs, element) : solve_wide_workspace(n, element);
}

template <class T>
void solve_with_triangle(Context& context, const TriangleView<T>& a, std::int64_t nrhs, T* b,
                         std::int64_t ldb, void* workspace) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) {
    if (nrhs > max_narrow) return cuda::solve_wide(context, a, nrhs, b, ldb, workspace);
    return cuda::solve_triangle<T>(context, a.uplo, a.diagonal, a.n, nrhs, a.data, a.ld, b, ldb, workspace,
                                   nullptr, a.op);
  }
#endif
  if (nrhs > max_narrow) return emulated::solve_wide(context, a, nrhs, b, ldb, workspace);
  emulated::solve_triangle<T>(context, a.uplo, a.diagonal, a.n, nrhs, a.data, a.ld, b, ldb, workspace,
                              nullptr, a.op);
}

template void solve_with_factors<float>(Context&, std::int64_t, std::int64_t, const float*, std::int64_t,
                                        const int*, float*, std::int64_t, void*);
template void solve_with_factors<double>(Context&, std::int64_t, std::int64_t, const double*, std::int64_t,
                                         const int*, double*, std::int64_t, void*);
template void solve_with_triangle<float>(Context&, const TriangleView<float>&, std::int64_t, float*,
                                         std::int64_t, void*);
template void solve_with_triangle<double>(Context&, const TriangleView<double>&, std::int64_t, double*,
                                          std::int64_t, void*);

}  // namespace gaussweep
