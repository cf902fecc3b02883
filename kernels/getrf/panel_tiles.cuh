#pragma once
/// Work splits, shared memory and building blocks of the panels in panel_factorisation.cuh, among them
/// products on tensor cores in double.
///
/// A thread keeps its part of a panel in an array `a` of 32 registers: one row of 32 columns, or two rows of
/// 16 columns. Before a product, the four threads of a quad exchange parts of their rows (transpose_quads):
/// each then has a quarter of the columns of all four rows. Let J be 1/8 of the panel's columns: 4 or 2.
/// Thread t of quad g (lane 4g + t of the warp) then has the columns 2Jt, …, 2Jt + 2J - 1 of the rows 4g, …,
/// 4g + 3:
///   a[2Ji + Jq + j] is column 2Jt + Jq + j of row 4g + i,  for 0 <= i < 4, 0 <= q < 2, 0 <= j < J.
/// With two rows per thread, the elements from a[16] on are those of rows 4g + 32, …, 4g + 35, in the same
/// order. The array `a` then has the thread's elements of D in the 8 x 8 products of triangle_tiles.cuh. The
/// product for tile (i, j) computes rows 4g + i (0 <= g < 8) and columns Jm + j (0 <= m < 8) of the panel. A
/// tile thus takes every fourth row and every J-th column, so that a thread's columns are adjacent and loaded
/// in pairs.

#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

constexpr int panel_elements = 32;  ///< elements of a panel per thread
constexpr int tile_order = 8;   ///< order of a tile on tensor cores; elimination steps per group in double
constexpr int group_steps = 4;  ///< elimination steps per group, between two barriers, in float

/// The work split of a thread block for systems of up to Rows rows. A thread keeps `RowsPerThread_` rows of a
/// panel, 32 apart. `ResidentThreads` is the wanted number of threads per multiprocessor, which limits the
/// registers per thread (PanelSplit::blocks is an argument of __launch_bounds__).
template <int Rows, int RowsPerThread_ = 1, int ResidentThreads = 512>
struct PanelSplit {
  static constexpr int RowsPerThread = RowsPerThread_;
  static constexpr int rows = Rows, threads = Rows / RowsPerThread, warps = threads / 32;
  static constexpr int width = panel_elements / RowsPerThread;  ///< columns of a panel
  static constexpr int pitch =
      width + (RowsPerThread == 1 ? 4 : 2);  ///< leading dimension of rows in shared memory
  /// Leading dimension of a diagonal block of U in shared memory. The diagonal is in the additional column.
  static constexpr int block_pitch = width + 1;
  static constexpr int blocks = ResidentThreads / threads;  ///< resident thread blocks per multiprocessor

  /// Returns the block size for a system of order n: whole warps, at most `threads` threads.
  static dim3 threads_of(std::int64_t n) {
    constexpr int rows_of_warp = 32 * RowsPerThread;
    return dim3(static_cast<unsigned>((n + rows_of_warp - 1) / rows_of_warp * 32));
  }
};

