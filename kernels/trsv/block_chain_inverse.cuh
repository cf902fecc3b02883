#pragma once
/// The inverse of a 64 x 64 lower triangle in shared memory, by all threads of a block. The 16 x 16 triangles
/// on the diagonal come first, then pairs of inverses are joined twice. Larger ones:
/// trtri/diagonal_blocks.cuh.

#include "kernels/trsv/block_chain_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

/// A second correction would take registers that doubles need.
template <class T>
constexpr int most_corrections = sizeof(T) == sizeof(float) ? 2 : 1;
/// The largest condition number g = max |inverse| |triangle| e at which so many corrections of an inverse's
/// answer are enough: g (g u)^count <= 1/4. See block_chain.cuh.
template <class T>
__device__ constexpr T most_corrected(int count) {
  if (sizeof(T) == sizeof(double)) return T(0x1p25);
  return count == 1 ? T(0x1p11) : T(0x1p15);
}

/// Lies in shared memory. The block has 4 Order threads.
template <class T, int Order = order>
struct Square {
  static constexpr int apart = Order + 2;  ///< columns start in different banks
  alignas(16) T elements[Order * apart];   ///< in columns; all of them may serve others between inversions
  T quarters[4][Order];
  T scale[Order];
  T reciprocals[Order];
  int corrections;

  __device__ T& at(int i, int j) { return elements[j * apart + i]; }
  __device__ const T& at(int i, int j) const { return elements[j * apart + i]; }

  /// Sums over a row of |square| times `factor`, a quarter a thread.
  __device__ void sum_quarters(bool scaled) {
    const int i = static_cast<int>(threadIdx.x) % order, quarter = static_cast<int>(threadIdx.x) / order;
    T sum = 0;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < order / 4; ++c) {
      const int j = quarter * (order / 4) + c;
      sum = std::fma(std::fabs(at(i, j)), scaled ? scale[j] : T(1), sum);
    }
    quarters[quarter][i] = sum;
  }
  __device__ T row_sum(int i) const {
    return (quarters[0][i] + quarters[1][i]) + (quarters[2][i] + quarters[3][i]);
  }

  /// The 16 x 16 triangles on the diagonal, a thread a column. @pre reciprocals, and a barrier
  __device__ void invert_small() {
    constexpr int small = 16;
    const int t = static_cast<int>(threadIdx.x);
    const int base = t / small * small, c = t % small;
    T x[small];
    if (t < Order) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < small; ++i) {
        T sum = i == c ? T(1) : T(0);
        GAUSSWEEP_UNROLL
        for (int m = 0; m < i; ++m) sum = std::fma(-at(base + i, base + m), x[m], sum);
        x[i] = i < c ? T(0) : sum * reciprocals[base + i];
      }
    }
    __syncthreads();
    if (t < Order) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < small; ++i) at(base + i, base + c) = x[i];
    }
    __syncthreads();
  }

  /// sums[e] = row r of the h x h part at (i0, j0) times column e of the part at (i1, j1).
  template <int h, int E>
  __device__ void small_product(T (&sums)[E], int i0, int j0, int i1, int j1, int from) const {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < E; ++e) sums[e] = T(0);
    for (int m = from; m < h; m += 2) {
      const T left = at(i0, j0 + m), right = at(i0, j0 + m + 1);
      GAUSSWEEP_UNROLL
      for (int e = 0; e < E; ++e) {
        const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(&at(i1 + m, j1 + e));
        sums[e] = std::fma(left, pair.first, sums[e]);
        sums[e] = std::fma(right, pair.second, sums[e]);
      }
    }
  }
  /// [X 0; L Y] with the inverses X and Y becomes [X 0; -Y L X Y], for all pairs of h x h triangles.
  template <int h>
  __device__ void join() {
    constexpr int E = h / 8;
    const int t = static_cast<int>(threadIdx.x);
    const int r = t % h, column = t / h * E;  // columns of all pairs are counted through
    const int base = column / h * 2 * h, c = column % h;
    T sums[E];
    small_product<h, E>(sums, base + h + r, base, base, base + c, c / 2 * 2);
    __syncthreads();
    GAUSSWEEP_UNROLL
    for (int e = 0; e < E; ++e) at(base + h + r, base + c + e) = sums[e];
    __syncthreads();
    small_product<h, E>(sums, base + h + r, base + h, base + h, base + c, 0);
    __syncthreads();
    GAUSSWEEP_UNROLL
    for (int e = 0; e < E; ++e) at(base + h + r, base + c + e) = -sums[e];
    __syncthreads();
  }

  /// The triangle in `square` becomes its inverse.
  /// @return how many corrections its answers need, none up to condition number `trusted`; more than
  /// most_corrections where it is of no use
  __device__ int invert(float trusted) {
    const int t = static_cast<int>(threadIdx.x);
    sum_quarters(false);
    if (t < order) reciprocals[t] = T(1) / at(t, t);
    if (t == 0) corrections = 0;
    __syncthreads();
    if (t < order) scale[t] = row_sum(t);
    invert_small();
    join<16>();
    join<32>();
    sum_quarters(true);
    __syncthreads();
    if (t < order) {
      const T condition = row_sum(t);
      int count = condition <= T(trusted) ? 0 : 1;
      while (count > 0 && count <= most_corrections<T> && !(condition <= most_corrected<T>(count))) ++count;
      atomicMax(&corrections, count);
    }
    __syncthreads();
    return corrections;
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
