// Copies tile by tile through shared memory, so that reads and writes are coalesced in both layouts.
#include <algorithm>

#include "kernels/simt/simt.hpp"
#include "kernels/staging/place.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int tile_size = 32;  // tile size
constexpr int threads = 256;

template <class T>
__global__ void __launch_bounds__(threads)
    place_kernel(Strided<T> from, std::int64_t rows, std::int64_t cols, Destination<T> to) {
  __shared__ T tile[tile_size][tile_size + 1];
  const std::int64_t down = (rows + tile_size - 1) / tile_size,
                     tiles = down * ((cols + tile_size - 1) / tile_size);
  const bool read_down = from.down == 1, write_down = to.down == 1;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t i0 = t % down * tile_size, j0 = t / down * tile_size;
    for (int k = static_cast<int>(threadIdx.x); k < tile_size * tile_size; k += threads) {
      const int i = read_down ? k % tile_size : k / tile_size, j = read_down ? k / tile_size : k % tile_size;
      if (i0 + i < rows && j0 + j < cols)
        tile[i][j] = from.data[(i0 + i) * from.down + (j0 + j) * from.across];
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < tile_size * tile_size; k += threads) {
      const int i = write_down ? k % tile_size : k / tile_size,
                j = write_down ? k / tile_size : k % tile_size;
      if (i0 + i < rows && j0 + j < cols) to.data[(i0 + i) * to.down + (j0 + j) * to.across] = tile[i][j];
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void place(Context& context, const Strided<T>& from, std::int64_t rows, std::int64_t cols,
           const Destination<T>& to) {
  constexpr std::int64_t max_blocks = 8192;  // fills any GPU; the kernel loops over further tiles
  const std::int64_t tiles = ((rows + tile_size - 1) / tile_size) * ((cols + tile_size - 1) / tile_size);
  if (tiles == 0) return;
  simt::launch(context, place_kernel<T>, dim3(static_cast<unsigned>(std::min(tiles, max_blocks))),
               dim3(threads), 0, from, rows, cols, to);
}

template void place(Context&, const Strided<float>&, std::int64_t, std::int64_t, const Destination<float>&);
template void place(Context&, const Strided<double>&, std::int64_t, std::int64_t, const Destination<double>&);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
