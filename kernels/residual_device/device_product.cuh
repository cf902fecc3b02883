#pragma once
/// The judge's product C - L R on a device: residual.cpp's sums, element for element the same operations in
/// the same order, so the same bits. Portable.
///
/// A block computes a tile of 64 x 64, a thread 16 elements of it. High and low sums over 32 inner indices
/// are in registers, between them the tile's three sums. That is 5 operations an element and inner index in
/// double, one in float, on the ordinary floating-point units.

#include <cstring>

#include "kernels/residual/residual.hpp"
#include "kernels/residual/tile.hpp"
#include "kernels/residual_device/device_elements.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

using tiles::depth;
using tiles::edge;

/// Target (residual.hpp) on a device.
template <class T>
struct Wanted {
  const T* data;  ///< null: the identity
  std::int64_t down, across;
  Part known;
  const std::int64_t* order;
};

template <class T>
struct Product {
  Elements<T> left, right;
  const double *largest_of_rows, *largest_of_cols;  ///< of left's rows, of right's columns
  Wanted<T> wanted;
  Measure measure;
  std::int64_t begin, cols;  ///< the strip of columns [begin, begin + cols); begin is a multiple of edge
};

/// What becomes of a tile: a measure of each of its columns; or high + low of each element, written to
/// `sizes`. `shares` is the largest share of what is allowed, the sizes being those of |L| |R|.
enum class Use { columns, sizes, shares };

/// Elements whose share has to be taken exactly, by the host.
struct Undecided {
  std::int64_t row, col;
  Scaled allowed;
};

struct Shares {
  Allowance allowance;
  double unit;                 ///< error of an element in units of its row's and column's powers
  unsigned long long* most;    ///< the bits of a double, which is not negative
  unsigned long long* listed;  ///< how many are undecided, also where they are more than `room`
  Undecided* list;
  unsigned long long room;
};

constexpr int product_threads = 256;
constexpr int chunk = 16;  // inner indices in shared memory
constexpr int pitch = edge + 2;
constexpr int own = 4;                                    // rows, and columns, of a thread
constexpr int fetched = edge * chunk / product_threads;   // elements a thread loads of each operand
constexpr int residual_pitch = edge + 1;                  // mantissas; behind them the exponents
constexpr int desk_size = edge * residual_pitch * 5 / 4;  // in doubles

struct alignas(16) Pair {
  double x, y;
};

