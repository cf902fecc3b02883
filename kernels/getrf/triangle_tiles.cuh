#pragma once
/// Triangular solves and products with 32 rows on tensor cores in double, as a warp does them. They are what
/// a panel of an LU factorisation leaves to do beyond it.
///
/// Fragments of an 8 x 8 product with 4 columns of A, g = lane / 4, t = lane % 4. A lane has A(g, t), B(t,
/// g), and D(g, 2t), D(g, 2t + 1). Which k of the matrices is which of the instruction's is free as long as A
/// and B agree. With k = 2t + h in the h-th of two products, a lane's elements of D are those that it needs
/// as A. What one product yields goes into the next without leaving its registers.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// D += A B, 8 x 8, with 4 columns of A; see the top of this file.
__device__ __forceinline__ void multiply_8x8(double (&d)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1])
      : "d"(a), "d"(b));
#else
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int k = 0; k < 4; ++k) {
    const double own = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k);
    for (int q = 0; q < 2; ++q) {
      d[q] = fma(own, __shfl_sync(0xffffffffu, b, (lane % 4 * 2 + q) * 4 + k), d[q]);
    }
  }
#endif
}

/// D += A B, 16 x 8, with 4 columns of A: A(g, t), A(g + 8, t); B(t, g); D as below.
__device__ __forceinline__ void multiply_16x8(double (&d)[4], const double (&a)[2], double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#else
  for (int half = 0; half < 2; ++half) {
    double rows[2] = {d[2 * half], d[2 * half + 1]};
    multiply_8x8(rows, a[half], b);
    d[2 * half] = rows[0];
    d[2 * half + 1] = rows[1];
  }
#endif
}

/// D += A B, 16 x 8, with 8 columns of A. A lane has rows g and g + 8 of A in column 2t, then in 2t + 1. Of B
/// it has rows 2t and 2t + 1. Of D it has (g, 2t), (g, 2t + 1), and the same of row g + 8.
__device__ __forceinline__ void multiply_16x8(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  for (int half = 0; half < 2; ++half) {
    double rows[2] = {d[2 * half], d[2 * half + 1]};
    for (int h = 0; h < 2; ++h) multiply_8x8(rows, a[2 * h + half], b[h]);
    d[2 * half] = rows[0];
    d[2 * half + 1] = rows[1];
  }
#endif
}

/// Elements between two columns of a triangle of 32 rows, so that no two lanes that load a fragment meet in a
/// bank. Then those between two columns of an inverse of 8 rows.
constexpr int triangle_stride = 34;
constexpr int inverse_stride = 10;
/// Elements of the inverses of a triangle's four diagonal tiles.
constexpr int inverses_size = 4 * 8 * inverse_stride;

/// The inverses of the four 8 x 8 tiles on the diagonal of a unit lower triangle of 32 rows. `triangle` is
/// stored column by column, `triangle_stride` apart; what is on and above the diagonal is not read. One warp
/// does it: a lane has a column. Seen by the warp.
__device__ __forceinline__ void invert_diagonal_tiles(const double* triangle, double* inverses) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int column = lane % 8;
  const double* const tile = triangle + lane / 8 * 8 * (triangle_stride + 1);
  double y[8];
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) y[r] = r == column ? 1.0 : 0.0;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < 7; ++k) {
    GAUSSWEEP_UNROLL
    for (int r = k + 1; r < 8; ++r) y[r] = fma(-tile[k * triangle_stride + r], y[k], y[r]);
  }
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) inverses[(lane / 8 * 8 + column) * inverse_stride + r] = y[r];
  __syncwarp();
}

/// Returns true if one of these inverses would not be accurate: the sum of a column of a tile or of its
/// inverse is above `trusted`. Both sums bound the condition. @pre `triangle` has zeros on and above its
/// diagonal; one warp, which has called invert_diagonal_tiles
__device__ __forceinline__ bool needs_correction(const double* triangle, const double* inverses,
                                                 double trusted) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double of_tile = 1, of_inverse = 0;
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) {
    of_tile += std::fabs(triangle[lane * triangle_stride + lane / 8 * 8 + r]);
    of_inverse += std::fabs(inverses[lane * inverse_stride + r]);
  }
  return __any_sync(0xffffffffu, of_tile <= trusted && of_inverse <= trusted ? 0 : 1) != 0;
}

/// Solves with a unit lower triangle of 32 rows in eight columns of `x` (row by row, `stride` apart). One
/// warp does it, tile by tile: X_i = inverse_i (X_i - sum of L_ij X_j, j < i). All is transposed: columns of
/// x are rows of A and D.
/// @tparam Corrected every X_i gets a correction, the inverse times its residual. `triangle` must have zeros
/// on and above its diagonal then.
template <bool Corrected = false>
__device__ __forceinline__ void solve_tile_by_inverses(const double* triangle, const double* inverses,
                                                       double* x, int stride) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  const int t = static_cast<int>(threadIdx.x) % 4;
  double rest[4][2];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) rest[i][h] = x[(i * 8 + 2 * t + h) * stride + g];
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    double solved[2] = {0, 0};
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      multiply_8x8(solved, rest[i][h], inverses[(i * 8 + 2 * t + h) * inverse_stride + g]);
    }
    if constexpr (Corrected) {
      double residual[2] = {rest[i][0] - solved[0], rest[i][1] - solved[1]};
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h)
        multiply_8x8(residual, -solved[h], triangle[(i * 8 + 2 * t + h) * triangle_stride + i * 8 + g]);
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h)
        multiply_8x8(solved, residual[h], inverses[(i * 8 + 2 * t + h) * inverse_stride + g]);
    }
    GAUSSWEEP_UNROLL
    for (int j = i + 1; j < 4; ++j) {
      GAUSSWEEP_UNROLL
      for (int h = 0; h < 2; ++h) {
        multiply_8x8(rest[j], -solved[h], triangle[(i * 8 + 2 * t + h) * triangle_stride + j * 8 + g]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) x[(i * 8 + 2 * t + h) * stride + g] = solved[h];
  }
}