/// Calls launch(split) with the first PanelSplit of the list that has at least n rows. For LU in double of
/// order 33 to 64, one warp keeps all rows. In float, more blocks per multiprocessor with fewer registers are
/// faster (docs/notebook/batches.md), unless all systems are resident at once with more registers. Cholesky
/// up to order 128 keeps its split even then, because the split also selects the algorithm
/// (PanelFactorisation::has_products).
/// @pre n <= 512
template <class T, bool Symmetric, class Launch>
void with_work_split(const Context& context, const Shape& shape, Launch&& launch) {
  const std::int64_t n = shape.n;
  if (n <= 32) return launch(PanelSplit<32>());
  if constexpr (sizeof(T) == 4) {
    using Widest = PanelSplit<512>;
    const std::int64_t blocks = Widest::threads / Widest::threads_of(n).x;  // per multiprocessor
    if (n > (Symmetric ? 128 : 64) && shape.batch <= blocks * simt::multiprocessors(context))
      return launch(Widest());
  }
  if constexpr (sizeof(T) == 4 && Symmetric) {
    if (n <= 64) return launch(PanelSplit<64, 1, 1024>());
    if (n <= 96) return launch(PanelSplit<96, 1, 960>());
    if (n <= 128) return launch(PanelSplit<128, 1, 1024>());
    if (n <= 160) return launch(PanelSplit<160, 1, 640>());
    if (n <= 192) return launch(PanelSplit<192, 1, 768>());
    if (n <= 224) return launch(PanelSplit<224, 1, 896>());
    if (n <= 256) return launch(PanelSplit<256, 1, 768>());
    if (n <= 320) return launch(PanelSplit<320, 1, 640>());
    if (n <= 384) return launch(PanelSplit<384, 1, 768>());
    if (n <= 448) return launch(PanelSplit<448, 1, 896>());
  } else if constexpr (sizeof(T) == 4) {
    if (n <= 64) return launch(PanelSplit<64, 1, 768>());
    if (n <= 96) return launch(PanelSplit<96, 1, 768>());
    if (n <= 128) return launch(PanelSplit<128, 1, 768>());
    if (n <= 256) return launch(PanelSplit<256, 1, 768>());
    if (n <= 320) return launch(PanelSplit<320, 1, 640>());
    if (n <= 384) return launch(PanelSplit<384, 1, 768>());
    if (n <= 448) return launch(PanelSplit<448, 1, 896>());
  } else {
    if constexpr (!Symmetric) {
      if (n <= 64) return launch(PanelSplit<64, 2, 384>());
    } else {
      if (n <= 64) return launch(PanelSplit<64>());
    }
    if (n <= 96) return launch(PanelSplit<96>());
    if (n <= 128) return launch(PanelSplit<128>());
    if (n <= 256) return launch(PanelSplit<256>());
    if (n <= 384) return launch(PanelSplit<384, 1, 384>());
  }
  launch(PanelSplit<512>());
}

/// The shared memory of one system. Arrays with a first dimension of 2 are double-buffered, so that one
/// barrier per step is enough.
template <class T, class Split>
struct SharedStorage {
  /// Elements of the three possible contents of `triangles`: 8 x 8 triangles, a diagonal block, two tiles.
  /// The array has the size of the largest.
  static constexpr int squares = sizeof(T) == 8 ? Split::rows / tile_order * 64 : 0,
                       block = Split::width * Split::block_pitch;
  static constexpr int tiles = sizeof(T) == 4 && Split::rows > 32 ? 2 * Split::width* Split::pitch : 0;
  /// Pivot rows of a group of steps, before the updates of these steps.
  alignas(16) T rows[2][tile_order][Split::pitch];
  alignas(16) T candidate[2][Split::warps][Split::width];  ///< each warp's candidate for the pivot row
  T rhs[2][Split::warps];  ///< the candidate row's element of the right-hand side
  /// LU in float: the multipliers of the group's pivot rows in the group's steps, as [buffer][row][step].
  /// Cholesky in double: the factors of a StepGroup (panel_factorisation.cuh).
  T multipliers[2][group_steps][group_steps];
  /// One of: the 8 x 8 triangles of PanelRows::triangle_of; a diagonal block of U
  /// (PanelFactorisation::solve_rhs); two tiles of the panel's rows (PanelFactorisation::add_products).
  alignas(16) T triangles[squares > block ? squares > tiles ? squares : tiles
                          : block > tiles ? block
                                          : tiles];
  T unknowns[Split::width];       ///< solved elements of the right-hand side, per step of the panel
  int position[2][Split::warps];  ///< the candidates' positions under LAPACK's row exchanges
  int pivots[Split::rows];        ///< LAPACK's pivot of each step, from 0
  int info;                       ///< LAPACK's info
};

/// A column-major n x n matrix. A symmetric matrix is stored in the triangle `uplo`.
template <class T>
struct System {
  T* a;
  int n;
  Uplo uplo;
};

__device__ __forceinline__ int lane() {
  return static_cast<int>(threadIdx.x) % 32;
}

