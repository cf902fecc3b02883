#pragma once
/// Triangular solves and products with 32 rows on tensor cores in double, each by one warp. LU applies a
/// panel with them to the columns right of the panel. Cholesky and the inverses of triangles use them, too.
///
/// Let D += A B be a product of an 8 x 4 and a 4 x 8 matrix. Lane 4g + t (0 <= t < 4) has these elements, its
/// fragments:
///   A(g, t); B(t, g); D(g, 2t), D(g, 2t + 1).
/// A product with 8 k indices is two such products. The k indices may be split between the two in any way
/// that is the same in A and B. Here the h-th product (h = 0, 1) has k = 2t + h. A lane's elements of D are
/// then also its elements of A in the next product. The result of one product is therefore the operand of the
/// next without leaving the lane's registers.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// Computes D += A B, where A is 8 x 4 and B is 4 x 8; see the top of this file.
__device__ __forceinline__ void multiply_8x8(double (&d)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1])
      : "d"(a), "d"(b));
#else
  // The same product without tensor cores: shuffles bring A(g, k) and B(k, 2t + q) to the lane.
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int k = 0; k < 4; ++k) {
    const double a_of_k = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k);
    for (int q = 0; q < 2; ++q) {
      d[q] = fma(a_of_k, __shfl_sync(0xffffffffu, b, (lane % 4 * 2 + q) * 4 + k), d[q]);
    }
  }
#endif
}

/// Computes D += A B, where A is 16 x 4 and B is 4 x 8. A lane's fragments are
///   A(g, t), A(g + 8, t); B(t, g); D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
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

/// Computes D += A B, where A is 16 x 8 and B is 8 x 8. A lane's fragments are
///   A(g, 2t), A(g + 8, 2t), A(g, 2t + 1), A(g + 8, 2t + 1); B(2t, g), B(2t + 1, g);
///   D(g, 2t), D(g, 2t + 1), D(g + 8, 2t), D(g + 8, 2t + 1).
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

/// Leading dimensions of a triangle of 32 rows and of an inverse of 8 rows, chosen such that loads of
/// fragments have no bank conflicts.
constexpr int triangle_stride = 34;
constexpr int inverse_stride = 10;
/// Elements of the inverses of a triangle's four diagonal tiles.
constexpr int inverses_size = 4 * 8 * inverse_stride;

/// Inverts the four 8 x 8 tiles on the diagonal of a unit lower triangle of 32 rows. `triangle` is
/// column-major with leading dimension `triangle_stride`; its diagonal and upper part are not read. Called by
/// one warp; each lane computes a column. The results are visible to the warp.
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

/// Returns true if an inverse of invert_diagonal_tiles may be too inaccurate. The test is that a column of a
/// tile or of its inverse has a sum of magnitudes above `max_column_sum`. The largest such sum is the 1-norm.
/// The product of the 1-norms of a tile and of its inverse is the tile's condition number.
/// @pre `triangle` has zeros on and above its diagonal; called by one warp after invert_diagonal_tiles
__device__ __forceinline__ bool needs_correction(const double* triangle, const double* inverses,
                                                 double max_column_sum) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  double tile_sum = 1, inverse_sum = 0;  // 1: the diagonal of the tile, which is not stored
  GAUSSWEEP_UNROLL
  for (int r = 0; r < 8; ++r) {
    tile_sum += std::fabs(triangle[lane * triangle_stride + lane / 8 * 8 + r]);
    inverse_sum += std::fabs(inverses[lane * inverse_stride + r]);
  }
  // Written so that NaN also needs a correction.
  return __any_sync(0xffffffffu, tile_sum <= max_column_sum && inverse_sum <= max_column_sum ? 0 : 1) != 0;
}

/// Solves with a unit lower triangle of 32 rows for eight columns of `x` (row-major with leading dimension
/// `stride`), by one warp, tile by tile: X_i = L_ii^-1 (X_i - sum over j < i of L_ij X_j). The products on
/// tensor cores are transposed: columns of x are rows of A and D. L_ij is an 8 x 8 tile of the triangle; X_i
/// are the rows of x in tile i.
/// @tparam Corrected true: corrects every X_i by L_ii^-1 times the residual of its equation. `triangle` must
/// then have zeros on and above its diagonal.
template <bool Corrected = false>
__device__ __forceinline__ void solve_tile_by_inverses(const double* triangle, const double* inverses,
                                                       double* x, int stride) {
  const int g = static_cast<int>(threadIdx.x) % 32 / 4;
  const int t = static_cast<int>(threadIdx.x) % 4;
  double remaining[4][2];  // the lane's right-hand sides minus the products so far, per tile
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) remaining[i][h] = x[(i * 8 + 2 * t + h) * stride + g];
  }
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) {
    double solved[2] = {0, 0};
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      multiply_8x8(solved, remaining[i][h], inverses[(i * 8 + 2 * t + h) * inverse_stride + g]);
    }
    if constexpr (Corrected) {
      // The residual is X_i's right-hand side - L_ii * solution; the diagonal of L_ii is 1 and not stored.
      double residual[2] = {remaining[i][0] - solved[0], remaining[i][1] - solved[1]};
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
        multiply_8x8(remaining[j], -solved[h], triangle[(i * 8 + 2 * t + h) * triangle_stride + j * 8 + g]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) x[(i * 8 + 2 * t + h) * stride + g] = solved[h];
  }
}

