#pragma once
/// Matrices that lie on a device already, laid out anew there.

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"

namespace gaussweep {

/// Where a matrix is written to, in whatever layout: element (i, j) at `data[i * down + j * across]`.
template <class T>
struct Destination {
  T* data = nullptr;
  std::int64_t down = 0;
  std::int64_t across = 0;
};

/// Copies a matrix of `rows` x `cols` on the context's device, element by element, whatever the two layouts;
/// not waited for. Memory between the elements stays as it is. @throws DeviceError
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
