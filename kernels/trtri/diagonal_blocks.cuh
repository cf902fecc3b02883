#pragma once
/// Where trtri/levels begins: the inverses of the 64 x 64 triangles on the diagonal, all in one launch.

#include <cstdint>

#include "kernels/simt/simt.hpp"
#include "kernels/trsv/block_chain_inverse.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// The triangle to be inverted, which an identity continues to a multiple of 64. Or the `count` ones of the
/// same order on a matrix's diagonal, each `next` elements behind the one before. The last one may end with
/// the matrix.
template <class T>
struct Triangle {
  const T* data;
  std::int64_t ld;
  int n;  ///< of all of them
  bool lower;
  bool unit;  ///< ones on the diagonal, whatever is stored there
  int count = 1;
  std::int64_t next = 0;
};

/// *info = i, unless a smaller one, from 1, is there.
__device__ __forceinline__ void note_zero(int* info, int i) {
  int seen = 0;
  for (;;) {
    const int there = atomicCAS(info, seen, i);
    if (there == seen || (there != 0 && there <= i)) return;
    seen = there;
  }
}

/// A block writes a 64 x 64 tile of the inverse `x`: its final elements on the diagonal, zeros in the other
/// triangle. Where all is to happen in `x` (`copies`), it writes the triangle's own elsewhere. `gridDim.z`
/// triangles, their inverses one behind the other. `info`: becomes the first i, from 1, with a 0 on the
/// diagonal; null: nobody asks.
template <class T>
__global__ void __launch_bounds__(chain::threads)
    invert_diagonal_blocks(Triangle<T> a, T* x, std::int64_t ldx, bool copies, int* info) {
  __shared__ chain::Square<T> square;
  constexpr int order = chain::order;
  constexpr int share = order * order / chain::threads;
  const bool diagonal = blockIdx.x == blockIdx.y;
  const bool beside = a.lower ? blockIdx.x > blockIdx.y : blockIdx.x < blockIdx.y;
  if (beside && !copies) return;
  const int triangle = static_cast<int>(blockIdx.z);
  const int before = triangle * static_cast<int>(gridDim.x) * order;  // rows
  const int rows_left = a.n - before;
  const T* const from = a.data + triangle * a.next;
  x += triangle * static_cast<std::int64_t>(gridDim.x) * order * ldx;
  const int i = static_cast<int>(threadIdx.x) % order, j0 = static_cast<int>(threadIdx.x) / order;
  const int row = static_cast<int>(blockIdx.x) * order + i;
  const int first_column = static_cast<int>(blockIdx.y) * order + j0;
  T value[share];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < share; ++k) {
    const int column = first_column + k * (order / share);
    const bool counts = a.lower ? row >= column : row <= column;
    value[k] = row == column ? T(1) : T(0);
    if (counts && row < rows_left && column < rows_left && !(a.unit && row == column)) {
      value[k] = from[row + column * a.ld];
    }
  }
  if (diagonal) {  // an upper triangle as a lower one, by half a turn
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      const int j = j0 + k * (order / share);
      if (i == j && value[k] == T(0) && info != nullptr) note_zero(info, before + row + 1);
      square.at(a.lower ? i : order - 1 - i, a.lower ? j : order - 1 - j) = value[k];
    }
    __syncthreads();
    square.invert(1);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      const int j = j0 + k * (order / share);
      value[k] = square.at(a.lower ? i : order - 1 - i, a.lower ? j : order - 1 - j);
    }
  }
  GAUSSWEEP_UNROLL
  for (int k = 0; k < share; ++k) x[row + (first_column + k * (order / share)) * ldx] = value[k];
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
