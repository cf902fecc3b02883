#pragma once
/// The kernel for systems of order at most 64: substitution. It takes half to three quarters of the time of
/// solve_chain, which inverts the triangle and needs a second launch to set its counters.
///
/// A thread block copies the matrix to shared memory. A warp then solves for one right-hand side at a time;
/// lane l holds rows l and l + 32. In each step, one lane computes an unknown and sends it to all lanes,
/// which subtract its column. Pivots are multiplied by reciprocals, which were computed before: a division
/// would take most of the time of a step. An unknown then has a relative error of at most 2 u instead of u.

#include <cmath>
#include <limits>

#include "kernels/trsv/block_chain_arguments.cuh"
#include "kernels/trsv/block_chain_exchanges.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

/// The shared memory of a thread block of solve_small.
template <class T>
struct SmallStorage {
  static constexpr int stride = block_order + 1;  ///< rows and columns of `matrix` have no bank conflicts
  T matrix[block_order * stride];                 ///< op(A), column-major
  int later_sources[block_order];                 ///< with pivots: PivotPermutation::source_rows
  int source_rows[block_order];                   ///< with pivots: per row, the row of the original b
};

/// A warp's part of solve_small.
template <class T>
struct SmallSolver {
  const LaunchArguments<T>& arguments;
  SmallStorage<T>& shared;
  int lane;

  static __device__ int row_of_lane(int lane, int half) { return half * lanes + lane; }

  /// The pivots of a lane's rows in one sweep.
  struct Pivots {
    T value[rows_per_lane];
    T reciprocal[rows_per_lane];
    bool divides;  ///< a reciprocal of the warp is too large or too small: the warp divides instead
  };
  /// Returns the pivots of the lane's rows; 1 for a unit diagonal and beyond the matrix.
  __device__ Pivots load_pivots(const Sweep<T>& sweep) const {
    constexpr T least = 4 * std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max() / 4;
    Pivots pivots;
    bool is_extreme = false;
    GAUSSWEEP_UNROLL
    for (int half = 0; half < rows_per_lane; ++half) {
      const int row = row_of_lane(lane, half);
      const bool is_stored = row < arguments.n && !sweep.unit_diagonal;
      const T pivot = is_stored ? shared.matrix[row * (SmallStorage<T>::stride + 1)] : T(1);
      const T magnitude = std::fabs(pivot);
      is_extreme = is_extreme || !(magnitude >= least && magnitude <= most);
      pivots.value[half] = pivot;
      pivots.reciprocal[half] = T(1) / pivot;
    }
    pivots.divides = __any_sync(all_lanes, is_extreme);
    return pivots;
  }

  /// Returns the smallest i, from 1, with a zero pivot i; 0 if there is none.
  static __device__ int first_zero(const Pivots& pivots) {
    const unsigned low = __ballot_sync(all_lanes, pivots.value[0] == T(0));
    const unsigned high = __ballot_sync(all_lanes, pivots.value[1] == T(0));
    if (low != 0) return __ffs(static_cast<int>(low));
    return high != 0 ? lanes + __ffs(static_cast<int>(high)) : 0;
  }

  /// Substitutes the unknowns of one half of the rows: 0 to 31, or 32 to 63.
  /// @param y right-hand sides of the lane's rows; undefined afterwards for this half
  /// @param x receives the unknown of the lane's row in this half
  template <bool Lower, bool Divides, int half>
  __device__ void substitute_half(const Pivots& pivots, T (&y)[rows_per_lane], T& x) const {
    constexpr int other = Lower ? half + 1 : half - 1;  // the half that is solved next, if it is 0 or 1
    constexpr bool has_other = other >= 0 && other < rows_per_lane;
    constexpr int stride = SmallStorage<T>::stride;
    const int count = min(static_cast<int>(arguments.n) - half * lanes, lanes);
    const int first = half * lanes + (Lower ? 0 : count - 1);
    const T* column = shared.matrix + first * stride + lane;
    T next[rows_per_lane] = {};
    const auto load_column = [&] {
      next[half] = column[half * lanes];
      if constexpr (has_other) next[other] = column[other * lanes];
    };
    if (count > 0) load_column();
    for (int step = 0; step < count; ++step) {
      const int source = Lower ? step : count - 1 - step;  // the lane with this unknown
      // The inner condition only keeps the index valid when `other` is not a half.
      const T element = next[half], other_element = has_other ? next[has_other ? other : 0] : T(0);
      if (step + 1 < count) {
        column += Lower ? stride : -stride;
        load_column();
      }
      const T quotient = Divides ? y[half] / pivots.value[half] : y[half] * pivots.reciprocal[half];
      const T unknown = __shfl_sync(all_lanes, quotient, source);
      if (lane == source) x = unknown;
      y[half] = std::fma(-element, unknown, y[half]);  // not used in rows that are already solved
      if constexpr (has_other) y[other] = std::fma(-other_element, unknown, y[other]);
    }
  }
  /// Solves one sweep; y is the right-hand side, then the answer.
  template <bool Lower, bool Divides>
  __device__ void substitute(const Pivots& pivots, T (&y)[rows_per_lane]) const {
    T x[rows_per_lane] = {};
    substitute_half<Lower, Divides, Lower ? 0 : 1>(pivots, y, x[Lower ? 0 : 1]);
    substitute_half<Lower, Divides, Lower ? 1 : 0>(pivots, y, x[Lower ? 1 : 0]);
    GAUSSWEEP_UNROLL
    for (int half = 0; half < rows_per_lane; ++half) y[half] = x[half];
  }
  template <bool Lower>
  __device__ void substitute(const Pivots& pivots, T (&y)[rows_per_lane]) const {
    pivots.divides ? substitute<Lower, true>(pivots, y) : substitute<Lower, false>(pivots, y);
  }

