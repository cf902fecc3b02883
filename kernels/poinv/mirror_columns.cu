#include "kernels/poinv/mirror_columns.hpp"

#include "kernels/device/device_group.hpp"
#include "kernels/getrf/peer_columns.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int mirror_tile = 32;
constexpr int mirror_rows = 8;  ///< rows of threads

/// Writes a tile of the other triangle in a GPU's columns, or one on the diagonal.
template <class T>
__global__ void __launch_bounds__(mirror_tile* mirror_rows)
    mirror_tiles(Uplo uplo, PeerColumns<T> x, OwnColumns own, int n) {
  __shared__ T staged[mirror_tile][mirror_tile + 1];
  const int row = static_cast<int>(blockIdx.x) * mirror_tile;
  const int local = static_cast<int>(blockIdx.y) * mirror_tile, column = own.global(local);
  const bool lower = uplo == Uplo::lower;
  if (lower ? row > column : row < column) return;
  const int t = static_cast<int>(threadIdx.x);
  for (int c = static_cast<int>(threadIdx.y); c < mirror_tile; c += mirror_rows) {
    if (row + c < n && column + t < n) staged[c][t] = x.column(row + c)[column + t];
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.y); c < mirror_tile; c += mirror_rows) {
    const int i = row + t, j = column + c;
    if (i < n && j < n && (lower ? i < j : i > j)) x.column(j)[i] = staged[t][c];
  }
}

}  // namespace

template <class T>
void mirror_columns(Context& context, Uplo uplo, const ColumnBlocks& blocks,
                    std::vector<OperandPart<T>>& parts) {
  DeviceGroup& group = *context.group;
  const PeerColumns<T> x(blocks, parts.front().a.ld,
                         [&](int gpu) { return parts[static_cast<std::size_t>(gpu)].a.data; });
  const auto tiles = [](std::int64_t count) {
    return static_cast<unsigned>((count + mirror_tile - 1) / mirror_tile);
  };
  group.stage(blocks.gpus, "mirror");
  group.fork(blocks.gpus);
  for (int gpu = 0; gpu < blocks.gpus; ++gpu) {
    if (blocks.columns_of(gpu) == 0) continue;
    simt::launch(group.use(gpu), mirror_tiles<T>, dim3(tiles(blocks.n), tiles(blocks.columns_of(gpu))),
                 dim3(mirror_tile, mirror_rows), 0, uplo, x, OwnColumns(blocks, gpu),
                 static_cast<int>(blocks.n));
  }
  group.join(blocks.gpus);
}

template void mirror_columns<float>(Context&, Uplo, const ColumnBlocks&, std::vector<OperandPart<float>>&);
template void mirror_columns<double>(Context&, Uplo, const ColumnBlocks&, std::vector<OperandPart<double>>&);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