/// Transposes within quads of threads: from one row per thread to a quarter of four rows per thread (see the
/// top of this file), and back.
template <int RowsPerThread, class T>
__device__ __forceinline__ void transpose_quads(T (&a)[panel_elements]) {
  constexpr int quarter = 8 / RowsPerThread;  // elements
  // A transpose by exchanges with the lanes at distance 1 and 2. A lane keeps the parts whose index has the
  // same bit as its own index, and exchanges the others.
  GAUSSWEEP_UNROLL
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool high = (lane() & bit) != 0;
    GAUSSWEEP_UNROLL
    for (int i = 0; i < 4 * RowsPerThread; ++i) {
      if ((i & bit) != 0) continue;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < quarter; ++s) {
        T& low_part = a[quarter * i + s];
        T& high_part = a[quarter * (i + bit) + s];
        const T received = __shfl_xor_sync(0xffffffffu, high ? low_part : high_part, bit);
        low_part = high ? received : low_part;
        high_part = high ? high_part : received;
      }
    }
  }
}

/// A thread's fragments of A for eight k indices: [e][h][i] is in column 2t + h and in row
/// PanelRows::first_of_four(e) + i. The top of this file defines t.
template <int RowsPerThread>
using Left = double[RowsPerThread][2][4];

/// Computes D += A B for all tiles, over eight k indices; `a` holds D as laid out by transpose_quads. Calls
/// load(h, j, b0, b1) to load b0 = B(2t + h, Jg + j) and b1 = B(2t + h, Jg + j + 1). The top of this file
/// defines J, g and t.
template <int RowsPerThread, class Load>
__device__ __forceinline__ void multiply(double (&a)[panel_elements], const Left<RowsPerThread>& left,
                                         Load&& load) {
  constexpr int tiles = 4 / RowsPerThread;  // J
  GAUSSWEEP_UNROLL
  for (int j = 0; j < tiles; j += 2) {
    double right[2][2];  // [j][h]
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) load(h, j, right[0][h], right[1][h]);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < 4 * RowsPerThread; ++e) {
      // Bits of e: column j + e % 2; tile rows i and i + 1 (i = 0 or 2); row of the thread.
      const int e_row = e / 4, i = e / 2 % 2 * 2;
      double* const d_elements = a + 2 * tiles * (4 * e_row + i) + j + e % 2;
      const double(&fragment)[2][4] = left[e_row];
      const double rows[4] = {fragment[0][i], fragment[0][i + 1], fragment[1][i], fragment[1][i + 1]};
      double d[4] = {d_elements[0], d_elements[tiles], d_elements[2 * tiles], d_elements[3 * tiles]};
      lu::multiply_16x8(d, rows, right[e % 2]);
      d_elements[0] = d[0];
      d_elements[tiles] = d[1];
      d_elements[2 * tiles] = d[2];
      d_elements[3 * tiles] = d[3];
    }
  }
}
/// Returns true if x is positive, and x and 1 / x are far from overflow and underflow.
__device__ __forceinline__ bool has_reciprocal(double x) {
  return x >= 0x1p-1000 && x <= 0x1p1000;
}
/// Returns 1 / x, rounded like a division but computed without branches. @pre has_reciprocal(x); else the
/// result is arbitrary
__device__ __forceinline__ double reciprocal(double x) {
#ifdef __CUDA_ARCH__
  double estimate;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(estimate) : "d"(x));
  // Two Newton steps: the first one has a second-order term, the second one gives the correct rounding.
  double error = fma(-x, estimate, 1.0);
  error = fma(error, error, error);
  estimate = fma(estimate, error, estimate);
  return fma(estimate, fma(-x, estimate, 1.0), estimate);
#else
  return 1 / x;
#endif
}

/// Subtracts factor * row from the first Count elements of each of the thread's rows and shifts the result
/// left by one element. The first element is dropped.
template <int Count, int RowsPerThread, class T>
__device__ __forceinline__ void subtract_and_move(const T (&factors)[RowsPerThread], const T* row,
                                                  T (&a)[panel_elements]) {
  GAUSSWEEP_UNROLL
  for (int j = 0; j < Count; j += 2) {
    T row0, row1;
    lu::load_two(row + j, row0, row1);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < RowsPerThread; ++e) {
      T* const from = a + e * (panel_elements / RowsPerThread) + j;
      if (j > 0) from[-1] = std::fma(-factors[e], row0, from[0]);
      from[0] = std::fma(-factors[e], row1, from[1]);
    }
  }
}

