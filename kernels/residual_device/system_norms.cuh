#pragma once
/// A system of a batch and those who judge it (system_ratios.cu): teams of lanes, and their norms.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/residual_device/device_elements.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

constexpr int most_threads = 256, most_warps = most_threads / 32;

/// Who judges a system: so many lanes of a warp, or of 32 all warps of a block.
template <int Lanes>
struct Team {
  static constexpr int teams = Lanes < 32 ? most_threads / 2 / Lanes : 1;  ///< of a block
  static __device__ __forceinline__ int seat() {
    return Lanes < 32 ? static_cast<int>(threadIdx.x) / Lanes : 0;
  }
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % Lanes; }
  static __device__ __forceinline__ int warp() { return Lanes < 32 ? 0 : static_cast<int>(threadIdx.x) / 32; }
  static __device__ __forceinline__ int warps() { return Lanes < 32 ? 1 : static_cast<int>(blockDim.x) / 32; }
  static __device__ __forceinline__ int thread() { return warp() * Lanes + lane(); }
  static __device__ __forceinline__ int threads() { return warps() * Lanes; }
  static __device__ __forceinline__ unsigned mask() {
    return Lanes == 32 ? 0xffffffffu : ((1u << (Lanes % 32)) - 1) << (threadIdx.x % 32 / Lanes * Lanes);
  }
  static __device__ __forceinline__ void wait() {
    if (warps() == 1) {
      __syncwarp(mask());
    } else {
      __syncthreads();
    }
  }
};

/// As Scaled divides: 0 / 0 is 0, and anything else by 0 the largest number.
__device__ __forceinline__ double share(double part, double whole) {
  return part == 0 ? 0 : whole > 0 ? min(part / whole, 1.7976931348623157e308) : 1.7976931348623157e308;
}

template <int Lanes>
__device__ __forceinline__ double sum_of_warp(double value) {
  const unsigned mask = Team<Lanes>::mask();
  GAUSSWEEP_UNROLL
  for (int apart = Lanes / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(mask, value, apart);
  return value;
}
/// Of sizes; NaN, whose bits are above all others', where there is one.
template <int Lanes>
__device__ __forceinline__ double largest_of_warp(double value) {
  const unsigned mask = Team<Lanes>::mask();
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof bits);
  GAUSSWEEP_UNROLL
  for (int apart = Lanes / 2; apart > 0; apart /= 2) bits = max(bits, __shfl_xor_sync(mask, bits, apart));
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// What a team shares: a number of each warp, and what each is to take of the right operand, in the order of
/// inner indices.
constexpr int most_columns = 8;
template <int Lanes>
struct Board {
  double of_warps[most_warps];
  alignas(16) double right[Lanes < 32 ? 1 : most_warps][Lanes][most_columns];
};

/// One number from each warp's: the largest or the sum, in every thread.
template <int Lanes>
__device__ double together(Board<Lanes>& board, double of_warp, bool adds) {
  using Own = Team<Lanes>;
  if (Own::warps() == 1) return of_warp;
  __syncthreads();
  if (Own::lane() == 0) board.of_warps[Own::warp()] = of_warp;
  __syncthreads();
  double all = 0;
  for (int w = 0; w < Own::warps(); ++w) {
    const double one = board.of_warps[w];
    all = adds ? all + one : one > all || one != one ? one : all;
    if (all != all) break;
  }
  return all;
}
template <int Lanes>
__device__ __forceinline__ double largest_of_all(Board<Lanes>& board, double value) {
  return together<Lanes>(board, largest_of_warp<Lanes>(value), false);
}

/// data[offset] where it counts, else 0. It loads in any case: loads under conditions wait for each other.
template <class T>
__device__ __forceinline__ T loaded(const T* data, std::int64_t offset, bool counts) {
  const T value = data[counts ? offset : 0];
  return counts ? value : T(0);
}
/// What a lane loads before it uses the first of it.
constexpr int ahead = 8;

/// visit(c, size) for all elements of `ahead` columns of the warp, c the column of these; then at_end().
template <int Lanes, class T, class Visit, class AtEnd>
__device__ __forceinline__ void for_sizes(const Elements<T>& m, Visit&& visit, AtEnd&& at_end) {
  for (std::int64_t j = Team<Lanes>::warp() * ahead; j < m.cols; j += Team<Lanes>::warps() * ahead) {
    GAUSSWEEP_ROLLED
    for (std::int64_t i = Team<Lanes>::lane(); i < m.rows; i += Lanes) {
      T elements[ahead];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c)
        elements[c] = loaded(m.data, i * m.down + (j + c) * m.across, counts(m, i, j + c));
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c) visit(c, fabs(static_cast<double>(elements[c])));
    }
    at_end();
  }
}

/// The largest size of the elements that count, NaN where one is none.
template <int Lanes, class T>
__device__ double largest_element(Board<Lanes>& board, const Elements<T>& m) {
  double most = 0;
  for_sizes<Lanes>(
      m,
      [&](int, double size) {
        if (!(size <= most)) most = most != most ? most : size;
      },
      [] {});
  return largest_of_all<Lanes>(board, most);
}

/// The largest sum of sizes of a column, or of a row.
template <int Lanes, class T>
__device__ double largest_column_sum(Board<Lanes>& board, const Elements<T>& m) {
  double most = 0, sums[ahead] = {};
  for_sizes<Lanes>(
      m, [&](int c, double size) { sums[c] += size; },
      [&] {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < ahead; ++c) {
          most = max(most, sum_of_warp<Lanes>(sums[c]));
          sums[c] = 0;
        }
      });
  return together<Lanes>(board, most, false);
}
/// @param mirrored the triangle stands for the symmetric matrix
template <int Lanes, class T>
__device__ double largest_row_sum(Board<Lanes>& board, const Elements<T>& m, bool mirrored) {
  double most = 0;
  for (std::int64_t i = Team<Lanes>::thread(); i < m.rows; i += Team<Lanes>::threads()) {
    double sum = 0;
    GAUSSWEEP_ROLLED
    for (std::int64_t first = 0; first < m.cols; first += ahead) {
      T elements[ahead];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c) {
        const std::int64_t j = first + c;
        const bool swapped = mirrored && !counts(m, i, j);
        const std::int64_t row = swapped ? j : i, col = swapped ? i : j;
        elements[c] = loaded(m.data, row * m.down + col * m.across, counts(m, row, col));
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c) sum += fabs(static_cast<double>(elements[c]));
    }
    most = max(most, sum);
  }
  return largest_of_all<Lanes>(board, most);
}
template <int Lanes, class T>
__device__ double sum_of_squares(Board<Lanes>& board, const Elements<T>& m) {
  double sum = 0;
  for (std::int64_t j = Team<Lanes>::warp(); j < m.cols; j += Team<Lanes>::warps()) {
    for (std::int64_t i = Team<Lanes>::lane(); i < m.rows; i += Lanes)
      sum += element(m, i, j) * element(m, i, j);
  }
  return together<Lanes>(board, sum_of_warp<Lanes>(sum), true);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
