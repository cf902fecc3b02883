#pragma once
/// The border of an inverse: the last few rows of a lower triangle's inverse, or columns of an upper one's.
/// For a lower triangle [A 0; L B] with X = A^-1 and Y = B^-1, the border is -Y (L X). One launch reads X
/// once, however few rows L has. The tiles of level_products.cuh would take as long for one row as for 64.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int most_border = 16;  ///< the most rows (columns) of a border

/// A border and the inverses around it. An upper triangle is treated as its transpose: "rows" of the border
/// are then its columns, and the columns of X are its rows.
template <class T>
struct Border {
  const T* from;  ///< the triangle's first element
  std::int64_t ld;
  T* x;  ///< its inverse, which already contains X and Y, with zeros in the other triangle of X
  std::int64_t ldx;
  T* lines;   ///< L or Y L if has_lines(): order x width() elements, the rows of L interleaved
  int order;  ///< the order of X, a multiple of 16
  int rows;   ///< rows of the border, at most most_border
  bool lower;
  bool corner_first;  ///< compute -(Y L) X instead of -Y (L X)
  T largest;          ///< *is_larger becomes 1 if an element of the first product is larger than this, or NaN
  int* is_larger;     ///< null: no check
  __host__ __device__ int width() const { return rows <= 8 ? 8 : 16; }
  /// Returns true if blocks read L or Y L from `lines`: they would overwrite the L that others read, or they
  /// need Y L.
  __host__ __device__ bool has_lines() const { return from == x || corner_first; }
  __device__ void look(T value) const {
    if (is_larger != nullptr && !(std::fabs(value) <= largest)) *is_larger = 1;
  }
  __device__ T corner(int i, int l) const { return x[place(i, order + l, ldx)]; }
  /// Returns the offset of element k of the border's row i in a matrix with leading dimension `apart`.
  __device__ std::int64_t place(int i, int k, std::int64_t apart) const {
    return lower ? order + i + k * apart : k + (order + i) * apart;
  }
};

/// Fills `lines` with L, or with Y L if corner_first.
template <class T>
__global__ void __launch_bounds__(256) turn_border(Border<T> b) {
  simt::griddepcontrol_wait();
  const int e = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = e % b.width(), k = e / b.width();
  if (k >= b.order || i >= b.rows) return;
  T value = 0;
  for (int l = b.corner_first ? 0 : i; l <= i; ++l) {
    const T of_l = b.from[b.place(l, k, b.ld)];
    value = b.corner_first ? std::fma(b.corner(i, l), of_l, value) : of_l;
  }
  if (b.corner_first) b.look(value);
  b.lines[e] = value;
}

constexpr int border_warps = 16, border_columns = 16;  ///< warps and columns of the border per thread block

template <class T>
__device__ __forceinline__ const T& element(const Strided<T>& m, int i, int j) {
  return m.data[i * m.row_stride + j * m.col_stride];
}

/// One step of eight k indices of the product of 16 columns of X with 8 Parts rows of the border, by a warp.
/// Holds the elements that a lane loads: in double a fragment for the tensor cores, in float all factors of
/// the lane's sums. In both precisions a lane owns the sums that the fragment layout of tensor cores gives it
/// (triangle_tiles.cuh).
template <class T, int Parts>
class BorderStep {
 public:
  /// Loads the k indices from k on, of X's columns from `column` on and of the border's first `count` rows.
  __device__ __forceinline__ void load(const Strided<T>& x, int column, const Strided<T>& lines, int count,
                                       int k) {
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
    GAUSSWEEP_UNROLL
    for (int o = 0; o < own; ++o) {
      const int inner = k + (of_double ? t + 4 * o : o);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < 2; ++c) x_[o][c] = element(x, inner, column + g + 8 * c);
      GAUSSWEEP_UNROLL
      for (int p = 0; p < Parts; ++p) {
        GAUSSWEEP_UNROLL
        for (int r = 0; r < rows; ++r) {
          const int i = 8 * p + (of_double ? g : 2 * t + r);
          lines_[o][p][r] = i < count ? element(lines, i, inner) : T(0);
        }
      }
    }
  }
  __device__ __forceinline__ void add_to(T (&sums)[Parts][4]) const {
    GAUSSWEEP_UNROLL
    for (int p = 0; p < Parts; ++p) {
      if constexpr (of_double) {
        const double left[4] = {x_[0][0], x_[0][1], x_[1][0], x_[1][1]};
        const double right[2] = {lines_[0][p][0], lines_[1][p][0]};
        lu::multiply_16x8(sums[p], left, right);
      } else {
        GAUSSWEEP_UNROLL
        for (int k = 0; k < own; ++k) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) sums[p][e] = std::fma(x_[k][e / 2], lines_[k][p][e % 2], sums[p][e]);
        }
      }
    }
  }

 private:
  static constexpr bool of_double = sizeof(T) == sizeof(double);
  static constexpr int own = of_double ? 2 : 8, rows = of_double ? 1 : 2;
  T x_[own][2], lines_[own][Parts][rows];
};

