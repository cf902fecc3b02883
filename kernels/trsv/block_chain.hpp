#pragma once
/// Solves with one triangle, and with both of an LU or a Cholesky decomposition, in one launch each:
/// block_chain.cu.

#include <cstddef>
#include <cstdint>

#include "kernels/device/context.hpp"
#include "kernels/trsv/block_chain_workspace.hpp"
#include "kernels/vendor/enums.hpp"

#define GAUSSWEEP_DECLARE_BLOCK_CHAIN(space)                                                                 \
  namespace gaussweep::space {                                                                               \
  /** Replaces b (n x nrhs, column-major) by the answer of A x = b, of whose n x n matrix only the triangle  \
      `uplo` is read, with unit diagonal not that either. `workspace`: solve_triangle_workspace bytes,       \
      aligned to 256. `info` (where the method runs; may be null) becomes i where a(i, i), from 1, is the    \
      first 0 on the diagonal: the answer is not finite then; -1 where a wait between blocks was given up:   \
      the answer is not a number then; else it is left alone. */                                             \
  template <class T>                                                                                         \
  void solve_triangle(Context& context, Uplo uplo, vendor::Diagonal diagonal, std::int64_t n,                \
                      std::int64_t nrhs, const T* a, std::int64_t ld, T* b, std::int64_t ldb,                \
                      void* workspace, int* info);                                                           \
  /** Replaces b by the answer of A x = b, from P A = L U as getrf leaves it in `lu`, with LAPACK's          \
      pivots, from 1 (where the method runs; null: no exchanges). `workspace`: solve_lu_workspace bytes,     \
      aligned to 256. `info` as in solve_triangle, for U's diagonal. */                                      \
  template <class T>                                                                                         \
  void solve_lu(Context& context, std::int64_t n, std::int64_t nrhs, const T* lu, std::int64_t ld,           \
                const int* pivots, T* b, std::int64_t ldb, void* workspace, int* info);                      \
  /** Replaces b by the answer of A x = b, from A = L L^T with L in the lower triangle of `l` and L^T in the \
      upper one. The rest as in solve_lu. */                                                                 \
  template <class T>                                                                                         \
  void solve_cholesky(Context& context, std::int64_t n, std::int64_t nrhs, const T* l, std::int64_t ld,      \
                      T* b, std::int64_t ldb, void* workspace, int* info);                                   \
  }

GAUSSWEEP_DECLARE_BLOCK_CHAIN(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_BLOCK_CHAIN(cuda)
#endif
