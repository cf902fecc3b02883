#pragma once
/// What vendor routines leave to be done where the method runs, as portable kernels on the device's stream.
/// All matrices are column-major.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"

#define GAUSSWEEP_DECLARE_FIXUPS(space)                                                             \
  namespace gaussweep::space {                                                                      \
  /** *info = i where a(i, i), from 1, is the first 0 on the diagonal; else *info is left alone. */ \
  template <class T>                                                                                \
  void find_zero_diagonal(Context& context, MatrixView<T> a, int* info);                            \
  /** The same of `batch` matrices side by side, with an info each. */                              \
  template <class T>                                                                                \
  void find_zero_diagonals(Context& context, MatrixView<T> a, int* infos, std::int64_t batch);      \
  /** Both triangles of `to` become the triangle `uplo` of the first rows and columns of `from`. */ \
  template <class T>                                                                                \
  void mirror_triangle(Context& context, Uplo uplo, MatrixView<T> from, MatrixView<T> to);          \
  /** a = I. */                                                                                     \
  template <class T>                                                                                \
  void set_identity(Context& context, MatrixView<T> a);                                             \
  /** pointers[s] = first + s step, for `count` matrices. */                                        \
  template <class T>                                                                                \
  void point_at(Context& context, T** pointers, T* first, std::int64_t step, std::int64_t count);   \
  /** LAPACK's pivots, from 1, as ours, from 0. */                                                  \
  void pivots_from_zero(Context& context, int* pivots, std::int64_t n);                             \
  }

GAUSSWEEP_DECLARE_FIXUPS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_FIXUPS(cuda)
#endif
