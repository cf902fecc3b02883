#pragma once
/// The factorisation of posv/mixed_gmres: the Cholesky factorisation, in float, of the scaled matrix R A C.
///
/// R = C is a diagonal matrix of powers of two. It scales the diagonal of A to [1/2, 2). All other elements
/// of R A C are then less than 2 in magnitude, because |a(i, j)|^2 < a(i, i) a(j, j) if A is positive
/// definite.
///
/// A shift of 16 times float's unit roundoff is added to the diagonal of R A C. The pivots then stay positive
/// even if A has a few tiny eigenvalues. Each of these eigenvalues costs one more iteration of GMRES instead
/// of a failed factorisation. (N. J. Higham, S. Pranesh, Exploiting lower precision arithmetic in solving
/// symmetric positive definite linear systems and least squares problems, SIAM J. Sci. Comput. 43, 2021)

#include <functional>

#include "kernels/gesv/mixed_factors.cuh"
#include "kernels/posv/mixed_workspace.hpp"
#include "kernels/potrf/split_updates.cuh"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::cuda::mixed {

constexpr int tile_order = 32;  ///< order of a tile of scale_symmetric; other kernels use other tiles

/// Computes the diagonals of R and C (root_scale in potrf/triangle_copy.cuh), and the largest of their
/// reciprocals.
template <class T>
__global__ void __launch_bounds__(block_threads)
    scale_by_diagonal(const T* a, std::int64_t lda, int n, double* row_scale, double* column_scale,
                      MatrixMeasurements* result) {
  const int i = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  const double scale = i < n ? tiles::root_scale(static_cast<double>(a[i + i * lda])) : 1.0;
  atomic_max_of_warp(&result->max_inverse_column_scale, i < n ? 1 / scale : 0.0);
  if (i < n) row_scale[i] = column_scale[i] = scale;
}

/// Scales a symmetric matrix A of order n and computes row sums. A thread block processes a tile below or on
/// the diagonal, and its mirror image.
/// @param upper true: the upper triangle of A is stored; false: the lower one
/// @param mirrored true: also writes the other triangle of A
/// @param scale the diagonal of R = C
/// @param diagonal_shift is added to the diagonal of R A C
/// @param out receives the lower triangle of R A C in float, padded with an identity to ld_out x ld_out
/// @param sums receives two matrices with ld_out rows and one column per 32 columns of A. Element (i, t) of
/// the first matrix is the sum of |a(i, j)| over the t-th 32 columns j of the full matrix. Element (i, t) of
/// the second one is the sum of squares of A C over the same elements, without the diagonal
template <class T>
__global__ void __launch_bounds__(256)
    scale_symmetric(T* a, std::int64_t lda, int n, bool upper, bool mirrored, const double* scale,
                    float diagonal_shift, float* out, std::int64_t ld_out, double* sums) {
  __shared__ T tile[tile_order][tile_order + 1];
  __shared__ double scales[2][tile_order];  // elements of `scale` for the tile's rows and for its columns
  if (blockIdx.y > blockIdx.x) return;
  const bool diagonal = blockIdx.x == blockIdx.y;
  const int first_row = static_cast<int>(blockIdx.x) * tile_order;
  const int first_column = static_cast<int>(blockIdx.y) * tile_order;
  const int x = static_cast<int>(threadIdx.x) % tile_order, y = static_cast<int>(threadIdx.x) / tile_order;
  constexpr int step = 256 / tile_order;
  if (y < 2) {
    const int i = (y == 0 ? first_row : first_column) + x;
    scales[y][x] = i < n ? scale[i] : 1.0;
  }
  // Threads with neighbouring x access neighbouring elements of a column in memory. tile[r][c] is element
  // (r, c) of the tile in the lower triangle, also if the upper triangle is stored.
#pragma unroll
  for (int k = y; k < tile_order; k += step) {
    const int r = upper ? k : x, c = upper ? x : k;
    const int i = first_row + r, j = first_column + c;
    if (i < j) continue;
    const T value = i < n ? a[upper ? j + i * lda : i + j * lda] : T(0);
    tile[r][c] = value;
    if (diagonal) tile[c][r] = value;
  }
  __syncthreads();
#pragma unroll
  for (int k = y; k < tile_order; k += step) {
    const int r = upper ? x : k, c = upper ? k : x;
    const int i = first_row + r, j = first_column + c;
    if (mirrored && i > j && i < n) a[upper ? i + j * lda : j + i * lda] = tile[r][c];
  }
#pragma unroll
  for (int k = y; k < tile_order; k += step) {
    const int i = first_row + x, j = first_column + k;
    if (i < j) continue;
    float value = i == j ? 1.0f : 0.0f;
    if (i < n) {
      value = static_cast<float>(static_cast<double>(tile[x][k]) * scales[0][x] * scales[1][k]);
      if (i == j) value += diagonal_shift;
    }
    out[i + j * ld_out] = value;
  }
  // Four threads add up one `line`: a row of the tile (threads 0 to 127), or a column, which is a row of the
  // mirror image.
  const bool by_row = threadIdx.x < 4 * tile_order;
  const int line = static_cast<int>(threadIdx.x) / 4 % tile_order;
  double sum = 0, squares = 0;
#pragma unroll
  for (int k = static_cast<int>(threadIdx.x) % 4; k < tile_order; k += 4) {
    const auto value = static_cast<double>(by_row ? tile[line][k] : tile[k][line]);
    const double scaled = value * scales[by_row ? 1 : 0][k];
    sum += std::fabs(value);
    squares = std::fma(scaled, diagonal && k == line ? 0.0 : scaled, squares);
  }
  for (int d = 2; d > 0; d /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
  }
  if (threadIdx.x % 4 != 0 || (diagonal && !by_row)) return;
  const std::int64_t index =
      line + (by_row ? first_row + blockIdx.y * ld_out : first_column + blockIdx.x * ld_out);
  sums[index] = sum;
  sums[index + ld_out * (ld_out / tile_order)] = squares;
}