/// Computes 16 columns of the border per thread block. The warps split the k range. The k indices of the
/// diagonal are added last, as in levels.cuh (multiply_by_strips).
template <class T, int Width>
__global__ void __launch_bounds__(32 * border_warps) multiply_border(Border<T> b) {
  constexpr int parts = Width / 8, size = Width * border_columns;
  simt::griddepcontrol_wait();
  const int column = static_cast<int>(blockIdx.x) * border_columns;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int g = thread % 32 / 4, t = thread % 4;
  T* const shared = simt::dynamic_shared<T>();
  // Y is copied to the shared memory behind the sums.
  T* const y = shared + border_warps * size;
  if (const int i = thread % Width, l = thread / Width; l <= i && i < b.rows) {
    const T* const corner = b.x + b.order * (b.ldx + 1);
    simt::copy_or_zero(&y[thread], corner + (b.lower ? i + l * b.ldx : l + i * b.ldx), true);
  }
  simt::end_copy_group();
  const Strided<T> x = b.lower ? Strided<T>{b.x, 1, b.ldx} : Strided<T>{b.x, b.ldx, 1};
  Strided<T> lines{b.lines, 1, Width};
  if (!b.has_lines()) {
    lines = b.lower ? Strided<T>{b.from + b.order, 1, b.ld} : Strided<T>{b.from + b.order * b.ld, b.ld, 1};
  }
  T sums[parts][4] = {};
  constexpr int at_once = sizeof(T) == sizeof(double) ? 4 : 2;  // steps whose loads are in flight together
  constexpr int share = 8 * at_once;
  const auto add = [&](int k, auto steps) {
    constexpr int count = decltype(steps)::value;
    BorderStep<T, parts> step[count];
    GAUSSWEEP_UNROLL
    for (int s = 0; s < count; ++s) step[s].load(x, column, lines, b.rows, k + 8 * s);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < count; ++s) step[s].add_to(sums);
  };
  const int shares = (b.order - column + share - 1) / share;
  const int last_own = warp < shares ? warp + (shares - 1 - warp) / border_warps * border_warps : -1;
  for (int own = last_own; own >= 0; own -= border_warps) {
    const int k = column + own * share;
    if (k + share <= b.order) {
      add(k, std::integral_constant<int, at_once>());
    } else {
      for (int last = k; last < b.order; last += 8) add(last, std::integral_constant<int, 1>());
    }
  }
  GAUSSWEEP_UNROLL
  for (int p = 0; p < parts; ++p) {
    for (int e = 0; e < 4; ++e) {
      shared[warp * size + (g + e / 2 * 8) * Width + 8 * p + 2 * t + e % 2] = sums[p][e];
    }
  }
  simt::await_copy_groups<0>();
  __syncthreads();
  for (int e = thread; e < size; e += 32 * border_warps) {
    T sum = 0;
    for (int w = border_warps - 1; w >= 0; --w) sum += shared[w * size + e];
    shared[e] = sum;
  }
  __syncthreads();
  for (int e = thread; e < size; e += 32 * border_warps) {
    const int i = e % Width, j = e / Width;
    if (i >= b.rows) continue;
    T value = b.corner_first ? shared[e] : T(0);
    if (!b.corner_first) {
      b.look(shared[e]);
      for (int l = 0; l <= i; ++l) value = std::fma(y[i + l * Width], shared[j * Width + l], value);
    }
    b.x[b.place(i, column + j, b.ldx)] = -value;
    b.x[b.lower ? column + j + (b.order + i) * b.ldx : b.order + i + (column + j) * b.ldx] = T(0);
  }
}

/// Computes the border of an inverse. Asynchronous.
template <class T>
void add_border(Context& context, const Border<T>& border) {
  context.stage("border");
  if (border.has_lines()) {
    const int elements = border.order * border.width();
    simt::launch_early(context, turn_border<T>, dim3(static_cast<unsigned>((elements + 255) / 256)),
                       dim3(256), 0, border);
  }
  const auto multiply = [&](auto kernel) {
    simt::launch_early(context, kernel, dim3(static_cast<unsigned>(border.order / border_columns)),
                       dim3(32 * border_warps),
                       sizeof(T) * (border_warps * border_columns + border.width()) * border.width(), border);
  };
  border.width() == 8 ? multiply(multiply_border<T, 8>) : multiply(multiply_border<T, 16>);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
