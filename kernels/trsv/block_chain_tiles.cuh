#pragma once
/// The building blocks of block_chain.cuh: tile sizes, products of tiles in registers, and the representation
/// of numbers that thread blocks exchange through global memory.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::chain {

constexpr int block_order = 64;  ///< rows of a block row
constexpr int warps = 8;         ///< warps per thread block; each multiplies its columns of every tile
constexpr int lanes = 32;
constexpr int threads = warps * lanes;
constexpr int columns_per_warp = block_order / warps;  ///< 8 columns of every tile
constexpr int rows_per_lane = block_order / lanes;     ///< 2 rows of every tile
constexpr int stride =
    block_order + 2;  ///< leading dimension of SharedTriangle; columns start in different banks
constexpr unsigned all_lanes = 0xffffffffu;
constexpr unsigned unset_counter = 0xffffffffu;  ///< a counter in GroupCounters that was never written

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Returns true if all bits of the value are set: no value has been published at its address yet.
template <class T>
__device__ __forceinline__ bool is_unpublished(T value) {
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

/// Returns the value, with every NaN replaced by a NaN whose bits are not all set.
template <class T>
__device__ __forceinline__ T with_canonical_nan(T value) {
  return value == value ? value : std::numeric_limits<T>::quiet_NaN();
}

/// A lane's elements of the warp's columns of a tile; value[c][v] is in column c, row row_of(lane, v).
template <class T>
struct LaneFragment {
  T value[columns_per_warp][rows_per_lane];
};

/// Returns row v, from 0, of a lane's two rows within a block row.
/// @tparam HasAdjacentRows true: the lane's rows are adjacent, so that one access loads both
template <bool HasAdjacentRows>
__device__ __forceinline__ int row_of(int lane, int v) {
  return HasAdjacentRows ? rows_per_lane * lane + v : lane + lanes * v;
}

/// Loads the lane's elements of `columns_per_warp` columns of a tile. Elements beyond `height` and `width`
/// become 0.
/// @tparam Transposed true: rows are contiguous in memory instead of columns
/// @param first the first element of the columns
template <class T, bool HasAdjacentRows, bool Transposed = false>
__device__ __forceinline__ void load(LaneFragment<T>& fragment, const T* first, std::int64_t ld, int lane,
                                     std::int64_t height, std::int64_t width) {
  if (height >= block_order && width >= columns_per_warp) {
    if constexpr (HasAdjacentRows && Transposed) {
      GAUSSWEEP_UNROLL
      for (int v = 0; v < rows_per_lane; ++v) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < columns_per_warp; c += 2) {
          const Pair<T> pair =
              *reinterpret_cast<const Pair<T>*>(first + row_of<HasAdjacentRows>(lane, v) * ld + c);
          fragment.value[c][v] = pair.first;
          fragment.value[c + 1][v] = pair.second;
        }
      }
    } else {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns_per_warp; ++c) {
        if constexpr (HasAdjacentRows) {
          const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(first + c * ld + rows_per_lane * lane);
          fragment.value[c][0] = pair.first;
          fragment.value[c][1] = pair.second;
        } else {
          GAUSSWEEP_UNROLL
          for (int v = 0; v < rows_per_lane; ++v) {
            const int row = row_of<HasAdjacentRows>(lane, v);
            fragment.value[c][v] = first[Transposed ? c + row * ld : c * ld + row];
          }
        }
      }
    }
    return;
  }
  GAUSSWEEP_UNROLL
  for (int c = 0; c < columns_per_warp; ++c) {
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows_per_lane; ++v) {
      const int row = row_of<HasAdjacentRows>(lane, v);
      fragment.value[c][v] =
          row < height && c < width ? first[Transposed ? c + row * ld : c * ld + row] : T(0);
    }
  }
}

/// Adds the product of the warp's columns and RhsPerGroup vectors of `columns_per_warp` elements, in shared
/// memory at `staged`, to the lane's sums.
template <class T, int RhsPerGroup>
__device__ __forceinline__ void multiply(const LaneFragment<T>& fragment, const T* staged,
                                         T (&sums)[RhsPerGroup][rows_per_lane]) {
  GAUSSWEEP_UNROLL
  for (int r = 0; r < RhsPerGroup; ++r) {
    T x[columns_per_warp];
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns_per_warp; c += 2) {
      const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(staged + r * columns_per_warp + c);
      x[c] = pair.first;
      x[c + 1] = pair.second;
    }
    GAUSSWEEP_UNROLL
    for (int v = 0; v < rows_per_lane; ++v) {  // two independent sums per row shorten the dependency chain
      T even = sums[r][v], odd = T(0);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns_per_warp; c += 2) {
        even = std::fma(fragment.value[c][v], x[c], even);
        odd = std::fma(fragment.value[c + 1][v], x[c + 1], odd);
      }
      sums[r][v] = even + odd;
    }
  }
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::chain
