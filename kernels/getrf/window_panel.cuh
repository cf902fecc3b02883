#pragma once
/// Factors a panel of the float LU in gesv/mixed_gmres in one thread block, with pivots from a window of
/// rows.
///
/// Pivots are the largest elements of the next 256 rows (the window), not of all rows below the diagonal.
/// Such pivots suffice for an LU that is only a preconditioner. All data stays on one multiprocessor, and a
/// column costs one barrier. Every warp stores its candidate and the candidate's row before the barrier, and
/// selects the best candidate after it. L in the rows below the window is computed afterwards
/// (solve_below_window); its elements may exceed 1.
///
/// Each thread keeps one row in registers. Each step shifts the remaining elements by one column, so that
/// registers are indexed by constants only. Multipliers and rows of U are stored in shared memory. Rows do
/// not move while the panel is factored; each thread tracks the position that LAPACK's exchanges would give
/// its row. Unlike in LAPACK, ties go to the candidate of the lowest warp and lane, not to the first
/// position.

#include "kernels/getrf/cluster_panel.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The dynamic shared memory of factor_window. Candidates are double-buffered, because a fast warp may store
/// its candidate for the next column while a slow warp still reads the current ones.
template <class T>
struct WindowMemory {
  static constexpr int width = 32;
  static constexpr int threads = gaussweep::lu::pivot_window_rows;
  struct WindowCandidate {
    unsigned magnitude;
    int position;
    T value;
  };
  alignas(16) T warp_rows[2][threads / 32][width];  ///< the rows of the warps' candidates
  WindowCandidate warp_best[2][threads / 32];       ///< the warps' candidates
  T upper[width][width];                            ///< rows of U as [row][column - row]
  T lower[width][threads];                          ///< multipliers as [column][thread]
};

