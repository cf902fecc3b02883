#pragma once
/// Layout conversion of matrices on a device.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep {

/// A destination matrix of any layout: element (i, j) is at `data[i * down + j * across]`.
template <class T>
struct Destination {
  T* data = nullptr;
  std::int64_t down = 0;
  std::int64_t across = 0;
};

/// Copies a `rows` x `cols` matrix on the context's device between any two layouts. Asynchronous. Memory
/// between the elements stays unchanged. @throws DeviceError
template <class T>
void place(Context& context, const Strided<T>& from, std::int64_t rows, std::int64_t cols,
           const Destination<T>& to);

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_PLACE(space)                                                                  \
  namespace gaussweep::space {                                                                          \
  template <class T>                                                                                    \
  void place(Context&, const Strided<T>&, std::int64_t rows, std::int64_t cols, const Destination<T>&); \
  }

GAUSSWEEP_DECLARE_PLACE(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_PLACE(cuda)
#endif
