#pragma once
/// Portable kernels (for the GPU and the CPU) that prepare the operands of vendor routines or complete their
/// results. They run on the device's stream. All matrices are column-major.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"

#define GAUSSWEEP_DECLARE_FIXUPS(space)                                                                \
  namespace gaussweep::space {                                                                         \
  /** Sets *info to the first i (from 1) with a(i, i) = 0; leaves *info unchanged if there is none. */ \
  template <class T>                                                                                   \
  void find_zero_diagonal(Context& context, MatrixView<T> a, int* info);                               \
  /** Does the same for `batch` matrices side by side, with one info per matrix. */                    \
  template <class T>                                                                                   \
  void find_zero_diagonals(Context& context, MatrixView<T> a, int* infos, std::int64_t batch);         \
  /** Fills both triangles of `to` (n x n) from the triangle `uplo` of the leading n x n of `from`. */ \
  template <class T>                                                                                   \
  void mirror_triangle(Context& context, Uplo uplo, MatrixView<T> from, MatrixView<T> to);             \
  /** Sets a = I. */                                                                                   \
  template <class T>                                                                                   \
  void set_identity(Context& context, MatrixView<T> a);                                                \
  /** Sets pointers[s] = first + s step for `count` matrices. */                                       \
  template <class T>                                                                                   \
  void set_pointers(Context& context, T** pointers, T* first, std::int64_t step, std::int64_t count);  \
  /** Converts LAPACK's pivots (from 1) to ours (from 0). */                                           \
  void make_pivots_zero_based(Context& context, int* pivots, std::int64_t n);                          \
  /** Converts our pivots (from 0) to LAPACK's (from 1). */                                            \
  void make_pivots_one_based(Context& context, int* pivots, std::int64_t n);                           \
  /** Sets the pivots of count / n systems, stored one after another, to no exchange: i % n. */        \
  void set_no_exchange(Context& context, int* pivots, std::int64_t n, std::int64_t count);             \
  /** Copies the triangle `uplo` of `from`, diagonal included, to `to` of the same size. */            \
  template <class T>                                                                                   \
  void copy_triangle(Context& context, Uplo uplo, MatrixView<T> from, MatrixView<T> to);               \
  }

GAUSSWEEP_DECLARE_FIXUPS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_FIXUPS(cuda)
#endif
