// Converts layouts tile by tile through shared memory, so that reads and writes are coalesced in both
// layouts: neighbouring threads read along the source's contiguous index and write along the destination's.
#include <algorithm>

#include "kernels/simt/simt.hpp"
#include "kernels/staging/convert_layout.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int tile_size = 32;
constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads)
    convert_layout_kernel(StridedView<T> from, std::int64_t rows, std::int64_t cols,
                          WritableStridedView<T> to) {
  __shared__ T tile[tile_size][tile_size + 1];  // the padding avoids bank conflicts
  const std::int64_t tile_rows = (rows + tile_size - 1) / tile_size,
                     tiles = tile_rows * ((cols + tile_size - 1) / tile_size);
  const bool reads_columns = from.row_stride == 1, writes_columns = to.row_stride == 1;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t i0 = t % tile_rows * tile_size, j0 = t / tile_rows * tile_size;
    for (int k = static_cast<int>(threadIdx.x); k < tile_size * tile_size; k += threads) {
      const int i = reads_columns ? k % tile_size : k / tile_size,
                j = reads_columns ? k / tile_size : k % tile_size;
      if (i0 + i < rows && j0 + j < cols)
        tile[i][j] = from.data[(i0 + i) * from.row_stride + (j0 + j) * from.col_stride];
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < tile_size * tile_size; k += threads) {
      const int i = writes_columns ? k % tile_size : k / tile_size,
                j = writes_columns ? k / tile_size : k % tile_size;
      if (i0 + i < rows && j0 + j < cols)
        to.data[(i0 + i) * to.row_stride + (j0 + j) * to.col_stride] = tile[i][j];
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void convert_layout(Context& context, const StridedView<T>& from, std::int64_t rows, std::int64_t cols,
                    const WritableStridedView<T>& to) {
  constexpr std::int64_t max_blocks = 8192;  // enough for any GPU; the kernel loops over the remaining tiles
  const std::int64_t tiles = ((rows + tile_size - 1) / tile_size) * ((cols + tile_size - 1) / tile_size);
  if (tiles == 0) return;
  simt::launch(context, convert_layout_kernel<T>, dim3(static_cast<unsigned>(std::min(tiles, max_blocks))),
               dim3(threads), 0, from, rows, cols, to);
}

template void convert_layout(Context&, const StridedView<float>&, std::int64_t, std::int64_t,
                             const WritableStridedView<float>&);
template void convert_layout(Context&, const StridedView<double>&, std::int64_t, std::int64_t,
                             const WritableStridedView<double>&);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