/// Adjacent elements that one instruction loads if they have at most 16 bytes.
template <class T, int Count>
struct alignas(Count * sizeof(T) < 16 ? Count * sizeof(T) : 16) AdjacentElements {
  T elements[Count];
};
/// Loads adjacent elements. @pre `from` is aligned to AdjacentElements<T, Count>
template <int Count, class T>
__device__ __forceinline__ void load_adjacent(const T* from, T (&elements)[Count]) {
  const auto loaded = *reinterpret_cast<const AdjacentElements<T, Count>*>(from);
  GAUSSWEEP_UNROLL
  for (int e = 0; e < Count; ++e) elements[e] = loaded.elements[e];
}
/// Stores adjacent elements. @pre `to` is aligned to AdjacentElements<T, Count>
template <int Count, class T>
__device__ __forceinline__ void store_adjacent(T* to, const T (&elements)[Count]) {
  AdjacentElements<T, Count> stored;
  GAUSSWEEP_UNROLL
  for (int e = 0; e < Count; ++e) stored.elements[e] = elements[e];
  *reinterpret_cast<AdjacentElements<T, Count>*>(to) = stored;
}
/// Loads two neighbouring elements at an even index of an array that is aligned to two elements.
template <class T>
__device__ __forceinline__ void load_two(const T* from, T& first, T& second) {
#ifdef __CUDA_ARCH__
  using Pair = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;
  const Pair pair = *reinterpret_cast<const Pair*>(from);
  first = pair.x;
  second = pair.y;
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

/// Leading dimension and size of the staging buffer, through which a warp converts 8 columns of a product
/// from fragments to one row per lane.
constexpr int staging_stride = 10;
constexpr int staging_size = 32 * staging_stride;

/// Computes v -= L U by one warp. Each lane owns rows `row`, `row` + `step`, ... of v; neighbouring lanes
/// own neighbouring rows. L: the `k_count` <= Columns columns at `l`; rows from `rows` on are not read.
/// U: `upper` in shared memory, row-major with leading dimension `Stride`, with zeros from row `k_count` on.
/// The constructor starts the first loads of L (prologue).
template <int Columns, int RowsPerThread, int Stride>
class ProductOnTensorCores {
 public:
  __device__ __forceinline__ ProductOnTensorCores(int row, int step, int rows, const double* l,
                                                  std::int64_t lda, int k_count)
      : row_(row - static_cast<int>(threadIdx.x) % 32),
        step_(step),
        rows_(rows),
        k_count_(k_count),
        l_(l),
        lda_(lda) {
    load(0);
  }
  /// Computes v -= L U, in tiles of 32 rows and 8 columns. While one tile is converted in `staging`, the
  /// tensor cores compute the next one. `staging`: staging_size elements of shared memory for this warp,
  /// aligned to 16 bytes.
  __device__ __forceinline__ void subtract(double (&v)[RowsPerThread][Columns], const double* upper,
                                           double* staging) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int g = lane / 4;
    const int t = lane % 4;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < RowsPerThread; ++s) {
      double next[2][4];
      multiply(0, upper, next);
      GAUSSWEEP_UNROLL
      for (int tile = 0; tile < steps; ++tile) {  // columns [8 tile, 8 tile + 8)
        GAUSSWEEP_UNROLL
        for (int m = 0; m < 2; ++m) {
          GAUSSWEEP_UNROLL
          for (int half = 0; half < 2; ++half) {
            store_two(staging + (m * 16 + half * 8 + g) * staging_stride + 2 * t, next[m][2 * half],
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
          load_two(staging + lane * staging_stride + c, first, second);
          v[s][tile * 8 + c] -= first;
          v[s][tile * 8 + c + 1] -= second;
        }
        __syncwarp();
      }
    }
  }

 private:
  static constexpr int steps = Columns / 8;  ///< tiles of 8 columns in v, and groups of 8 k indices
  /// Loads the fragments of the warp's 32 rows of L for the lanes' rows s.
  __device__ __forceinline__ void load(int s) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto column_step = static_cast<unsigned>(lda_);  // 32-bit offsets suffice
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
            static_cast<unsigned>(min(q * 8 + lane % 4 * 2 + e / 2, k_count_ - 1)) * column_step;
        GAUSSWEEP_UNROLL
        for (int m = 0; m < 2; ++m) factor_[q][m][e] = l_[column + row[m][e % 2]];
      }
    }
  }
  /// Computes the 8 columns of L U from column 8 `tile` on.
  __device__ __forceinline__ void multiply(int tile, const double* upper, double (&d)[2][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const double* const fragment = upper + lane % 4 * 2 * Stride + tile * 8 + lane / 4;
    GAUSSWEEP_UNROLL
    for (int m = 0; m < 2; ++m) {
      GAUSSWEEP_UNROLL
      for (int e = 0; e < 4; ++e) d[m][e] = 0;
    }
    GAUSSWEEP_UNROLL
    for (int q = 0; q < steps; ++q) {
      const double u[2] = {fragment[q * 8 * Stride], fragment[(q * 8 + 1) * Stride]};
      GAUSSWEEP_UNROLL
      for (int m = 0; m < 2; ++m) multiply_16x8(d[m], factor_[q][m], u);
    }
  }

  int row_, step_, rows_, k_count_;
  const double* l_;
  std::int64_t lda_;
  double factor_[steps][2][4];  ///< fragments of L: [k group][half of the 32 rows][element]
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
