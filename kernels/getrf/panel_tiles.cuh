#pragma once
/// Products of a panel (panels.cuh) on tensor cores in double.
///
/// A warp has 32 rows, a thread one of them, whose 32 columns lie in `a`; or twice 32 rows of 16 columns. For
/// products the four threads of a quad exchange parts of their rows (`turn`). Then thread t of quad g has of
/// each of the rows 4g + i the columns 2Jt + Jq + j. These are in a[2Ji + Jq + j], i from 0 to 3, q 0 or 1, j
/// from 0 to J - 1. J is an eighth of the columns. In triangle_tiles.cuh's 8 x 8 products those are D of tile
/// (i, j). Its row g is row 4g + i, its column m column Jm + j. Thus neighbours in memory are one thread's.

#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

constexpr int elements = 32;  ///< of a panel per thread
constexpr int eight = 8;      ///< steps of a product
constexpr int group = 4;      ///< steps between two barriers in float

/// How a system of up to Rows rows is shared out over a block: a thread has `Each` rows of a panel, 32 apart.
/// `Threads`: of a multiprocessor at once, for which registers are left.
template <int Rows, int Each_ = 1, int Threads = 512>
struct Share {
  static constexpr int Each = Each_;
  static constexpr int rows = Rows, threads = Rows / Each, warps = threads / 32;
  static constexpr int width = elements / Each;              ///< columns of a panel
  static constexpr int pitch = width + (Each == 1 ? 4 : 2);  ///< of rows in shared memory
  static constexpr int block_pitch = width + 1;              ///< of a triangle's rows, with the diagonal
  static constexpr int blocks = Threads / threads;           ///< of a multiprocessor

  /// Returns the threads that have rows of a system of order n: whole warps, at most `threads`.
  static dim3 threads_of(std::int64_t n) {
    constexpr int rows_of_warp = 32 * Each;
    return dim3(static_cast<unsigned>((n + rows_of_warp - 1) / rows_of_warp * 32));
  }
};

/// Calls launch(Share) for the share with the fewest threads. For LU of order 33 to 64 in double one warp has
/// all rows.
/// @pre n <= 512
template <class T, bool Symmetric, class Launch>
void for_rows(std::int64_t n, Launch&& launch) {
  if (n <= 32) return launch(Share<32>());
  if constexpr (sizeof(T) == 8 && !Symmetric) {
    if (n <= 64) return launch(Share<64, 2, 384>());
  } else {
    if (n <= 64) return launch(Share<64>());
  }
  if (n <= 96) return launch(Share<96>());
  if (n <= 128) return launch(Share<128>());
  if (n <= 256) return launch(Share<256>());
  if (n <= 384) return launch(Share<384, 1, 384>());
  launch(Share<512>());
}

/// What a system's threads share. What has two of a kind takes turns, so that one barrier is enough.
template <class T, class S>
struct SharedStorage {
  static constexpr int squares = S::rows / eight * 64, block = S::width * S::block_pitch;
  alignas(16) T rows[2][eight][S::pitch];          ///< before the steps that took them
  alignas(16) T candidate[2][S::warps][S::width];  ///< the row that each warp would take
  T beside[2][S::warps];                           ///< its right-hand side
  T multipliers[2][group][group];
  T triangles[squares > block ? squares : block];  ///< of eight steps, minus their inverses; or a block of U
  T unknowns[S::width];
  int place[2][S::warps];  ///< of the candidates
  int pivots[S::rows];     ///< of each step
  int info;                ///< LAPACK's, from 1
  bool substitutes;        ///< inverses of `triangles` would not be accurate
  T more[S::Each == 1 ? 1 : S::rows];

  /// Of the diagonal of U, after the steps.
  __device__ __forceinline__ T* inverses() { return S::Each == 1 ? &candidate[0][0][0] : more; }
};

/// A system on the device, n x n in columns. Symmetric systems have the triangle `uplo`.
template <class T>
struct System {
  T* a;
  int n;
  Uplo uplo;
};

__device__ __forceinline__ int lane() {
  return static_cast<int>(threadIdx.x) % 32;
}

/// Exchanges elements within quads: from rows to parts of four rows, and back.
template <int Each, class T>
__device__ __forceinline__ void turn(T (&a)[elements]) {
  constexpr int part = 8 / Each;  // elements
  GAUSSWEEP_UNROLL
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool high = (lane() & bit) != 0;
    GAUSSWEEP_UNROLL
    for (int i = 0; i < 4 * Each; ++i) {
      if ((i & bit) != 0) continue;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < part; ++s) {
        T& low_part = a[part * i + s];
        T& high_part = a[part * (i + bit) + s];
        const T came = __shfl_xor_sync(0xffffffffu, high ? low_part : high_part, bit);
        low_part = high ? came : low_part;
        high_part = high ? high_part : came;
      }
    }
  }
}

/// A's part in a product of eight columns: of each four rows A(4g + i, 2t + h) in [h][i].
template <int Each>
using Left = double[Each][2][4];