/// Factors the panel at `a` (column-major, lda) of at most `pivot_window_rows` rows and 32 columns in one
/// block. `first` is the index in the matrix of the panel's first row; pivots (from 1) and exchanges refer to
/// rows of the matrix. `info`: set to the index (from 1) of the first zero pivot if it is still 0; the panel
/// is then unusable.
/// @pre sizeof(WindowMemory<T>) bytes of dynamic shared memory
template <class T>
__global__ void __launch_bounds__(gaussweep::lu::pivot_window_rows)
    factor_window(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots,
                  RowPermutation exchanges, int* info) {
#if GAUSSWEEP_CLUSTERS
  using namespace detail;
  static_assert(sizeof(T) == 4,
                "magnitudes are compared as 32-bit words, and doubles do not fit in shared memory");
  constexpr int width = 32;
  constexpr int threads = gaussweep::lu::pivot_window_rows;
  constexpr int warps = threads / 32;
  constexpr int pack = 16 / sizeof(T);
  using WindowCandidate = typename WindowMemory<T>::WindowCandidate;
  WindowMemory<T>& memory = *simt::dynamic_shared<WindowMemory<T>>();
  auto& warp_rows = memory.warp_rows;
  auto& warp_best = memory.warp_best;
  auto& upper = memory.upper;
  auto& lower = memory.lower;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const unsigned warp_rows_address = simt::shared_address(warp_rows);

  T v[width];
  // Padding rows have position -1. Their zeros may become NaN (0 times Inf), but they never become pivots.
  int position = thread < rows ? thread : -1;
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) v[c] = thread < rows && c < cols ? a[thread + c * lda] : T(0);

  int first_zero = no_row;
  int my_pivot = lane;  // the position of the pivot of column `lane`
  GAUSSWEEP_ROLLED
  for (int j = 0; j < cols; ++j) {
    const int buffer = j % 2;
    const unsigned lane_magnitude = position >= j ? magnitude(v[0]) : 0u;
    const unsigned largest = __reduce_max_sync(0xffffffffu, lane_magnitude);
    const int candidate_lane =
        __ffs(static_cast<int>(__ballot_sync(0xffffffffu, lane_magnitude == largest))) - 1;
    if (lane == candidate_lane) {
      warp_best[buffer][warp] = {lane_magnitude, position, v[0]};
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; c += pack)
        simt::store_pack(
            warp_rows_address + static_cast<unsigned>(((buffer * warps + warp) * width + c) * sizeof(T)),
            &v[c]);
    }
    __syncthreads();
    WindowCandidate lane_best = {0, 0, T(0)};
    if (lane < warps) lane_best = warp_best[buffer][lane];
    T inverse = reciprocal(lane_best.value);
    const unsigned best = __reduce_max_sync(0xffffffffu, lane_best.magnitude);
    const int best_warp =
        __ffs(static_cast<int>(__ballot_sync(0xffffffffu, lane_best.magnitude == best))) - 1;
    inverse = __shfl_sync(0xffffffffu, inverse, best_warp);
    const bool zero = best == 0;
    const int pivot = zero ? j : __shfl_sync(0xffffffffu, lane_best.position, best_warp);
    const unsigned u_row_address =
        warp_rows_address + static_cast<unsigned>((buffer * warps + best_warp) * width * sizeof(T));
    if (zero && first_zero == no_row) first_zero = j;
    if (lane == j) my_pivot = pivot;
    // The warps take turns to store rows of U. Register 0 of the pivot row is column j.
    if (warp == j % warps) upper[j][lane] = warp_rows[buffer][best_warp][lane];

    T factor = v[0] * inverse;
    if (best - 0x01000000u >= 0x7e000000u - 0x01000000u)  // no normal reciprocal, as in has_reciprocal
      factor = zero ? T(0) : v[0] / warp_rows[buffer][best_warp][0];
    lower[j][thread] = factor;
    factor = position >= j && position != pivot ? -factor : T(0);
    // LAPACK exchanges the rows at the positions j and `pivot`.
    position = position == pivot ? j : position == j ? pivot : position;
    T u[pack];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) {
      if (c % pack == 0) simt::load_pack(u_row_address + static_cast<unsigned>(c * sizeof(T)), u);
      if (c > 0) v[c - 1] = std::fma(factor, u[c % pack], v[c]);
    }
    v[width - 1] = T(0);
  }
  if (warp == 0 && lane < cols) pivots[lane] = first + my_pivot + 1;
  __syncthreads();  // the last row of `upper` is complete
  if (thread < rows) {
    for (int c = 0; c < cols; ++c)
      a[position + c * lda] = c < position ? lower[c][thread] : upper[position][c - position];
    // For each of the first `cols` rows: `source` is the row whose content moves here. `target` is the row to
    // which the old content moves, or -1 if it stays within these rows.
    if (position < cols) exchanges.source[position] = first + thread;
    if (thread < cols) exchanges.target[thread] = position < cols ? -1 : first + position;
  }
  if (thread == 0 && first_zero != no_row && *info == 0) *info = first + first_zero + 1;
#else
  __trap();  // never runs: the callers require compute capability 9.0
#endif
}

/// Computes one row of L below the window per thread, by substitution with the panel's upper triangle at `u`.
/// @param row the thread's row in the panel
/// @param is_row false: the thread has no row but must take part
/// @pre 32 threads; the panel has 32 columns
template <class T>
__device__ __forceinline__ void solve_below_window(const T* u, T* row, std::int64_t lda, bool is_row) {
  constexpr int width = 32;
  __shared__ __align__(16) T upper[width][width + 4];  // [row][column]
  const int lane = static_cast<int>(threadIdx.x);
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) upper[lane][c] = u[lane + c * lda];
  __syncwarp();
  const T pivot = upper[lane][lane];
  // If a pivot is 0, the panel is unusable (factor_window); this only avoids the division by 0.
  const T own_inverse = pivot == T(0) ? T(0) : T(1) / pivot;
  T x[width];
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) x[c] = is_row ? row[c * lda] : T(0);
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) {
    x[c] *= __shfl_sync(0xffffffffu, own_inverse, c);
    GAUSSWEEP_UNROLL
    for (int k = c + 1; k < width; ++k) x[k] = std::fma(-upper[c][k], x[c], x[k]);
  }
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) {
    if (is_row) row[c * lda] = x[c];
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
