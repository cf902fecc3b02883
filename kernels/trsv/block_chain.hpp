#pragma once
/// Solves with one triangle, or with both triangles of an LU or Cholesky decomposition (block_chain.cu). One
/// launch solves for up to 512 right-hand sides. The macro declares the functions in a backend's namespace:
/// `cuda`, or `emulated` (the same kernels on the CPU).

#include <cstddef>
#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/trsv/workspaces.hpp"
#include "kernels/vendor/enums.hpp"

#define GAUSSWEEP_DECLARE_BLOCK_CHAIN(space)                                                                \
  namespace gaussweep::space {                                                                              \
  /** Solves op(A) x = b in place of b (n x nrhs, column-major). Reads only the triangle `uplo` of the n x  \
      n matrix, without the diagonal if `diagonal` is unit. `workspace`: solve_triangle_workspace bytes,    \
      aligned to 256. `info` is in the memory of the method's backend, or null. It becomes i, counted from  \
      1, if a(i, i) is the first 0 on the diagonal (the answer is then not finite). It becomes -1 if a wait \
      between blocks timed out (the answer is then NaN). Otherwise it is unchanged. */                      \
  template <class T>                                                                                        \
  void solve_triangle(Context& context, Uplo uplo, vendor::Diagonal diagonal, std::int64_t n,               \
                      std::int64_t nrhs, const T* a, std::int64_t ld, T* b, std::int64_t ldb,               \
                      void* workspace, int* info, vendor::Op op = vendor::Op::none);                        \
  /** Solves A x = b in place of b. `lu` holds getrf's factors P A = L U. `pivots` are LAPACK's pivots,     \
      counted from 1, in the memory of the method's backend; null: no exchanges. `workspace`:               \
      solve_lu_workspace bytes, aligned to 256. `info` as in solve_triangle, for U's diagonal. */           \
  template <class T>                                                                                        \
  void solve_lu(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,          \
                const int* pivots, T* b, std::int64_t ldb, void* workspace, int* info);                     \
  /** Solves A x = b in place of b, where A = L L^T. `l` holds L in its lower triangle and L^T in its upper \
      one. `workspace` and `info` as in solve_lu. */                                                        \
  template <class T>                                                                                        \
  void solve_cholesky(Context& context, std::int64_t n, std::int64_t nrhs, const T* l, std::int64_t ld,     \
                      T* b, std::int64_t ldb, void* workspace, int* info);                                  \
  }

GAUSSWEEP_DECLARE_BLOCK_CHAIN(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_BLOCK_CHAIN(cuda)
#endif
