/// trsv/doubling_shared: trsv/doubling with tiles of 32 x 32 in shared memory.
///
/// The algorithm is the optimised version of trsv/doubling in the course report "Algorithmic Techniques:
/// Dense Lower Triangular Solver". Step h (doubling_steps.cuh) processes groups of 2 h rows. It subtracts
/// from each lower row of a group the product of the row's h multipliers and the group's upper h rows. A
/// thread block computes 32 x 32 elements. It loads one tile of each factor into shared memory, accumulates
/// their product, and continues with the next pair of tiles. Only steps with h >= 32 use tiles, because the
/// rows of a tile then belong to one group. All or none of the tile's columns are then to the left of the
/// group's multipliers. Earlier steps have short sums and read global memory.
///
/// Layout: column-major; the answer replaces b, and A is overwritten. Cost: as trsv/doubling, n^3 / 6
/// operations, but n^3 / 192 loads from global memory. Workspace: none; shared memory for two tiles. The
/// diagonal is read first (stage "diagonal"). If it has a zero, info is the index, from 1, of the first one,
/// and the answer is not finite. The error bound is that of trsv/doubling.

#include "kernels/tables.hpp"
#include "kernels/trsv/doubling_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int tile_order = step_block;

/// Performs one step for 32 x 32 elements of its target per thread block, one element per thread.
template <class T>
__global__ void __launch_bounds__(tile_order* tile_order) operate_on_tiles(RowOperations<T> step) {
  const RowOperations<T> operations = step.for_plane();
  __shared__ T multipliers[tile_order][tile_order];  // [column][row]
  __shared__ T rows_above[tile_order][tile_order];   // [column][row]
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  // The tile's first lower row.
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile_order;
  const std::int64_t columns = operations.columns(first);
  // This condition is the same for the whole thread block.
  if (static_cast<std::int64_t>(blockIdx.y) * tile_order >= columns) return;
  const StridedMatrix<T> target = operations.target();
  const std::int64_t j = index_y();
  const std::int64_t i = operations.row(first) + tx;
  const std::int64_t g = operations.group(first);
  const bool row_inside = i < operations.system.n;
  const bool column_inside = j < columns;
  T value = row_inside && column_inside ? target(i, j) : T(0);
  for (std::int64_t k = g; k < g + operations.h; k += tile_order) {
    multipliers[ty][tx] = row_inside ? operations.system.l(i, k + ty) : T(0);
    rows_above[ty][tx] = column_inside ? target(k + tx, j) : T(0);
    __syncthreads();
    for (int m = 0; m < tile_order; ++m) value = std::fma(-multipliers[m][tx], rows_above[ty][m], value);
    __syncthreads();  // the tiles are overwritten in the next iteration
  }
  if (row_inside && column_inside) target(i, j) = value;
}

}  // namespace

template <class T>
void trsv_doubling_shared(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("triangles");
  const LowerSystem<T> system(op);
  solve_all_pairs(context, system);
  context.stage("row_operations");
  for (std::int64_t h = 2; h < system.n && h < tile_order; h *= 2) {
    launch_row_operations(context, system, h, operate_on_rows<T>);
  }
  context.stage("row_operations_in_tiles");
  for (std::int64_t h = tile_order; h < system.n; h *= 2) {
    launch_row_operations(context, system, h, operate_on_tiles<T>);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_doubling_shared)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