/// Loads a thread's fragments of an n x n matrix A for products. Elements in rows from `rows` on or in
/// columns from `columns` on are loaded as 0.
struct FragmentLoader {
  const double* a;
  int n, rows, columns;
  bool row_major;   ///< A is stored row-major
  bool is_aligned;  ///< one load can read two adjacent elements

  __device__ FragmentLoader(const double* data, int order, int row_limit, int column_limit, bool is_row_major)
      : a(data),
        n(order),
        rows(row_limit),
        columns(column_limit),
        row_major(is_row_major),
        is_aligned(order % 2 == 0 && reinterpret_cast<std::uintptr_t>(data) % 16 == 0) {}

  /// Loads columns k + 2t and k + 2t + 1 of the rows `row` to `row` + 3.
  __device__ __forceinline__ void load(int row, int k, double (&to)[2][4]) const {
    const int column = k + lane() % 4 * 2;
    if (is_aligned && row + 4 <= rows && column + 2 <= columns) {
      if (row_major) {
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 4; ++i) lu::load_two(a + column + (row + i) * n, to[0][i], to[1][i]);
      } else {
        GAUSSWEEP_UNROLL
        for (int h = 0; h < 2; ++h) {
          lu::load_two(a + row + (column + h) * n, to[h][0], to[h][1]);
          lu::load_two(a + row + 2 + (column + h) * n, to[h][2], to[h][3]);
        }
      }
      return;
    }
    GAUSSWEEP_UNROLL
    for (int h = 0; h < 2; ++h) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < 4; ++i) {
        const bool inside = row + i < rows && column + h < columns;
        to[h][i] = inside ? a[row_major ? column + h + (row + i) * n : row + i + (column + h) * n] : 0;
      }
    }
  }
};

/// Returns the index of element (r, c) of an 8 x 8 matrix in shared memory (a square): even rows come first,
/// then odd rows. With this layout, loads of fragments have no bank conflicts.
__device__ __forceinline__ int square_index(int r, int c) {
  return r % 2 * 32 + 4 * c + r / 2;
}
/// Solves with a unit lower triangle of order 8 by substitution, one right-hand side per lane. The right-hand
/// sides are the columns of eight rows in shared memory; the solution replaces them.
template <class T, int Pitch>
__device__ __forceinline__ void substitute_square(const T* square, T (*rows)[Pitch]) {
  T x[tile_order];
  GAUSSWEEP_UNROLL
  for (int r = 0; r < tile_order; ++r) x[r] = rows[r][lane()];
  GAUSSWEEP_UNROLL
  for (int k = 0; k < tile_order; ++k) {
    rows[k][lane()] = x[k];
    GAUSSWEEP_UNROLL
    for (int r = k + 1; r < tile_order; ++r) x[r] = std::fma(-square[square_index(r, k)], x[k], x[r]);
  }
}

/// Solves U x = y for a block of Width unknowns by one warp and returns the lane's unknown. `row`: the lane's
/// row of U, with 0 on the diagonal; the diagonal element is in row[Width]. Lanes from Width on repeat the
/// work of other lanes. Adds up the products before subtracting them from y: otherwise, if y is much larger
/// than the difference, each subtraction would round to the precision of y.
template <int Width, class T>
__device__ T solve_block(const T* row, T y) {
  const T diagonal = row[Width], inverse = T(1) / diagonal, quotient = y * inverse;
  const bool divides = quotient - quotient != T(0);  // the quotient is infinite or NaN
  T sum = 0;
  const auto unknown = [&] { return divides ? (y + sum) / diagonal : std::fma(sum, inverse, quotient); };
  GAUSSWEEP_UNROLL
  for (int k = Width - 1; k >= 0; --k)  // row[k] is 0 for k up to the lane's own index
    sum = std::fma(-row[k], __shfl_sync(0xffffffffu, unknown(), k), sum);
  return unknown();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
