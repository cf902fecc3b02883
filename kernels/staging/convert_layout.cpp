/// Selects the backend's conversion kernel (convert_layout_kernel.cu).

#include "kernels/staging/convert_layout.hpp"

namespace gaussweep {

template <class T>
void convert_layout(Context& context, const StridedView<T>& from, std::int64_t rows, std::int64_t cols,
                    const WritableStridedView<T>& to) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::convert_layout(context, from, rows, cols, to);
#endif
  emulated::convert_layout(context, from, rows, cols, to);
}

template void convert_layout<float>(Context&, const StridedView<float>&, std::int64_t, std::int64_t,
                                    const WritableStridedView<float>&);
template void convert_layout<double>(Context&, const StridedView<double>&, std::int64_t, std::int64_t,
                                     const WritableStridedView<double>&);

}  // namespace gaussweep
