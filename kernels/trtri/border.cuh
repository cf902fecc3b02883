#pragma once
/// The last few rows of a lower triangle's inverse, or columns of an upper one's. With the inverses X and Y
/// of the parts on the diagonal of [X 0; L Y] they are -Y (L X). One launch reads X once, however few rows L
/// has; tiles of level_products.cuh would take as long for one row as for 64.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int most_border = 16;  ///< rows or columns

/// An upper triangle is seen turned: the border's columns are its rows, and those of X its columns.
template <class T>
struct Border {
  const T* from;  ///< the triangle's first element
  std::int64_t ld;
  T* x;  ///< its inverse, where X and Y are; zeros are in the other triangle of X
  std::int64_t ldx;
  T* lines;   ///< order x width() elements; L's or Y L's, its rows side by side, if has_lines()
  int order;  ///< of X, a multiple of 16
  int rows;   ///< most_border at most
  bool lower;
  bool corner_first;  ///< -(Y L) X and not -Y (L X)
  T largest;          ///< *is_larger becomes 1 if an element of the first product is larger or NaN
  int* is_larger;     ///< null: nobody asks
  __host__ __device__ int width() const { return rows <= 8 ? 8 : 16; }
  /// Whether what is written is where others read L, or L is not what they read.
  __host__ __device__ bool has_lines() const { return from == x || corner_first; }
  __device__ void look(T value) const {
    if (is_larger != nullptr && !(std::fabs(value) <= largest)) *is_larger = 1;
  }
  /// Returns the element of Y.
  __device__ T corner(int i, int l) const { return x[place(i, order + l, ldx)]; }
  /// Where row i of the border has its element k: that many elements from the triangle's first.
  __device__ std::int64_t place(int i, int k, std::int64_t apart) const {
    return lower ? order + i + k * apart : k + (order + i) * apart;
  }
};

/// Fills `lines` with L or Y L.
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

constexpr int border_warps = 16, border_columns = 16;  ///< of a block

template <class T>
__device__ __forceinline__ const T& element(const Strided<T>& m, int i, int j) {
  return m.data[i * m.down + j * m.across];
}

/// A step of eight inner indices: sums of 16 columns of X and of 8 Parts rows of the border, by a warp. This
/// is what a lane loads: in double a fragment for the tensor cores, in float all that its own sums want. A
/// lane's sums are those that it has of a product on tensor cores (triangle_tiles.cuh).
template <class T, int Parts>
class BorderStep {
 public:
  /// Inner indices from k on of X's columns from `column` on and of `count` lines.
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

/// A block 16 columns of the border. Its warps share the inner indices. Those of the diagonal come last, as
/// in levels.cuh.
template <class T, int Width>
__global__ void __launch_bounds__(32 * border_warps) multiply_border(Border<T> b) {
  constexpr int parts = Width / 8, size = Width * border_columns;
  simt::griddepcontrol_wait();
  const int column = static_cast<int>(blockIdx.x) * border_columns;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int g = thread % 32 / 4, t = thread % 4;
  T* const shared = simt::dynamic_shared<T>();
  // Y comes beside the sums.
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
  constexpr int at_once = sizeof(T) == sizeof(double) ? 4 : 2;  // steps whose loads are on their way
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

/// The border of an inverse. Asynchronous.
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
