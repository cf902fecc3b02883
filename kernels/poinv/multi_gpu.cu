/// poinv/multi_gpu: the inverse of a symmetric positive definite matrix on several GPUs, from its Cholesky
/// factor and the factor's inverse.
///
/// potrf/multi_gpu computes L, whose transpose U is then stored above the diagonal. Substitution replaces U
/// by P = U^-1 (trtri/distributed_triangle.cuh). Then all GPUs receive P panel by panel, and each adds the
/// products to its block columns of P P^T, in place. At the end the upper triangle is copied to the lower
/// triangle. On one GPU the method is poinv/recursive. Layout: column-major, in place, block columns
/// distributed cyclically; the lower triangle of A is read. Cost: n^3 operations in all; each GPU receives
/// 3/2 n^2 elements of panels, and reads n^2 / gpus elements of other GPUs to mirror triangles. Workspace per
/// GPU: two panels of n x `panel` elements (by default at most 2048 columns), or the workspace of
/// potrf/multi_gpu if that is larger. A pivot that is not positive gives info > 0; info = -1 means that a
/// thread block waited too long for another one. The answer is then meaningless. Needs compute capability 9.0
/// and peer access between the GPUs.
///
/// Error: |A X - I| is of the order n u |L| |L^T| |X|, as for poinv/recursive (u: unit roundoff; Higham,
/// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 14.3). Substitution makes L^T P - I
/// small. Solving L^T X = L^-1 for one triangle of X would have no such bound.

#include "kernels/getrf/peer_columns.cuh"
#include "kernels/potrf/distributed_cholesky.cuh"
#include "kernels/tables.hpp"
#include "kernels/trtri/distributed_triangle.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
void poinv_recursive(Context& context, Operands<T>& op, const Parameters& parameters);

namespace {

constexpr int mirror_tile = 32;
constexpr int mirror_rows =
    8;  ///< blockDim.y of mirror_tiles; a thread copies mirror_tile / mirror_rows elements

/// Writes a tile of the triangle that is not `uplo`, in a GPU's columns. The mirror image of the tile, from
/// which the kernel reads, may be on another GPU.
template <class T>
__global__ void __launch_bounds__(mirror_tile* mirror_rows)
    mirror_tiles(Uplo uplo, PeerColumns<T> x, LocalColumns own, int n) {
  __shared__ T staged[mirror_tile][mirror_tile + 1];
  const int first_row = static_cast<int>(blockIdx.x) * mirror_tile;
  const int first_column = own.global(static_cast<int>(blockIdx.y) * mirror_tile);
  const bool lower = uplo == Uplo::lower;
  if (lower ? first_row > first_column : first_row < first_column) return;
  const int t = static_cast<int>(threadIdx.x);
  for (int c = static_cast<int>(threadIdx.y); c < mirror_tile; c += mirror_rows) {
    if (first_row + c < n && first_column + t < n) staged[c][t] = x.column(first_row + c)[first_column + t];
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.y); c < mirror_tile; c += mirror_rows) {
    const int i = first_row + t, j = first_column + c;
    if (i < n && j < n && (lower ? i < j : i > j)) x.column(j)[i] = staged[t][c];
  }
}

/// Copies the triangle `uplo`, transposed, to the opposite triangle; GPUs read each other's memory.
/// Asynchronous on the first GPU's stream. @pre blocks.width is a multiple of 32
template <class T>
void mirror_columns(Context& context, Uplo uplo, const ColumnBlocks& blocks,
                    const std::vector<OperandPart<T>>& parts) {
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
                 dim3(mirror_tile, mirror_rows), 0, uplo, x, LocalColumns(blocks, gpu),
                 static_cast<int>(blocks.n));
  }
  group.join(blocks.gpus);
}

}  // namespace

template <class T>
void poinv_multi_gpu(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.parts.empty()) return poinv_recursive(context, op, parameters);
  const ColumnBlocks blocks{op.shape.n, inverse::poinv_block(op.shape, parameters),
                            static_cast<int>(op.parts.size())};
  // The inversion reuses the factorisation's workspace: `parts` describes it before any memory is taken.
  std::vector<OperandPart<T>> parts = op.parts;
  const Parameters factorisation = inverse::cholesky_parameters(op.shape, parameters);
  tiles::DistributedCholesky<T>(context, blocks, op.parts, op.info, tiles::max_rest_rows(factorisation))
      .factor();
  mirror_columns(context, Uplo::lower, blocks, parts);
  inverse::DistributedTriangle<T> p(context, blocks, inverse::panel_width(op.shape, parameters, blocks.width),
                                    parts, Uplo::upper, /*keeps_other_triangle=*/false);
  p.invert(/*info=*/nullptr);
  p.square();
  mirror_columns(context, Uplo::upper, blocks, parts);
}

GAUSSWEEP_INSTANTIATE(poinv_multi_gpu)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
