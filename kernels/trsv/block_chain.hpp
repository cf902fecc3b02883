#pragma once
/// Solves with one triangle, or with both triangles of an LU or Cholesky decomposition, in one launch each
/// (block_chain.cu).

#include <cstddef>
#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/trsv/workspaces.hpp"
#include "kernels/vendor/enums.hpp"

#define GAUSSWEEP_DECLARE_BLOCK_CHAIN(space)                                                                 \
  namespace gaussweep::space {                                                                               \
  /** Solves op(A) x = b in place of b (n x nrhs, column-major). Reads only the triangle `uplo` of the n x n \
      matrix, without its diagonal if that is unit. `workspace`: solve_triangle_workspace bytes, aligned to  \
      256. Sets `info` (on the method's backend; may be null) to i if a(i, i), from 1, is the first 0 on the \
      diagonal (the answer is then not finite), or to -1 if a wait between blocks timed out (the answer is   \
      then NaN); otherwise leaves it unchanged. */                                                           \
  template <class T>                                                                                         \
  void solve_triangle(Context& context, Uplo uplo, vendor::Diagonal diagonal, std::int64_t n,                \
                      std::int64_t nrhs, const T* a, std::int64_t ld, T* b, std::int64_t ldb,                \
                      void* workspace, int* info, vendor::Op op = vendor::Op::none);                         \
  /** Solves A x = b in place of b, from getrf's factors P A = L U in `lu` and LAPACK's pivots, from 1, on   \
      the method's backend, or null for no exchanges. `workspace`: solve_lu_workspace bytes, aligned to 256. \
      `info` as in solve_triangle, for U's diagonal. */                                                      \
  template <class T>                                                                                         \
  void solve_lu(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,           \
                const int* pivots, T* b, std::int64_t ldb, void* workspace, int* info);                      \
  /** Solves A x = b in place of b, from A = L L^T with L in the lower triangle of `l` and L^T in the upper  \
      one. `workspace` and `info` as in solve_lu. */                                                         \
  template <class T>                                                                                         \
  void solve_cholesky(Context& context, std::int64_t n, std::int64_t nrhs, const T* l, std::int64_t ld,      \
                      T* b, std::int64_t ldb, void* workspace, int* info);                                   \
  }

GAUSSWEEP_DECLARE_BLOCK_CHAIN(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_BLOCK_CHAIN(cuda)
#endif
