#pragma once
/// Computes the border of a triangle's inverse: its last few rows, or columns if the triangle is upper. For a
/// lower triangle [A 0; L B] with X = A^-1 and Y = B^-1, the border is -Y (L X). One launch computes it and
/// reads X once. The kernels of level_products.cuh would be slower: their tiles have 32 or 64 rows, and a
/// tile takes the same time even if only one of its rows is used.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

constexpr int max_border = 16;  ///< the largest number of rows (columns) of a border

/// A border and the inverses around it. An upper triangle is treated as its transpose. Rows of the border are
/// then columns in memory, and columns of X are rows in memory.
template <class T>
struct Border {
  const T* triangle;  ///< the triangle's first element
  std::int64_t ld;
  T* x;  ///< the triangle's inverse, which already contains X and Y, with zeros in the other triangle of X
  std::int64_t ldx;
  T* staged;  ///< if uses_staging(): a copy of L, or Y L, with leading dimension width()
  int order;  ///< the order of X, a multiple of 16
  int rows;   ///< rows of the border, at most max_border
  bool lower;
  /// true: computes -(Y L) X instead of -Y (L X); Y is called the corner. Triangle::from_left requires this
  /// for a lower triangle, and the opposite for an upper one (levels.cuh).
  bool corner_first;
  T max_abs_product;   ///< *exceeds_limit becomes 1 if an |element| of the first product is above this or NaN
  int* exceeds_limit;  ///< may be null
  /// Returns the number of rows of the border, padded for multiply_border.
  __host__ __device__ int width() const { return rows <= 8 ? 8 : 16; }
  /// Returns true if thread blocks read L or Y L from `staged`. They do if Y L is needed, or if the inverse
  /// replaces the triangle: thread blocks would then overwrite the L that others read.
  __host__ __device__ bool uses_staging() const { return triangle == x || corner_first; }
  /// Sets *exceeds_limit if `value`, an element of the first product, is above the limit or NaN.
  __device__ void check(T value) const {
    if (exceeds_limit != nullptr && !(std::fabs(value) <= max_abs_product)) *exceeds_limit = 1;
  }
  /// Returns element (i, l) of Y.
  __device__ T corner(int i, int l) const { return x[offset(i, order + l, ldx)]; }
  /// Returns the offset of element k of the border's row i in a matrix with leading dimension
  /// `leading_dimension`.
  __device__ std::int64_t offset(int i, int k, std::int64_t leading_dimension) const {
    return lower ? order + i + k * leading_dimension : k + (order + i) * leading_dimension;
  }
};

/// Fills `staged` with L, or with Y L if corner_first.
template <class T>
__global__ void __launch_bounds__(256) stage_border(Border<T> border) {
  simt::griddepcontrol_wait();
  const int e = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = e % border.width(), k = e / border.width();
  if (k >= border.order || i >= border.rows) return;
  T value = 0;
  // Row i of Y L needs rows 0 to i of L, because Y is lower triangular. A copy of L needs row i only.
  for (int l = border.corner_first ? 0 : i; l <= i; ++l) {
    const T l_element = border.triangle[border.offset(l, k, border.ld)];
    value = border.corner_first ? std::fma(border.corner(i, l), l_element, value) : l_element;
  }
  if (border.corner_first) border.check(value);
  border.staged[e] = value;
}

constexpr int border_warps = 16;    ///< warps per thread block of multiply_border
constexpr int border_columns = 16;  ///< columns of the border per thread block

template <class T>
__device__ __forceinline__ const T& element(const StridedView<T>& m, int i, int j) {
  return m.data[i * m.row_stride + j * m.col_stride];
}

/// The operands in a lane's registers for eight k indices of the product L X (or (Y L) X). The product has 16
/// columns, from X, and 8 * Parts rows, from L (or Y L). It is computed transposed: the 16 rows of an mma
/// fragment are columns of X, and its eight columns are rows of L. Lane 4g + t owns the sums of columns g and
/// g + 8 of X. Of each part of eight rows, it owns rows 2t and 2t + 1. In double the operands are fragments
/// for the tensor cores (triangle_tiles.cuh). In float they are all factors of the lane's sums.
template <class T, int Parts>
class BorderStep {
 public:
  /// Loads the operands for k indices k to k + 7: 16 columns of X from `column` on, and the first `count`
  /// rows of `staged`.
  __device__ __forceinline__ void load(const StridedView<T>& x, int column, const StridedView<T>& staged,
                                       int count, int k) {
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
    GAUSSWEEP_UNROLL
    for (int o = 0; o < k_per_lane; ++o) {
      const int k_index = k + (is_double ? t + 4 * o : o);
      GAUSSWEEP_UNROLL
      for (int c = 0; c < 2; ++c) x_[o][c] = element(x, k_index, column + g + 8 * c);
      GAUSSWEEP_UNROLL
      for (int p = 0; p < Parts; ++p) {
        GAUSSWEEP_UNROLL
        for (int r = 0; r < rows_per_part; ++r) {
          const int i = 8 * p + (is_double ? g : 2 * t + r);
          border_[o][p][r] = i < count ? element(staged, i, k_index) : T(0);
        }
      }
    }
  }
  /// Adds the products of the eight k indices to the lane's sums.
  __device__ __forceinline__ void add_to(T (&sums)[Parts][4]) const {
    GAUSSWEEP_UNROLL
    for (int p = 0; p < Parts; ++p) {
      if constexpr (is_double) {
        const double left[4] = {x_[0][0], x_[0][1], x_[1][0], x_[1][1]};
        const double right[2] = {border_[0][p][0], border_[1][p][0]};
        lu::multiply_16x8(sums[p], left, right);
      } else {
        GAUSSWEEP_UNROLL
        for (int k = 0; k < k_per_lane; ++k) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) sums[p][e] = std::fma(x_[k][e / 2], border_[k][p][e % 2], sums[p][e]);
        }
      }
    }
  }

 private:
  static constexpr bool is_double = sizeof(T) == sizeof(double);
  static constexpr int k_per_lane = is_double ? 2 : 8, rows_per_part = is_double ? 1 : 2;
  T x_[k_per_lane][2], border_[k_per_lane][Parts][rows_per_part];
};

