/// poinv/cholesky_gets: the inverse of a symmetric positive definite matrix as L^-T L^-1.
///
/// J. Soriano, IIT 2011, section 5.1.1, in three steps: blocked Cholesky factorisation A = L L^T
/// (potrf/blocked); the inverse of L by Gaussian elimination (GETS in the paper; trtri/gets); the product
/// L^-T L^-1 in tiles of 16 in shared memory (gemm/shared). Parameters select the improvements that the paper
/// proposes for the first two steps: simultaneous updates of all trailing blocks
/// (potrf/blocked_simultaneous), and thread blocks that adapt to the number of remaining rows
/// (trtri/gets_adaptive).
///
/// Layout: column-major; the lower triangle of A is read and A is overwritten. The inverse is a separate
/// matrix, symmetric to the last bit. Cost: 8/3 n^3 operations, 2 n^3 of them in the product, because it does
/// not skip zeros; GETS moves n^3 / 3 elements. The host never waits for the device. Workspace: n^2 elements.
/// Needs a symmetric positive definite matrix: a pivot that is not positive gives info > 0, and the answer is
/// then meaningless.
///
/// Error: |A X - I| is of the order n u |L| |L^T| |Q^T| |L^T| |Q^T| |Q| with Q = L^-1. GETS keeps L Q - I
/// small, but X = Q^T Q would need a small Q L - I (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., sections 14.2 and 14.3). The bound exceeds that of LAPACK's potri by a
/// factor of up to the condition number of L.

#include "kernels/gemm/shared_steps.cuh"
#include "kernels/potrf/blocked_steps.cuh"
#include "kernels/tables.hpp"
#include "kernels/trtri/gets_steps.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

constexpr int tile = 16;  // order of the tiles of the transposition and of the product

/// Computes to = from^T for a square matrix, tile by tile so that loads and stores are coalesced.
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
  const MatrixView<T> inverse{op.workspace.template take<T>(n * n), n, n, n};  // the inverse of L

  cholesky::factorise(context, op.a, Uplo::lower,
                      simultaneous ? cholesky::Update::simultaneous : cholesky::Update::sequential,
                      cholesky::Topleft::square, op.info);
  gets::invert(context, op.a, inverse, Uplo::lower, /*threads=*/512,
               adaptive ? gets::BlockShape::adaptive : gets::BlockShape::fixed);
  context.stage("transpose");
  const auto tiles = static_cast<unsigned>((n + tile - 1) / tile);
  simt::launch(context, transpose<T>, dim3(tiles, tiles), dim3(tile, tile), 0, inverse, op.a);
  // tiled_product reads its operands row-major: L^-1 is then read as L^-T, and L^-T as L^-1.
  context.stage("multiply");
  tiled_product<T, tile>(context, inverse, op.a, op.x);
}

GAUSSWEEP_INSTANTIATE(poinv_cholesky_gets)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
