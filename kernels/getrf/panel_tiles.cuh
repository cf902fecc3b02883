#pragma once
/// Products of a panel of 32 columns (panels.cuh) on tensor cores in double.
///
/// A warp has 32 rows, a thread one of them, whose 32 columns lie in `a`. For products the four threads of a
/// quad exchange parts of their rows (`turn`): then thread t of quad g has of each of the rows 4g + i the
/// columns 8t + 4q + j, in a[8i + 4q + j], i and j from 0 to 3, q 0 or 1. Of the 8 x 8 products of
/// triangle_tiles.cuh those are D of tile (i, j), whose row g is row 4g + i and whose column m is column
/// 4m + j. Thus neighbours in memory are one thread's.

#include <cstdint>
#include <type_traits>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

constexpr int width = 32;  ///< columns of a panel
constexpr int eight = 8;   ///< steps of a product
constexpr int pitch = 36;  ///< of rows on the desk

/// Blocks of Rows threads that a multiprocessor is to have at once: 128 registers a thread.
template <int Rows>
constexpr int blocks_at_once = 512 / Rows;

/// Calls launch(std::integral_constant of Rows) for the fewest threads. @pre n <= 512
template <class Launch>
void for_rows(std::int64_t n, Launch&& launch) {
  if (n <= 32) return launch(std::integral_constant<int, 32>());
  if (n <= 64) return launch(std::integral_constant<int, 64>());
  if (n <= 96) return launch(std::integral_constant<int, 96>());
  if (n <= 128) return launch(std::integral_constant<int, 128>());
  if (n <= 256) return launch(std::integral_constant<int, 256>());
  launch(std::integral_constant<int, 512>());
}

constexpr int group = 4;  ///< steps between two barriers in float

constexpr int block_pitch = 33;  ///< of a triangle's rows

/// What a system's threads share. What has two of a kind takes turns, so that one barrier is enough.
template <class T, int Rows>
struct Desk {
  static constexpr int warps = Rows / 32;
  static constexpr int squares = Rows / eight * 64, block = width * block_pitch;
  alignas(16) T rows[2][eight][pitch];       ///< before the steps that took them
  alignas(16) T candidate[2][warps][width];  ///< the row that each warp would take
  T beside[2][warps];                        ///< its right-hand side
  T multipliers[2][group][group];
  T triangles[squares > block ? squares : block];  ///< minus inverses of eight steps each; or a block of U
  T unknowns[width];
  int place[2][warps];  ///< of the candidates
  int pivots[Rows];     ///< of each step
};

/// A system on the device, n x n in columns; of a symmetric one the triangle `uplo`.
template <class T>
struct System {
  T* a;
  int n;
  Uplo uplo;
};

__device__ __forceinline__ int lane() {
  return static_cast<int>(threadIdx.x) % 32;
}
/// The first of the four rows of which the thread has a part.
__device__ __forceinline__ int first_of_four() {
  return static_cast<int>(threadIdx.x) / 4 * 4;
}

/// From rows to parts of four rows, and back.
template <class T>
__device__ __forceinline__ void turn(T (&a)[width]) {
  GAUSSWEEP_UNROLL
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool high = (lane() & bit) != 0;
    GAUSSWEEP_UNROLL
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) != 0) continue;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < 8; ++s) {
        T& low_part = a[8 * i + s];
        T& high_part = a[8 * (i + bit) + s];
        const T came = __shfl_xor_sync(0xffffffffu, high ? low_part : high_part, bit);
        low_part = high ? came : low_part;
        high_part = high ? high_part : came;
      }
    }
  }
}

/// D += A B of all tiles: `left` is A(4g + i, 2t + h) in [h][i]; take(h, j, B(2t + h, 4g + j), that of j +
/// 1).
template <class Take>
__device__ __forceinline__ void multiply(double (&a)[width], const double (&left)[2][4], Take&& take) {
  GAUSSWEEP_UNROLL
  for (int j = 0; j < 4; j += 2) {
    double right[2][2];  // [j][h]
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) take(h, j, right[0][h], right[1][h]);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int i = e / 2 * 2, column = j + e % 2;
      const double rows[4] = {left[0][i], left[0][i + 1], left[1][i], left[1][i + 1]};
      double d[4] = {a[8 * i + column], a[8 * i + 4 + column], a[8 * i + 8 + column], a[8 * i + 12 + column]};
      lu::multiply_16x8(d, rows, right[e % 2]);
      a[8 * i + column] = d[0];
      a[8 * i + 4 + column] = d[1];
      a[8 * i + 8 + column] = d[2];
      a[8 * i + 12 + column] = d[3];
    }
  }
}
/// A tile's A B, for B a square of eight: what the next product takes as `left`.
__device__ __forceinline__ void multiply_square(double (&left)[2][4], const double (&square)[2]) {
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; i += 2) {
    double d[4] = {};
    const double rows[4] = {left[0][i], left[0][i + 1], left[1][i], left[1][i + 1]};
    lu::multiply_16x8(d, rows, square);
    left[0][i] = d[0];
    left[1][i] = d[1];
    left[0][i + 1] = d[2];
    left[1][i + 1] = d[3];
  }
}