/// a b + c where that is exact, or where a b is: fused or not, the same bits.
__device__ __forceinline__ double add_exact_product(double a, double b, double c) {
#ifdef __CUDACC__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <class T>
__device__ __forceinline__ double wanted_element(const Wanted<T>& wanted, std::int64_t i, std::int64_t j) {
  if (wanted.data == nullptr) return i == j ? 1 : 0;
  const bool swapped = (wanted.known == Part::lower && i < j) || (wanted.known == Part::upper && i > j);
  const std::int64_t row = swapped ? j : i, col = swapped ? i : j;
  return wanted.data[(wanted.order == nullptr ? row : wanted.order[row]) * wanted.down + col * wanted.across];
}

/// What a thread loads of an operand: `fetched` of the 64 lines x 16 inner indices, neighbouring threads what
/// are neighbours in memory. Nothing waits for what is loaded before it is stowed.
template <class T>
struct Feed {
  /// @param lines rows of the left operand or columns of the right one, from `first` on
  __device__ __forceinline__ Feed(const Elements<T>& m, bool rows, std::int64_t first, std::int64_t begin)
      : along_lines((rows ? m.down : m.across) == 1),
        absolute(m.absolute),
        unit_diagonal(m.unit_diagonal),
        from_line(m.part == (rows ? Part::upper : Part::lower)),
        to_line(m.part == (rows ? Part::lower : Part::upper)),
        lines(static_cast<int>(rows ? m.rows : m.cols)),
        terms(static_cast<int>(rows ? m.cols : m.rows)) {
    const auto t = static_cast<int>(threadIdx.x);
    line = along_lines ? t % edge : t / chunk;
    inner = along_lines ? t / edge : t % chunk;
    first_line = static_cast<int>(first);
    k = static_cast<int>(begin) + inner;
    const std::int64_t line_stride = rows ? m.down : m.across, inner_stride = rows ? m.across : m.down;
    at = m.data + (first + line) * line_stride + (begin + inner) * inner_stride;
    apart = along_lines ? inner_stride * inner_apart : line_stride * line_apart;
    step = inner_stride * chunk;
  }
  /// Loads the next 16 inner indices.
  __device__ __forceinline__ void fetch() {
    GAUSSWEEP_UNROLL
    for (int f = 0; f < fetched; ++f) {
      const int own_line = first_line + line + (along_lines ? 0 : f * line_apart);
      const int own_k = k + (along_lines ? f * inner_apart : 0);
      const bool diagonal = unit_diagonal && own_k == own_line;
      const bool inside = own_line < lines && own_k < terms && !(from_line && own_k < own_line) &&
                          !(to_line && own_k > own_line);
      values[f] = diagonal ? T(1) : T(0);
      if (inside && !diagonal) values[f] = at[f * apart];
    }
    k += chunk;
    at += step;
  }
  /// Divided by their lines' powers, and in double split, into shared memory.
  __device__ __forceinline__ void stow(const tiles::Divisor* divisors, double* high, double* low) const {
    GAUSSWEEP_UNROLL
    for (int f = 0; f < fetched; ++f) {
      const int own_line = line + (along_lines ? 0 : f * line_apart);
      const int place = (inner + (along_lines ? f * inner_apart : 0)) * pitch + own_line;
      const double value = absolute ? fabs(static_cast<double>(values[f])) : static_cast<double>(values[f]);
      const double x = value * divisors[own_line].first * divisors[own_line].second;
      if (tiles::splits<T>) {
        const double leading = tiles::high_part(x);
        high[place] = leading;
        low[place] = x - leading;
      } else {
        high[place] = x;
      }
    }
  }

  static constexpr int line_apart = product_threads / chunk, inner_apart = product_threads / edge;
  bool along_lines, absolute, unit_diagonal;
  bool from_line, to_line;  ///< which inner indices of a line count: from it on, up to it
  int lines, terms;
  int line, inner, first_line, k;
  const T* at;
  std::int64_t apart, step;
  T values[fetched];
};

/// The four elements of a thread: two pairs, `apart` from each other.
__device__ __forceinline__ void take(const double* line, int first, int apart, double out[own]) {
  const Pair one = *reinterpret_cast<const Pair*>(line + first);
  const Pair two = *reinterpret_cast<const Pair*>(line + first + apart);
  out[0] = one.x;
  out[1] = one.y;
  out[2] = two.x;
  out[3] = two.y;
}

template <class T, Use use>
__global__ void __launch_bounds__(product_threads)
    product_kernel(Product<T> p, Scaled* parts, double* sizes, Shares shares) {
  __shared__ Pair shared[desk_size / 2];
  __shared__ int row_exponents[edge], col_exponents[edge];
  __shared__ tiles::Divisor row_divisors[edge], col_divisors[edge];
  double* const left_high = reinterpret_cast<double*>(shared);
  double* const right_high = left_high + chunk * pitch;
  double* const left_low = right_high + chunk * pitch;
  double* const right_low = left_low + chunk * pitch;
  const auto t = static_cast<int>(threadIdx.x);

  // The tiles with most to do first.
  const std::int64_t down = (p.left.rows + edge - 1) / edge, across = (p.cols + edge - 1) / edge;
  std::int64_t tile_row = blockIdx.x % down, tile_col = blockIdx.x / down;
  if (p.left.part == Part::lower) tile_row = down - 1 - tile_row;
  if (p.right.part == Part::upper) tile_col = across - 1 - tile_col;
  const std::int64_t i0 = tile_row * edge, j0 = p.begin + tile_col * edge;
  const std::int64_t rows = min(static_cast<std::int64_t>(edge), p.left.rows - i0);
  const std::int64_t cols = min(static_cast<std::int64_t>(edge), p.begin + p.cols - j0);
  if (t < edge) {
    row_exponents[t] = t < rows ? exponent_of(p.largest_of_rows[i0 + t]) : 0;
    col_exponents[t] = t < cols ? exponent_of(p.largest_of_cols[j0 + t]) : 0;
    row_divisors[t] = tiles::divisor_of(row_exponents[t]);
    col_divisors[t] = tiles::divisor_of(col_exponents[t]);
  }
  // Factors::inner
  std::int64_t begin = 0, end = p.left.cols;
  if (p.left.part == Part::lower) end = min(end, i0 + rows);
  if (p.left.part == Part::upper) begin = max(begin, i0);
  if (p.right.part == Part::lower) begin = max(begin, j0);
  if (p.right.part == Part::upper) end = min(end, j0 + cols);

  const std::int64_t first_k = begin / depth * depth;
  Feed<T> left(p.left, true, i0, first_k), right(p.right, false, j0, first_k);

  // A warp has 32 rows and 16 columns; a thread's are in pairs, so that a warp reads whole lines.
  const int lane = t % 32, warp = t / 32;
  const int first_row = warp % 2 * 32 + lane % 8 * 2, first_col = warp / 2 * 16 + lane / 8 * 2;
  double high_sum[own][own] = {}, low_sum[own][own] = {}, lowest_sum[own][own] = {};
  if (first_k < end) {
    left.fetch();
    right.fetch();
  }
  for (std::int64_t k0 = first_k; k0 < end; k0 += depth) {
    double high[own][own] = {}, low[own][own] = {};
    for (int half = 0; half < depth / chunk; ++half) {
      __syncthreads();
      left.stow(row_divisors, left_high, left_low);
      right.stow(col_divisors, right_high, right_low);
      __syncthreads();
      if (half == 0 || k0 + depth < end) {
        left.fetch();
        right.fetch();
      }
      for (int d = 0; d < chunk; ++d) {
        double a_high[own], b_high[own];
        take(left_high + d * pitch, first_row, 16, a_high);
        take(right_high + d * pitch, first_col, 8, b_high);
        double a_low[own] = {}, b_low[own] = {}, both[own] = {};
        if (tiles::splits<T>) {
          take(left_low + d * pitch, first_row, 16, a_low);
          take(right_low + d * pitch, first_col, 8, b_low);
          GAUSSWEEP_UNROLL
          for (int c = 0; c < own; ++c) both[c] = b_high[c] + b_low[c];
        }
        GAUSSWEEP_UNROLL
        for (int c = 0; c < own; ++c) {
          GAUSSWEEP_UNROLL
          for (int r = 0; r < own; ++r) {
            high[c][r] = add_exact_product(a_high[r], b_high[c], high[c][r]);
            if (tiles::splits<T>) low[c][r] = low[c][r] + (a_high[r] * b_low[c] + a_low[r] * both[c]);
          }
        }
      }
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < own; ++c) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < own; ++r) {
        double off_high = 0, off_low = 0, off_both = 0;
        tiles::two_sum(high_sum[c][r], high[c][r], off_high);
        if (tiles::splits<T>) {
          tiles::two_sum(low_sum[c][r], low[c][r], off_low);
          tiles::two_sum(low_sum[c][r], off_high, off_both);
          lowest_sum[c][r] += off_low + off_both;
        } else {
          low_sum[c][r] += off_high;
        }
      }
    }
  }

  __syncthreads();
  double* const mantissas = left_high;
  auto* const exponents = reinterpret_cast<short*>(mantissas + edge * residual_pitch);
  double most = 0;
  GAUSSWEEP_UNROLL
  for (int c = 0; c < own; ++c) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < own; ++r) {
      const int row = first_row + r % 2 + r / 2 * 16, col = first_col + c % 2 + c / 2 * 8;
      if (row >= rows || col >= cols) continue;
      const std::int64_t i = i0 + row, j = j0 + col;
      const std::int64_t at_size = i + (j - p.begin) * p.left.rows;
      if (use == Use::sizes) {
        sizes[at_size] = high_sum[c][r] + low_sum[c][r];
        continue;
      }
      const std::int64_t exponent = static_cast<std::int64_t>(row_exponents[row]) + col_exponents[col];
      const double wanted = wanted_element(p.wanted, i, j);
      const Scaled apart =
          tiles::residual_of(wanted, high_sum[c][r], low_sum[c][r] + lowest_sum[c][r], exponent);
      if (use == Use::columns) {
        mantissas[col * residual_pitch + row] = apart.mantissa;
        exponents[col * residual_pitch + row] = static_cast<short>(apart.exponent);
        continue;
      }
      const Allowance& by = shares.allowance;
      const Scaled allowed = Scaled(by.slope) * Scaled(sizes[at_size], exponent) +
                             Scaled(by.of_target) * Scaled(wanted) + by.floor;
      if (Scaled(shares.unit, exponent) < Scaled(by.negligible) * allowed) {
        most = max(most, (apart / allowed).value());
      } else {
        const unsigned long long at = atomicAdd(shares.listed, 1ull);
        if (at < shares.room) shares.list[at] = Undecided{i, j, allowed};
      }
    }
  }
  if (use == Use::shares && most > 0) {
    unsigned long long bits = 0;
    memcpy(&bits, &most, sizeof bits);
    atomicMax(shares.most, bits);
  }
  if (use != Use::columns) return;
  __syncthreads();
  if (t >= cols) return;
  Scaled part;
  for (int row = 0; row < rows; ++row) {
    Scaled one;
    one.mantissa = mantissas[t * residual_pitch + row];
    one.exponent = exponents[t * residual_pitch + row];
    tiles::include(part, one, p.measure);
  }
  parts[tile_row * p.cols + (j0 - p.begin) + t] = part;
}

/// Adds up the parts of every column of a strip, from the top.
template <class = void>  // so that a header may hold it
__global__ void add_parts_kernel(const Scaled* parts, std::int64_t down, std::int64_t cols, Measure measure,
                                 Scaled* columns) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= cols) return;
  Scaled all;
  for (std::int64_t d = 0; d < down; ++d) {
    const Scaled part = parts[d * cols + j];
    if (measure != Measure::largest) {
      all = all + part;
    } else if (all < part) {
      all = part;
    }
  }
  columns[j] = all;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
