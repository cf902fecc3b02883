/// poinv/cholesky_gets: the inverse of a symmetric positive definite matrix as L^-T L^-1.
///
/// J. Soriano, IIT 2011, section 5.1.1: blocked Cholesky factorisation A = L L^T (potrf/blocked), the inverse
/// of L by GETS (trtri/gets), and the product of its transpose with it by tiles of 16 in shared memory
/// (gemm/shared). Either of the first two also as the paper proposes to improve it: all trailing blocks
/// updated at once (potrf/blocked_simultaneous), thread blocks that follow the rows left
/// (trtri/gets_adaptive).
///
/// Layout: column-major; the lower triangle of A is read, A is used up, the inverse is a matrix of its own,
/// and symmetric to the bit. Cost: 8/3 n^3 operations, of which the product, which knows nothing of the
/// zeros, is 2 n^3; n^3 / 3 elements moved by GETS; the host never waits for the device. Workspace: n^2
/// elements. Needs a symmetric positive definite matrix: a pivot that is not positive gives info > 0, and the
/// answer is then of no use.

#include "kernels/gemm/shared_steps.cuh"
#include "kernels/potrf/blocked_steps.cuh"
#include "kernels/tables.hpp"
#include "kernels/trtri/gets_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int tile = 16;

/// to = from^T, square, tile by tile so that both sides are coalesced.
template <class T>
__global__ void __launch_bounds__(tile* tile) transpose(MatrixView<T> from, MatrixView<T> to) {
  __shared__ T block[tile][tile + 1];
  const std::int64_t i0 = static_cast<std::int64_t>(blockIdx.x) * tile;
  const std::int64_t j0 = static_cast<std::int64_t>(blockIdx.y) * tile;
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  if (i0 + x < from.rows && j0 + y < from.cols) block[y][x] = from.data[i0 + x + (j0 + y) * from.ld];
  __syncthreads();
  if (j0 + x < to.rows && i0 + y < to.cols) to.data[j0 + x + (i0 + y) * to.ld] = block[x][y];
}

}  // namespace

template <class T>
void poinv_cholesky_gets(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const bool simultaneous = parameters.choice("update") == "simultaneous";
  const bool adaptive = parameters.choice("gets") == "adaptive";
  const MatrixView<T> inverse{op.workspace.template take<T>(n * n), n, n, n};  // of L

  cholesky::factorise(context, op.a, Uplo::lower,
                      simultaneous ? cholesky::Update::simultaneous : cholesky::Update::sequential,
                      cholesky::Topleft::square, op.info);
  gets::invert(context, op.a, inverse, Uplo::lower, 512,
               adaptive ? gets::Threads::adaptive : gets::Threads::fixed);
  context.stage("transpose");
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  simt::launch(context, transpose<T>, dim3(tiles, tiles), dim3(tile, tile), 0, inverse, op.a);
  // Read by rows, the columns of L^-1 are L^-T, and those of L^-T are L^-1.
  context.stage("multiply");
  tiled_product<T, tile>(context, inverse, op.a, op.x);
}

GAUSSWEEP_INSTANTIATE(poinv_cholesky_gets)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