/// Two neighbours at an even index of what is aligned to two elements.
template <class T>
__device__ __forceinline__ void load_two(const T* from, T& first, T& second) {
#ifdef __CUDA_ARCH__
  using Two = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;
  const Two both = *reinterpret_cast<const Two*>(from);
  first = both.x;
  second = both.y;
#else
  first = from[0];
  second = from[1];
#endif
}
__device__ __forceinline__ void store_two(double* to, double first, double second) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<double2*>(to) = make_double2(first, second);
#else
  to[0] = first;
  to[1] = second;
#endif
}

/// Elements between two rows of a tile that a warp hands from tensor cores to the threads that own the rows.
constexpr int handed_stride = 10;
constexpr int handed_size = 32 * handed_stride;

/// v -= L U by one warp, whose lanes own `row` of v, neighbours, and another one every `step` rows. L: the
/// `inner` <= Columns columns at `l`, of which no row from `rows` on is read. U: `upper` in shared memory,
/// row by row, `Stride` apart, with zeros from row `inner` to `Columns`. What is read first of L is under way
/// from the beginning.
template <int Columns, int RowsPerThread, int Stride>
class ProductOnTensorCores {
 public:
  __device__ __forceinline__ ProductOnTensorCores(int row, int step, int rows, const double* l,
                                                  std::int64_t lda, int inner)
      : row_(row - static_cast<int>(threadIdx.x) % 32),
        step_(step),
        rows_(rows),
        inner_(inner),
        l_(l),
        lda_(lda) {
    load(0);
  }
  /// `handed`: handed_size elements of the warp's own, aligned to 16 bytes.
  __device__ __forceinline__ void subtract(double (&v)[RowsPerThread][Columns], const double* upper,
                                           double* handed) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int g = lane / 4;
    const int t = lane % 4;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      double next[2][4];
      multiply(0, upper, next);
      GAUSSWEEP_UNROLL
      for (int tile = 0; tile < steps; ++tile) {
        GAUSSWEEP_UNROLL
        for (int m = 0; m < 2; ++m) {
          GAUSSWEEP_UNROLL
          for (int half = 0; half < 2; ++half) {
            store_two(handed + (m * 16 + half * 8 + g) * handed_stride + 2 * t, next[m][2 * half],
                      next[m][2 * half + 1]);
          }
        }
        if (tile + 1 < steps) {
          multiply(tile + 1, upper, next);
        } else if (s + 1 < RowsPerThread) {
          load(s + 1);
        }
        __syncwarp();
        GAUSSWEEP_UNROLL
        for (int c = 0; c < 8; c += 2) {
          double first, second;
          load_two(handed + lane * handed_stride + c, first, second);
          v[s][tile * 8 + c] -= first;
          v[s][tile * 8 + c + 1] -= second;
        }
        __syncwarp();
      }
    }
  }

 private:
  static constexpr int steps = Columns / 8;
  __device__ __forceinline__ void load(int s) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto column_step = static_cast<unsigned>(lda_);  // offsets of 32 bits are enough
    unsigned row[2][2];
    GAUSSWEEP_UNROLL
    for (int m = 0; m < 2; ++m) {
      GAUSSWEEP_UNROLL
      for (int half = 0; half < 2; ++half) {
        row[m][half] = static_cast<unsigned>(min(row_ + s * step_ + m * 16 + half * 8 + lane / 4, rows_ - 1));
      }
    }
    GAUSSWEEP_UNROLL
    for (int q = 0; q < steps; ++q) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) {
        const unsigned column =
            static_cast<unsigned>(min(q * 8 + lane % 4 * 2 + e / 2, inner_ - 1)) * column_step;
        GAUSSWEEP_UNROLL
        for (int m = 0; m < 2; ++m) factor_[q][m][e] = l_[column + row[m][e % 2]];
      }
    }
  }
  /// The 8 columns of L U from 8 `tile` on.
  __device__ __forceinline__ void multiply(int tile, const double* upper, double (&d)[2][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const double* const own = upper + lane % 4 * 2 * Stride + tile * 8 + lane / 4;
    GAUSSWEEP_UNROLL
    for (int m = 0; m < 2; ++m) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) d[m][e] = 0;
    }
    GAUSSWEEP_UNROLL
    for (int q = 0; q < steps; ++q) {
      const double u[2] = {own[q * 8 * Stride], own[(q * 8 + 1) * Stride]};
      GAUSSWEEP_UNROLL
      for (int m = 0; m < 2; ++m) multiply_16x8(d[m], factor_[q][m], u);
    }
  }

  int row_, step_, rows_, inner_;
  const double* l_;
  std::int64_t lda_;
  double factor_[steps][2][4];
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