/// Computes two maxima over all rows from the sums of scale_symmetric. One is the norm of A, the largest row
/// sum of |A|. The other one is the largest row sum of squares of R A C without the diagonal. A thread block
/// processes 32 rows; each of its eight warps adds up every eighth column of `sums`.
static __global__ void __launch_bounds__(block_threads)
    largest_sums(const double* sums, std::int64_t ld, int n, const double* scale,
                 MatrixMeasurements* result) {
  constexpr int warps = block_threads / 32;
  __shared__ double warp_sums[2][warps][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int row = static_cast<int>(blockIdx.x) * 32 + lane;
  const int tiles = static_cast<int>(ld) / tile_order;
  double sum = 0, squares = 0;
#pragma unroll 4
  for (int t = warp; t < tiles; t += warps) {
    sum += sums[row + t * ld];
    squares += sums[row + (tiles + t) * ld];
  }
  warp_sums[0][warp][lane] = sum;
  warp_sums[1][warp][lane] = squares;
  __syncthreads();
  if (warp != 0) return;
  for (int w = 1; w < warps; ++w) {
    sum += warp_sums[0][w][lane];
    squares += warp_sums[1][w][lane];
  }
  const double factor = row < n ? scale[row] : 0.0;
  atomic_max_of_warp(&result->norm_of_a, sum);
  atomic_max_of_warp(&result->off_diagonal_squares, squares * factor * factor);
}

/// The Cholesky factors of R A C, with which GmresSolver (gesv/mixed_refinement.cuh) preconditions GMRES.
template <class T>
class CholeskyFactors {
 public:
  static constexpr bool has_unit_diagonal = false;
  static constexpr bool symmetric = true;  ///< A is symmetric
  /// Refinement stops without an answer if it expects to need more than this number + 10 iterations in a
  /// cycle (is_hopeless in gesv/gmres_cycle.hpp).
  static constexpr int max_iterations = 4;
  static std::int64_t leading_dimension(std::int64_t n) { return gaussweep::tiles::round_up_to_tiles(n); }

  /// @param uplo the stored triangle of A
  /// @param mirrored true: prepare_factors also writes the other triangle of A
  /// @param memory workspace of definite::refinement_bytes - mixed::iteration_bytes bytes
  CholeskyFactors(const System<T>& system, Uplo uplo, bool mirrored, Workspace& memory)
      : system_(system),
        uplo_(uplo),
        mirrored_(mirrored),
        memory_(memory),
        info_(memory.take<int>(1)),
        next_check_(system.n / 8) {}

  bool upper() const { return uplo_ == Uplo::upper; }
  bool mirrored() const { return mirrored_; }

  /// Scales A and factors R A C. Returns false if refinement is not worth trying. The reasons are an element
  /// that is not finite, a norm out of range, a pivot that is not positive, or a sample with many tiny
  /// pivots.
  bool prepare_factors(MatrixMeasurements& measured) {
    const System<T>& s = system_;
    Context& context = s.context;
    context.stage("scale");
    context.device.fill(s.measurements, 0, sizeof(MatrixMeasurements));
    simt::launch(context, scale_by_diagonal<T>, dim3(s.row_blocks), dim3(block_threads), 0, s.a.data, s.a.ld,
                 s.n, s.row_scale, s.column_scale, s.measurements);
    s.factor_sample(s.a.data, s.a.ld, upper() ? StoredPart::upper : StoredPart::lower, s.row_scale,
                    log2_low_pivot);
    measured = s.read();
    if (!s.has_few_low_pivots(measured)) return false;
    context.stage("scale");
    const auto tiles_down = static_cast<unsigned>(s.ld / tile_order);
    double* const sums = s.double_factors;  // this memory is unused until the factors are converted to double
    simt::launch(context, scale_symmetric<T>, dim3(tiles_down, tiles_down), dim3(256), 0, s.a.data, s.a.ld,
                 s.n, upper(), mirrored_, s.row_scale, diagonal_shift, s.float_factors, s.ld, sums);
    simt::launch(context, largest_sums, dim3(tiles_down), dim3(block_threads), 0, sums, s.ld, s.n,
                 s.row_scale, s.measurements);
    measured = s.read();
    measured.min_row_scale = 1 / double_from_bits(measured.max_inverse_column_scale);  // R = C
    if (!s.is_in_range(measured)) return false;
    context.device.fill(info_, 0, sizeof(int));
    // If R A C is close to its diagonal, the products P P^T that the trailing updates subtract are small. P
    // may then be rounded to one FP16 number per element, the high part (SplitUpdates).
    const bool high_only =
        double_from_bits(measured.off_diagonal_squares) <= small_updates && measured.smallest_sampled > 0.5;
    tiles::SplitUpdates updates(context, s.n, memory_, high_only);
    tiles::RecursiveCholesky<float, tiles::SplitUpdates> cholesky(context, definite::padded_shape(s.n),
                                                                  s.float_factors, s.ld, info_, memory_,
                                                                  tiles::thresholds_of_halves());
    if (!cholesky.factor(updates, [this](int columns) { return has_positive_pivots(columns); })) return false;
    cholesky.mirror();
    return failed_column() == 0;
  }

  /// Returns null: Cholesky exchanges no rows.
  const int* row_permutation() const { return nullptr; }

  /// Replaces z by the solution x of L L^T x = z.
  template <class FactorElement>
  void solve(const FactorElement* factors, FactorElement* z, std::int64_t nrhs) {
    solve_cholesky(system_.context, system_.n, nrhs, factors, system_.ld, z, system_.ld, system_.solve_memory,
                   info_);
  }

 private:
  /// Returns false if a pivot of the first `columns` columns is known not to be positive. Checks only once
  /// per n / 8 columns, because the host waits for the device to read `info_`. Does not check after 5/8 of
  /// the columns, because then stopping would save little work.
  bool has_positive_pivots(int columns) {
    if (columns < next_check_ || 8 * columns > 5 * system_.n) return true;
    next_check_ += system_.n / 8;
    return failed_column() == 0;
  }
  /// Returns the index, from 1, of the first pivot that is not positive; 0 if there is none.
  int failed_column() const {
    int column = 0;
    system_.context.device.to_host(&column, info_, sizeof(column));
    return column;
  }

  static constexpr float diagonal_shift = 0x1p-20f;  ///< added to the diagonal of R A C
  static constexpr double small_updates =
      0x1p-8;  ///< limit of MatrixMeasurements::off_diagonal_squares for updates in FP16
  static constexpr double log2_low_pivot = -6;  ///< pivots of the sample below 2^log2_low_pivot count as low

  System<T> system_;
  Uplo uplo_;
  bool mirrored_;
  Workspace& memory_;
  int* info_;       ///< on the device: the first column, from 1, whose pivot is not positive, or 0
  int next_check_;  ///< number of factored columns at which has_positive_pivots reads info_ again
};

}  // namespace gaussweep::cuda::mixed
