#pragma once
/// Declares fill_matrix, which launches the kernel of generate_on (generate.hpp), in the namespaces
/// `emulated` and `cuda`.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/matrix/matrix_spec.hpp"

#define GAUSSWEEP_DECLARE_FILL(space)                                                         \
  namespace gaussweep::space {                                                                \
  /** Fills `a` (column-major, on the context's device) with columns of the matrix of `spec`, \
      from `first_column` on. In a batch, column j belongs to system j / spec.cols. */        \
  template <class T>                                                                          \
  void fill_matrix(Context&, const ElementSpec&, MatrixView<T> a, std::int64_t first_column); \
  }

GAUSSWEEP_DECLARE_FILL(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_FILL(cuda)
#endif
