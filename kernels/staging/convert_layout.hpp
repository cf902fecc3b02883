#pragma once
/// Layout conversion of matrices on a device.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep {

/// A writable view of a matrix in any layout: element (i, j) is at `data[i * row_stride + j * col_stride]`.
template <class T>
struct WritableStridedView {
  T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

/// Copies a `rows` x `cols` matrix on the context's device between any two layouts. Asynchronous. Memory
/// between the elements stays unchanged. @throws DeviceError
template <class T>
void convert_layout(Context& context, const StridedView<T>& from, std::int64_t rows, std::int64_t cols,
                    const WritableStridedView<T>& to);

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_CONVERT_LAYOUT(space)                                              \
  namespace gaussweep::space {                                                               \
  template <class T>                                                                         \
  void convert_layout(Context&, const StridedView<T>&, std::int64_t rows, std::int64_t cols, \
                      const WritableStridedView<T>&);                                        \
  }

GAUSSWEEP_DECLARE_CONVERT_LAYOUT(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_CONVERT_LAYOUT(cuda)
#endif
