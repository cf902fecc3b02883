#pragma once
/// What the chain of block rows (block_chain.cuh) is made of. These are its measures, the tiles of the
/// matrix, and the numbers that blocks hand to each other.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

constexpr int order = 64;  ///< rows of a block row
constexpr int warps = 8;   ///< of a block, each with its columns of every tile
constexpr int lanes = 32;
constexpr int threads = warps * lanes;
constexpr int columns = order / warps;
constexpr int rows = order / lanes;  ///< of a lane: 2
constexpr int stride = order + 2;    ///< of a square in shared memory: columns start in different banks
constexpr unsigned all_lanes = 0xffffffffu;
constexpr unsigned unset = 0xffffffffu;

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// No number, but what was there before.
template <class T>
__device__ __forceinline__ bool is_absent(T value) {
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits;
    memcpy(&bits, &value, sizeof(T));
    return bits == ~0ull;
  } else {
    unsigned bits;
    memcpy(&bits, &value, sizeof(T));
    return bits == ~0u;
  }
}

/// Any NaN as one that is not taken for an absent number.
template <class T>
__device__ __forceinline__ T presentable(T value) {
  return value == value ? value : std::numeric_limits<T>::quiet_NaN();
}

/// A warp's columns of a tile, in registers.
template <class T>
struct Slice {
  T value[columns][rows];
};

/// The row of a block row that is a lane's v-th. Paired: two neighbours, which one load brings.
template <bool Paired>
__device__ __forceinline__ int row_of(int lane, int v) {
  return Paired ? rows * lane + v : lane + lanes * v;
}

/// The part of a matrix from `first` on; beyond its `height` and `width` are zeros.
template <class T, bool Paired>
__device__ __forceinline__ void load(Slice<T>& slice, const T* first, std::int64_t ld, int lane,
                                     std::int64_t height, std::int64_t width) {
  if (height >= order && width >= columns) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns; ++c) {
      if constexpr (Paired) {
        const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(first + c * ld + rows * lane);
        slice.value[c][0] = pair.first;
        slice.value[c][1] = pair.second;
      } else {
        GAUSSWEEP_UNROLL
        for (int v = 0; v < rows; ++v) slice.value[c][v] = first[c * ld + row_of<Paired>(lane, v)];
      }
    }
    return;
  }
  GAUSSWEEP_UNROLL
  for (int c = 0; c < columns; ++c) {
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows; ++v) {
      const int row = row_of<Paired>(lane, v);
      slice.value[c][v] = row < height && c < width ? first[c * ld + row] : T(0);
    }
  }
}

/// sums += slice * the numbers staged for this warp.
template <class T, int R>
__device__ __forceinline__ void multiply(const Slice<T>& slice, const T* staged, T (&sums)[R][rows]) {
  GAUSSWEEP_UNROLL
  for (int r = 0; r < R; ++r) {
    T x[columns];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns; c += 2) {
      const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(staged + r * columns + c);
      x[c] = pair.first;
      x[c + 1] = pair.second;
    }
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows; ++v) {  // two sums a row, so that the second does not wait for the first
      T even = sums[r][v], odd = T(0);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns; c += 2) {
        even = std::fma(slice.value[c][v], x[c], even);
        odd = std::fma(slice.value[c + 1][v], x[c + 1], odd);
      }
      sums[r][v] = even + odd;
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