/// Computes 16 columns of the border per thread block. The warps split the k range. The k indices of X's
/// diagonal are added last, because these terms are the largest in well-conditioned triangles. Smaller terms
/// added after them would lose digits.
/// @tparam Width Border::width()
template <class T, int Width>
__global__ void __launch_bounds__(32 * border_warps) multiply_border(Border<T> border) {
  constexpr int parts = Width / 8, size = Width * border_columns;
  simt::griddepcontrol_wait();
  const int column = static_cast<int>(blockIdx.x) * border_columns;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int g = thread % 32 / 4, t = thread % 4;
  T* const shared = simt::dynamic_shared<T>();
  // In shared memory, the sums of all warps come first, then a copy of Y.
  T* const y = shared + border_warps * size;
  // Thread l * Width + i copies element (i, l) of Y, which is lower triangular.
  if (const int i = thread % Width, l = thread / Width; l <= i && i < border.rows) {
    const T* const corner = border.x + border.order * (border.ldx + 1);
    simt::copy_or_zero(&y[thread], corner + (border.lower ? i + l * border.ldx : l + i * border.ldx),
                       /*exists=*/true);
  }
  simt::end_copy_group();
  const StridedView<T> x =
      border.lower ? StridedView<T>{border.x, 1, border.ldx} : StridedView<T>{border.x, border.ldx, 1};
  StridedView<T> staged{border.staged, 1, Width};
  if (!border.uses_staging()) {
    staged = border.lower ? StridedView<T>{border.triangle + border.order, 1, border.ld}
                          : StridedView<T>{border.triangle + border.order * border.ld, border.ld, 1};
  }
  T sums[parts][4] = {};
  constexpr int steps_in_flight = sizeof(T) == sizeof(double) ? 4 : 2;  // BorderSteps loaded together
  constexpr int chunk = 8 * steps_in_flight;
  const auto add = [&](int k, auto steps) {
    constexpr int count = decltype(steps)::value;
    BorderStep<T, parts> step[count];
    GAUSSWEEP_UNROLL
    for (int s = 0; s < count; ++s) step[s].load(x, column, staged, border.rows, k + 8 * s);
    GAUSSWEEP_UNROLL
    for (int s = 0; s < count; ++s) step[s].add_to(sums);
  };
  // X is lower triangular: its columns from `column` on are nonzero from k = column on. Warp w adds the
  // chunks w, w + 16, … of this k range from the last to the first; chunk 0 has X's diagonal.
  const int chunks = (border.order - column + chunk - 1) / chunk;
  const int last_chunk = warp < chunks ? warp + (chunks - 1 - warp) / border_warps * border_warps : -1;
  for (int chunk_index = last_chunk; chunk_index >= 0; chunk_index -= border_warps) {
    const int k = column + chunk_index * chunk;
    if (k + chunk <= border.order) {
      add(k, std::integral_constant<int, steps_in_flight>());
    } else {
      for (int last = k; last < border.order; last += 8) add(last, std::integral_constant<int, 1>());
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
    T sum = 0;  // of all warps; warp 0, which has X's diagonal, comes last
    for (int w = border_warps - 1; w >= 0; --w) sum += shared[w * size + e];
    shared[e] = sum;
  }
  __syncthreads();
  for (int e = thread; e < size; e += 32 * border_warps) {
    const int i = e % Width, j = e / Width;
    if (i >= border.rows) continue;
    T value = border.corner_first ? shared[e] : T(0);
    if (!border.corner_first) {
      border.check(shared[e]);
      for (int l = 0; l <= i; ++l) value = std::fma(y[i + l * Width], shared[j * Width + l], value);
    }
    border.x[border.offset(i, column + j, border.ldx)] = -value;
    // The mirror image of the border, in the other triangle.
    border.x[border.lower ? column + j + (border.order + i) * border.ldx
                          : border.order + i + (column + j) * border.ldx] = T(0);
  }
}

/// Computes the border of an inverse. Asynchronous.
template <class T>
void add_border(Context& context, const Border<T>& border) {
  context.stage("border");
  if (border.uses_staging()) {
    const int elements = border.order * border.width();
    simt::launch_early(context, stage_border<T>, dim3(static_cast<unsigned>((elements + 255) / 256)),
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