  /// Solves for right-hand sides first, first + step, …
  __device__ void solve(int first, int step) const {
    Pivots pivots[max_sweeps];
    int zero = 0;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < max_sweeps; ++s) {
      if (s >= arguments.sweeps) break;
      pivots[s] = load_pivots(arguments.sweep[s]);
      const int found = first_zero(pivots[s]);
      if (found > 0 && (zero == 0 || found < zero)) zero = found;
    }
    if (first == 0 && lane == 0 && zero > 0 && arguments.info != nullptr) *arguments.info = zero;
    for (int r = first; r < arguments.nrhs; r += step) {
      T* const b = arguments.b + r * arguments.ldb;
      T y[rows_per_lane];
      GAUSSWEEP_UNROLL
      for (int half = 0; half < rows_per_lane; ++half) {
        const int row = row_of_lane(lane, half);
        y[half] = T(0);
        if (row < arguments.n) y[half] = b[arguments.pivots == nullptr ? row : shared.source_rows[row]];
      }
      GAUSSWEEP_UNROLL
      for (int s = 0; s < max_sweeps; ++s) {
        if (s >= arguments.sweeps) break;
        arguments.sweep[s].lower ? substitute<true>(pivots[s], y) : substitute<false>(pivots[s], y);
      }
      GAUSSWEEP_UNROLL
      for (int half = 0; half < rows_per_lane; ++half) {
        const int row = row_of_lane(lane, half);
        if (row < arguments.n) b[row] = y[half];
      }
    }
  }
};

/// Copies op(A) to shared memory, with zeros outside of the matrix and of the triangle that is solved. The
/// source rows of b are computed at the same time.
template <class T, bool Transposed>
__device__ void load_small(const LaunchArguments<T>& arguments, SmallStorage<T>& shared) {
  const int t = static_cast<int>(threadIdx.x);
  const int n = static_cast<int>(arguments.n);
  const bool reads_lower = arguments.sweeps == 2 || arguments.sweep[0].lower;
  const bool reads_upper = arguments.sweeps == 2 || !arguments.sweep[0].lower;
  const bool reads_diagonal = arguments.sweeps == 2 || !arguments.sweep[0].unit_diagonal;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < block_order * block_order / threads; ++k) {
    // p and q are row and column in memory; i and j are row and column of op(A).
    const int p = t % block_order, q = t / block_order + k * (threads / block_order);
    const int i = Transposed ? q : p, j = Transposed ? p : q;
    const bool is_read = i > j ? reads_lower : i < j ? reads_upper : reads_diagonal;
    shared.matrix[j * SmallStorage<T>::stride + i] =
        p < n && q < n && is_read ? arguments.a[p + q * arguments.ld] : T(0);
  }
  if (arguments.pivots != nullptr && t < lanes) {
    const PivotPermutation permutation{n, arguments.pivots, shared.later_sources};
    for (int half = 0; half < rows_per_lane; ++half) shared.later_sources[half * lanes + t] = -1;
    __syncwarp();
    for (int first = 0; first < block_order; first += lanes) {
      const int partner = permutation.partner(first + t, permutation.pivot_of(first + t));
      shared.source_rows[first + t] = permutation.exchange(first, t, partner);
    }
  }
  __syncthreads();
}

/// Solves for all right-hand sides of a launch. Warp w of the grid's W warps solves for right-hand sides w,
/// w + W, …
template <class T, bool Transposed>
__global__ void __launch_bounds__(threads) solve_small(LaunchArguments<T> arguments) {
  __shared__ SmallStorage<T> shared;
  load_small<T, Transposed>(arguments, shared);
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  SmallSolver<T>{arguments, shared, static_cast<int>(threadIdx.x) % lanes}.solve(
      static_cast<int>(blockIdx.x) * warps + warp, static_cast<int>(gridDim.x) * warps);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
