#pragma once
/// The panel of an LU factorisation whose pivots are looked for in a window of rows, in one block.
///
/// Pivots are the largest elements of the next 256 rows, not of all: what an LU that is only to precondition
/// needs. Nothing leaves the multiprocessor, and a column costs one barrier. Every warp stores its candidate
/// and that one's row before it, and takes the best of them after it. The rows beyond the window follow by
/// substitution, all at once (solve_beyond); their factors may be larger than 1.
///
/// A thread has a row in registers. Each step moves what is left of it on by one column, so that registers
/// are indexed by constants only. Factors and rows of U go to shared memory as they are known. No row moves
/// while the panel is factored: rows know the position that LAPACK's exchanges would have brought them to. Of
/// equal candidates the first lane's is taken, whatever its position.

#include "kernels/getrf/cluster_panel.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The dynamic shared memory of factor_window. A quick warp may store its best for the next column while a
/// slow one still reads this one's: two turns.
template <class T>
struct WindowMemory {
  static constexpr int width = 32;
  static constexpr int threads = gaussweep::lu::window;
  struct Best {
    unsigned magnitude;
    int position;
    T value;
  };
  alignas(16) T row_of_warp[2][threads / 32][width];
  Best of_warp[2][threads / 32];
  T upper[width][width];  ///< [row][column - row]
  T lower[width][threads];
};

/// Factors the panel at `a` (column-major, lda) of at most `window` rows and 32 columns: one block. `first`
/// is the panel's row in the matrix: pivots (from 1) and exchanges are in the matrix's rows. `info`: the
/// smallest zero pivot, from 1, unless it holds a smaller one; what such a panel then holds is of no use.
/// @pre WindowMemory of dynamic shared memory
template <class T>
__global__ void __launch_bounds__(gaussweep::lu::window)
    factor_window(T* a, std::int64_t lda, int rows, int cols, int first, int* pivots, Exchanges exchanges,
                  int* info) {
#if GAUSSWEEP_CLUSTERS
  using namespace detail;
  static_assert(sizeof(T) == 4, "magnitudes are compared as words, and twice the shared memory is not there");
  constexpr int width = 32;
  constexpr int threads = gaussweep::lu::window;
  constexpr int warps = threads / 32;
  constexpr int pack = 16 / sizeof(T);
  using Best = typename WindowMemory<T>::Best;
  WindowMemory<T>& memory = *simt::dynamic_shared<WindowMemory<T>>();
  auto& row_of_warp = memory.row_of_warp;
  auto& of_warp = memory.of_warp;
  auto& upper = memory.upper;
  auto& lower = memory.lower;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const int warp = thread / 32;
  const unsigned rows_out = simt::shared_address(row_of_warp);

  T v[width];
  int position = thread < rows ? thread : -1;  // no pivot, even if its zeros become NaN
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) v[c] = thread < rows && c < cols ? a[thread + c * lda] : T(0);

  int first_zero = nobody;
  int my_pivot = lane;  // of the panel's column that is this lane's number
  GAUSSWEEP_ROLLED
  for (int j = 0; j < cols; ++j) {
    const int turn = j % 2;
    const unsigned mine = position >= j ? magnitude(v[0]) : 0u;
    const unsigned most = __reduce_max_sync(0xffffffffu, mine);
    const int leader = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, mine == most))) - 1;
    if (lane == leader) {
      of_warp[turn][warp] = {mine, position, v[0]};
      GAUSSWEEP_UNROLL
      for (int c = 0; c < width; c += pack)
        simt::store_pack(rows_out + static_cast<unsigned>(((turn * warps + warp) * width + c) * sizeof(T)),
                         &v[c]);
    }
    __syncthreads();
    Best seen = {0, 0, T(0)};
    if (lane < warps) seen = of_warp[turn][lane];
    T inverse = reciprocal(seen.value);
    const unsigned best = __reduce_max_sync(0xffffffffu, seen.magnitude);
    const int from = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, seen.magnitude == best))) - 1;
    inverse = __shfl_sync(0xffffffffu, inverse, from);
    const bool zero = best == 0;
    const int pivot = zero ? j : __shfl_sync(0xffffffffu, seen.position, from);
    const unsigned u_row = rows_out + static_cast<unsigned>((turn * warps + from) * width * sizeof(T));
    if (zero && first_zero == nobody) first_zero = j;
    if (lane == j) my_pivot = pivot;
    if (warp == j % warps) upper[j][lane] = row_of_warp[turn][from][lane];

    T factor = v[0] * inverse;
    if (best - 0x01000000u >= 0x7e000000u - 0x01000000u)  // its reciprocal is no normal number
      factor = zero ? T(0) : v[0] / row_of_warp[turn][from][0];
    lower[j][thread] = factor;
    factor = position >= j && position != pivot ? -factor : T(0);
    position = position == pivot ? j : position == j ? pivot : position;
    T u[pack];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < width; ++c) {
      if (c % pack == 0) simt::load_pack(u_row + static_cast<unsigned>(c * sizeof(T)), u);
      if (c > 0) v[c - 1] = std::fma(factor, u[c % pack], v[c]);
    }
    v[width - 1] = T(0);
  }
  if (warp == 0 && lane < cols) pivots[lane] = first + my_pivot + 1;
  __syncthreads();  // the last row of `upper`
  if (thread < rows) {
    for (int c = 0; c < cols; ++c)
      a[position + c * lda] = c < position ? lower[c][thread] : upper[position][c - position];
    if (position < cols) exchanges.source[position] = first + thread;
    if (thread < cols) exchanges.target[thread] = position < cols ? -1 : first + position;
  }
  if (thread == 0 && first_zero != nobody && *info == 0) *info = first + first_zero + 1;
#else
  __trap();  // its row asks for compute capability 9.0
#endif
}

/// A row of the thread of the panel's rows beyond the window. What its columns hold becomes their part of L,
/// by substitution with U, the panel's upper triangle of 32 columns at `u`. @pre 32 threads, full columns
template <class T>
__device__ __forceinline__ void solve_beyond(const T* u, T* row, std::int64_t lda, bool inside) {
  constexpr int width = 32;
  __shared__ __align__(16) T upper[width][width + 4];  // [row][column]
  const int lane = static_cast<int>(threadIdx.x);
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) upper[lane][c] = u[lane + c * lda];
  __syncwarp();
  const T pivot = upper[lane][lane];
  const T own_inverse = pivot == T(0) ? T(0) : T(1) / pivot;
  T x[width];
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) x[c] = inside ? row[c * lda] : T(0);
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) {
    x[c] *= __shfl_sync(0xffffffffu, own_inverse, c);
    GAUSSWEEP_UNROLL
    for (int k = c + 1; k < width; ++k) x[k] = std::fma(-upper[c][k], x[c], x[k]);
  }
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) {
    if (inside) row[c * lda] = x[c];
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
