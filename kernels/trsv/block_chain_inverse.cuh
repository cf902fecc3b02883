#pragma once
/// Inverts a 64 x 64 lower triangle in shared memory with all threads of a thread block. First inverts the
/// 16 x 16 triangles on the diagonal, then joins pairs of inverses to inverses of order 32 and 64.
/// trtri/diagonal_blocks.cuh inverts larger triangles.

#include "kernels/trsv/block_chain_tiles.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

/// The maximum number of corrections of a solution. A correction adds the inverse times the residual
/// (block_chain.cuh). In double a second correction would need too many registers.
template <class T>
constexpr int max_corrections = sizeof(T) == sizeof(float) ? 2 : 1;
/// Returns the largest condition number g (block_chain.cuh) for which `count` corrections suffice:
/// g (g u)^count <= 1/4. In double also g^2 (g u) <= 1/4, because |triangle inverse - I| can be as large as
/// g^2 u.
template <class T>
__device__ constexpr T correctable_condition(int count) {
  if (sizeof(T) == sizeof(double)) return T(0x1p17);
  return count == 1 ? T(0x1p11) : T(0x1p15);
}

/// A triangle in shared memory, stored as a square. The thread block has 4 Order threads.
template <class T, int Order = block_order>
struct SharedTriangle {
  static constexpr int leading_dimension = Order + 2;  ///< columns start in different banks
  alignas(16) T elements[Order * leading_dimension];  ///< column-major; free for other use between inversions
  T quarters[4][Order];  ///< row sums, each over a quarter of the columns (sum_quarters)
  T scale[Order];        ///< row sums of |triangle|
  T reciprocals[Order];  ///< reciprocals of the triangle's diagonal
  int corrections;       ///< number of corrections that solutions need

  __device__ T& at(int i, int j) { return elements[j * leading_dimension + i]; }
  __device__ const T& at(int i, int j) const { return elements[j * leading_dimension + i]; }

  /// Computes quarters of the row sums of |elements|, one quarter per thread, for triangles of block_order
  /// rows. If `scaled`, multiplies each element by the `scale` of its column.
  __device__ void sum_quarters(bool scaled) {
    const int i = static_cast<int>(threadIdx.x) % block_order,
              quarter = static_cast<int>(threadIdx.x) / block_order;
    T sum = 0;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < block_order / 4; ++c) {
      const int j = quarter * (block_order / 4) + c;
      sum = std::fma(std::fabs(at(i, j)), scaled ? scale[j] : T(1), sum);
    }
    quarters[quarter][i] = sum;
  }
  __device__ T row_sum(int i) const {
    return (quarters[0][i] + quarters[1][i]) + (quarters[2][i] + quarters[3][i]);
  }

  /// Inverts the 16 x 16 triangles on the diagonal, one thread per column. @pre `reciprocals` are set,
  /// followed by a barrier
  __device__ void invert_16x16() {
    constexpr int small_order = 16;
    const int t = static_cast<int>(threadIdx.x);
    const int base = t / small_order * small_order, c = t % small_order;
    T x[small_order];
    if (t < Order) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < small_order; ++i) {
        T sum = i == c ? T(1) : T(0);
        GAUSSWEEP_UNROLL
        for (int m = 0; m < i; ++m) sum = std::fma(-at(base + i, base + m), x[m], sum);
        x[i] = i < c ? T(0) : sum * reciprocals[base + i];
      }
    }
    __syncthreads();
    if (t < Order) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < small_order; ++i) at(base + i, base + c) = x[i];
    }
    __syncthreads();
  }

  /// Computes ElementsPerThread elements in one row of a product of h x h blocks. For each e, sums[e] is the
  /// sum of at(i0, j0 + k) at(i1 + k, j1 + e) over k in [from, h). `from` is even.
  template <int h, int ElementsPerThread>
  __device__ void small_product(T (&sums)[ElementsPerThread], int i0, int j0, int i1, int j1,
                                int from) const {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < ElementsPerThread; ++e) sums[e] = T(0);
    for (int m = from; m < h; m += 2) {
      const T left = at(i0, j0 + m), right = at(i0, j0 + m + 1);
      GAUSSWEEP_UNROLL
      for (int e = 0; e < ElementsPerThread; ++e) {
        const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(&at(i1 + m, j1 + e));
        sums[e] = std::fma(left, pair.first, sums[e]);
        sums[e] = std::fma(right, pair.second, sums[e]);
      }
    }
  }
  /// For all pairs of h x h triangles, replaces [X, 0; L, Y] by [X, 0; -Y L X, Y]. X and Y are already
  /// inverses.
  template <int h>
  __device__ void join() {
    constexpr int ElementsPerThread = h / 8;
    const int t = static_cast<int>(threadIdx.x);
    const int r = t % h, column = t / h * ElementsPerThread;  // columns are numbered over all pairs
    const int base = column / h * 2 * h, c = column % h;
    T sums[ElementsPerThread];
    // L X: column c of the lower triangular X begins at row c; k begins at an even index.
    small_product<h, ElementsPerThread>(sums, base + h + r, base, base, base + c, c / 2 * 2);
    __syncthreads();
    GAUSSWEEP_UNROLL
    for (int e = 0; e < ElementsPerThread; ++e) at(base + h + r, base + c + e) = sums[e];
    __syncthreads();
    // Y (L X); the zeros of Y are multiplied, too.
    small_product<h, ElementsPerThread>(sums, base + h + r, base + h, base + h, base + c, 0);
    __syncthreads();
    GAUSSWEEP_UNROLL
    for (int e = 0; e < ElementsPerThread; ++e) at(base + h + r, base + c + e) = -sums[e];
    __syncthreads();
  }

  /// Replaces the triangle by its inverse. Returns the number of corrections that solutions need: 0 if the
  /// condition number is at most `max_uncorrected_condition`, more than max_corrections if the inverse is
  /// unusable.
  __device__ int invert(float max_uncorrected_condition) {
    const int t = static_cast<int>(threadIdx.x);
    constexpr bool unscaled = false, scaled = true;
    sum_quarters(unscaled);
    if (t < block_order) reciprocals[t] = T(1) / at(t, t);
    if (t == 0) corrections = 0;
    __syncthreads();
    if (t < block_order) scale[t] = row_sum(t);
    invert_16x16();
    join<16>();
    join<32>();
    sum_quarters(scaled);
    __syncthreads();
    if (t < block_order) {
      const T condition = row_sum(t);
      int count = condition <= T(max_uncorrected_condition) ? 0 : 1;
      while (count > 0 && count <= max_corrections<T> && !(condition <= correctable_condition<T>(count)))
        ++count;
      atomicMax(&corrections, count);
    }
    __syncthreads();
    return corrections;
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