/// Two elements side by side, read at once. @pre aligned as both together
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};
template <class T>
__device__ __forceinline__ void take_pair(const T* from, T& first, T& second) {
  const auto two = *reinterpret_cast<const Pair<T>*>(from);
  first = two.first;
  second = two.second;
}
/// a - factor row, of Left elements, each one place to the left; the first is gone.
template <int Left, class T>
__device__ __forceinline__ void subtract_and_move(T factor, const T* row, T (&a)[width]) {
  GAUSSWEEP_UNROLL
  for (int j = 0; j < Left; j += 2) {
    T one, two;
    take_pair(row + j, one, two);
    if (j > 0) a[j - 1] = std::fma(-factor, one, a[j]);
    a[j] = std::fma(-factor, two, a[j + 1]);
  }
}

/// What a thread has of A's columns k + 2t and k + 2t + 1 in rows row to row + 3, A n x n; 0 beyond `rows`
/// and `columns`.
struct Fetch {
  const double* a;
  int n, rows, columns;
  bool across;  ///< A is stored by rows
  bool packed;  ///< pairs are aligned

  __device__ Fetch(const double* data, int order, int most_rows, int most_columns, bool by_rows)
      : a(data),
        n(order),
        rows(most_rows),
        columns(most_columns),
        across(by_rows),
        packed(order % 2 == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0) {}

  __device__ __forceinline__ void take(int row, int k, double (&to)[2][4]) const {
    const int column = k + lane() % 4 * 2;
    if (packed && row + 4 <= rows && column + 2 <= columns) {
      if (across) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) take_pair(a + column + (row + i) * n, to[0][i], to[1][i]);
      } else {
        GAUSSWEEP_UNROLL
        for (int h = 0; h < 2; ++h) {
          take_pair(a + row + (column + h) * n, to[h][0], to[h][1]);
          take_pair(a + row + 2 + (column + h) * n, to[h][2], to[h][3]);
        }
      }
      return;
    }
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) {
        const bool inside = row + i < rows && column + h < columns;
        to[h][i] = inside ? a[across ? column + h + (row + i) * n : row + i + (column + h) * n] : 0;
      }
    }
  }
};

/// Where element (r, c) of a square of eight lies: lanes of a load meet in no bank.
__device__ __forceinline__ int place_in_square(int r, int c) {
  return r % 2 * 32 + 4 * c + r / 2;
}
/// What a lane has of it as B, or of its transpose.
__device__ __forceinline__ void take_square(const double* square, bool transposed, double (&to)[2]) {
  const int g = lane() / 4, t = lane() % 4;
  GAUSSWEEP_UNROLL
  for (int h = 0; h < 2; ++h)
    to[h] = square[transposed ? place_in_square(g, 2 * t + h) : place_in_square(2 * t + h, g)];
}
/// A lower triangle of eight rows becomes minus its inverse, the rest of the square 0. Eight lanes have a
/// square, a column each; all lanes of the warp call it.
template <bool Unit, class T>
__device__ __forceinline__ void invert_square(T* square) {
  const int column = lane() % eight;
  T x[eight];
  GAUSSWEEP_UNROLL
  for (int r = 0; r < eight; ++r) {
    T sum = r == column ? T(-1) : T(0);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < r; ++c) sum = std::fma(-square[place_in_square(r, c)], x[c], sum);
    x[r] = Unit ? sum : sum / square[place_in_square(r, r)];
  }
  __syncwarp();
  GAUSSWEEP_UNROLL
  for (int r = 0; r < eight; ++r) square[place_in_square(r, column)] = x[r];
}
/// Eight rows become the unknowns of an upper triangle. A lane has a column.
template <class T>
__device__ __forceinline__ void substitute_square(const T* square, T (*rows)[pitch]) {
  T x[eight];
  GAUSSWEEP_UNROLL
  for (int r = eight - 1; r >= 0; --r) {
    T sum = rows[r][lane()];
    GAUSSWEEP_UNROLL
    for (int c = eight - 1; c > r; --c) sum = std::fma(-square[place_in_square(r, c)], x[c], sum);
    x[r] = sum / square[place_in_square(r, r)];
    rows[r][lane()] = x[r];
  }
}

/// A lane's unknown of a block of 32: `row` of U, and its right-hand side.
template <class T>
__device__ T solve_block(const T* row, T y) {
  const int own = lane();
  T u[width];
  GAUSSWEEP_UNROLL
  for (int c = 0; c < width; ++c) u[c] = row[c];
  const T diagonal = row[own], inverse = T(1) / diagonal;
  const bool divides = inverse - inverse != T(0);
  T x = 0;
  GAUSSWEEP_UNROLL
  for (int k = width - 1; k >= 0; --k) {
    T own_x = y * inverse;
    if (divides) own_x = y / diagonal;
    const T taken = __shfl_sync(0xffffffffu, own_x, k);
    x = own == k ? taken : x;
    y = std::fma(-u[k], taken, y);  // behind k it is 0
  }
  return x;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
