#pragma once
/// Declares the solve with one triangle for many right-hand sides (wide_solve.cu), per backend.

#include <cstddef>
#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/vendor/enums.hpp"

namespace gaussweep {

/// A triangle of a column-major matrix, or its transpose.
template <class T>
struct TriangleView {
  const T* data;
  std::int64_t ld;
  std::int64_t n;
  Uplo uplo;  ///< the stored triangle; the other one is not read
  vendor::Op op;
  vendor::Diagonal diagonal;
};

/// Returns the bytes of workspace for solve_wide.
inline std::size_t solve_wide_workspace(std::int64_t n, std::size_t element_bytes) {
  constexpr std::int64_t block = 256;  // lu::max_solve_rows_per_launch
  return aligned_workspace_bytes(n * block, element_bytes) + aligned_workspace_bytes(n, element_bytes);
}

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_WIDE_SOLVE(space)                                                                  \
  namespace gaussweep::space {                                                                               \
  /** Computes B = op(A)^-1 B, B n x nrhs and column-major. `workspace`: solve_wide_workspace bytes, aligned \
      to 256. A 0 on the diagonal leads to non-finite numbers. Needs compute capability 9.0. */              \
  template <class T>                                                                                         \
  void solve_wide(Context& context, const TriangleView<T>& a, std::int64_t nrhs, T* b, std::int64_t ldb,     \
                  void* workspace);                                                                          \
  }

GAUSSWEEP_DECLARE_WIDE_SOLVE(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_WIDE_SOLVE(cuda)
#endif
