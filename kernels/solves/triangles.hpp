#pragma once
/// Solves systems with given triangles or factors, on the backend of the context's device. Programs call
/// these functions. They are not methods of the registry, because a trial begins with an unfactored matrix.

#include "kernels/trsv/wide_solve.hpp"

namespace gaussweep {

/// Returns the bytes of workspace for solve_with_factors. @param element bytes per element
std::size_t factors_workspace(std::int64_t n, std::int64_t nrhs, std::size_t element);

/// Solves A X = B with getrf's factors P A = L U and LAPACK's pivots (from 1). X replaces B (n x nrhs).
/// `workspace`: factors_workspace bytes, aligned to 256. A 0 on U's diagonal leads to non-finite numbers.
template <class T>
void solve_with_factors(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,
                        const int* pivots, T* b, std::int64_t ldb, void* workspace);

/// Returns the bytes of workspace for solve_with_triangle. @param element bytes per element
std::size_t triangle_workspace(std::int64_t n, std::int64_t nrhs, std::size_t element);

/// Computes B = op(A)^-1 B for B of n x nrhs. `workspace`: triangle_workspace bytes, aligned to 256. A 0 on
/// the diagonal leads to non-finite numbers. A GPU must have compute capability 9.0.
template <class T>
void solve_with_triangle(Context& context, const TriangleView<T>& a, std::int64_t nrhs, T* b,
                         std::int64_t ldb, void* workspace);

}  // namespace gaussweep
