#include "kernels/staging/place.hpp"

namespace gaussweep {

template <class T>
void place(Context& context, const Strided<T>& from, std::int64_t rows, std::int64_t cols,
           const Destination<T>& to) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::place(context, from, rows, cols, to);
#endif
  emulated::place(context, from, rows, cols, to);
}

template void place<float>(Context&, const Strided<float>&, std::int64_t, std::int64_t,
                           const Destination<float>&);
template void place<double>(Context&, const Strided<double>&, std::int64_t, std::int64_t,
                            const Destination<double>&);

}  // namespace gaussweep