/// D += A B of all tiles; take(h, j, B(2t + h, Jg + j), that of j + 1).
template <int Each, class Take>
__device__ __forceinline__ void multiply(double (&a)[elements], const Left<Each>& left, Take&& take) {
  constexpr int tiles = 4 / Each;  // J
  GAUSSWEEP_UNROLL
  for (int j = 0; j < tiles; j += 2) {
    double right[2][2];  // [j][h]
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) take(h, j, right[0][h], right[1][h]);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4 * Each; ++e) {
      const int each = e / 4, i = e / 2 % 2 * 2;
      double* const to = a + 2 * tiles * (4 * each + i) + j + e % 2;
      const double(&from)[2][4] = left[each];
      const double rows[4] = {from[0][i], from[0][i + 1], from[1][i], from[1][i + 1]};
      double d[4] = {to[0], to[tiles], to[2 * tiles], to[3 * tiles]};
      lu::multiply_16x8(d, rows, right[e % 2]);
      to[0] = d[0];
      to[tiles] = d[1];
      to[2 * tiles] = d[2];
      to[3 * tiles] = d[3];
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

/// Two adjacent elements, loaded together. @pre aligned to the size of both
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
/// a - factor row, of Count elements, each one place to the left; the first is gone.
template <int Count, int Each, class T>
__device__ __forceinline__ void subtract_and_move(const T (&factors)[Each], const T* row, T (&a)[elements]) {
  GAUSSWEEP_UNROLL
  for (int j = 0; j < Count; j += 2) {
    T one, two;
    take_pair(row + j, one, two);
    GAUSSWEEP_UNROLL
    for (int each = 0; each < Each; ++each) {
      T* const from = a + each * (elements / Each) + j;
      if (j > 0) from[-1] = std::fma(-factors[each], one, from[0]);
      from[0] = std::fma(-factors[each], two, from[1]);
    }
  }
}

/// What a thread has of A's columns k + 2t and k + 2t + 1 in rows row to row + 3. A is n x n; 0 beyond `rows`
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

/// Returns the place of element (r, c) in a square of eight. Loads have no bank conflicts.
__device__ __forceinline__ int place_in_square(int r, int c) {
  return r % 2 * 32 + 4 * c + r / 2;
}
/// Loads a lane's elements of the square as B, or of its transpose.
__device__ __forceinline__ void take_square(const double* square, bool transposed, double (&to)[2]) {
  const int g = lane() / 4, t = lane() % 4;
  GAUSSWEEP_UNROLL
  for (int h = 0; h < 2; ++h)
    to[h] = square[transposed ? place_in_square(g, 2 * t + h) : place_in_square(2 * t + h, g)];
}
/// A lower triangle of eight rows becomes minus its inverse, the rest of the square 0. Eight lanes have a
/// square, a column each; all lanes of the warp call it. Returns a row of |inverse| |triangle| e, Skeel's
/// condition number: products with the inverse lose so much against substitution.
template <class T>
__device__ __forceinline__ T invert_square(T* square) {
  const int column = lane() % eight;
  T x[eight], size = 0;
  GAUSSWEEP_UNROLL
  for (int c = 0; c < eight; ++c) size += std::fabs(square[place_in_square(column, c)]);
  GAUSSWEEP_UNROLL
  for (int r = 0; r < eight; ++r) {
    T sum = r == column ? T(-1) : T(0);
    GAUSSWEEP_UNROLL
    for (int c = 0; c < r; ++c) sum = std::fma(-square[place_in_square(r, c)], x[c], sum);
    x[r] = sum / square[place_in_square(r, r)];
  }
  __syncwarp();
  GAUSSWEEP_UNROLL
  for (int r = 0; r < eight; ++r) square[place_in_square(r, column)] = x[r];
  __syncwarp();
  T condition = 0;
  GAUSSWEEP_UNROLL
  for (int c = 0; c < eight; ++c) {
    const T of_row = __shfl_sync(0xffffffffu, size, lane() / eight * eight + c);
    condition = std::fma(std::fabs(square[place_in_square(column, c)]), of_row, condition);
  }
  return condition;
}
/// Eight rows become the unknowns of a unit lower triangle, or of an upper one. `inverses` are of the
/// latter's diagonal; its right-hand sides are the rows and x together. A lane has a column.
template <bool Lower, class T, int Pitch>
__device__ __forceinline__ void substitute_square(const T* square, const T* inverses, T (&x)[eight],
                                                  T (*rows)[Pitch]) {
  GAUSSWEEP_UNROLL
  for (int r = 0; r < eight; ++r) x[r] = Lower ? rows[r][lane()] : x[r] + rows[r][lane()];
  GAUSSWEEP_UNROLL
  for (int turn = 0; turn < eight; ++turn) {
    const int k = Lower ? turn : eight - 1 - turn;
    if (!Lower) {
      const T inverse = inverses[k];
      x[k] = inverse - inverse != T(0) ? x[k] / square[place_in_square(k, k)] : x[k] * inverse;
    }
    rows[k][lane()] = x[k];
    GAUSSWEEP_UNROLL
    for (int r = Lower ? k + 1 : 0; r < (Lower ? eight : k); ++r)
      x[r] = std::fma(-square[place_in_square(r, k)], x[k], x[r]);
  }
}

/// A lane's unknown of a block of Width steps: `row` of U, 0 on the diagonal, which is behind it; y the
/// right-hand side. Lanes beyond do as others. What is subtracted from y is added up by itself. Here y may be
/// far larger than what is left of it, and each step would round it.
template <int Width, class T>
__device__ T solve_block(const T* row, T y) {
  const T diagonal = row[Width], inverse = T(1) / diagonal, begin = y * inverse;
  const bool divides = begin - begin != T(0);
  T sum = 0;
  const auto unknown = [&] { return divides ? (y + sum) / diagonal : std::fma(sum, inverse, begin); };
  GAUSSWEEP_UNROLL
  for (int k = Width - 1; k >= 0; --k)  // from the lane's own step on it is 0
    sum = std::fma(-row[k], __shfl_sync(0xffffffffu, unknown(), k), sum);
  return unknown();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
