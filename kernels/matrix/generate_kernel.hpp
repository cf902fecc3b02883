#pragma once
/// The kernel of kernels/matrix/generate.hpp.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/matrix/matrix_spec.hpp"

#define GAUSSWEEP_DECLARE_FILL(space)                                                           \
  namespace gaussweep::space {                                                                  \
  /** Fills `a` (column-major, on the context's device) with the columns from `first_column` of \
      the matrix of `spec`, or of a batch, whose matrices are side by side. */                  \
  template <class T>                                                                            \
  void fill_matrix(Context&, const ElementSpec&, MatrixView<T> a, std::int64_t first_column);   \
  }

GAUSSWEEP_DECLARE_FILL(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_FILL(cuda)
#endif
