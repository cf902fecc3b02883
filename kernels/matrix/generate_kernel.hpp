#pragma once
/// The kernel of kernels/matrix/generate.hpp.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/matrix/matrix_spec.hpp"

#define GAUSSWEEP_DECLARE_FILL(space)                                                        \
  namespace gaussweep::space {                                                               \
  /** Fills `a` (column-major, on the context's device) with the elements of `spec`, or with \
      a batch if `a` has more columns than `spec`. */                                        \
  template <class T>                                                                         \
  void fill_matrix(Context& context, const ElementSpec& spec, MatrixView<T> a);              \
  }

GAUSSWEEP_DECLARE_FILL(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_FILL(cuda)
#endif
