#pragma once
/// The base class of PanelFactorisation (panel_factorisation.cuh): the rows that a thread owns, the addresses
/// of their elements, and the 8 x 8 triangles on the diagonal of L.

#include <cmath>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/panel_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

/// The rows of a system that one thread owns. Rows do not move in memory while the matrix is factored. Row
/// `e` (0 <= e < RowsPerThread) of the thread is row row(e) of the matrix; a warp owns 32 RowsPerThread
/// consecutive rows. The thread's elements of a panel are in an array `a`, row by row.
/// @tparam Split a PanelSplit
/// @tparam Symmetric true for Cholesky, false for LU
template <class T, class Split, bool Symmetric>
class PanelRows {
 public:
  __device__ PanelRows(SharedStorage<T, Split>& shared, const System<T>& system)
      : shared_(shared), system_(system), n_(system.n) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < RowsPerThread; ++e) position_[e] = row(e);
  }

 protected:
  static constexpr int RowsPerThread = Split::RowsPerThread, width = Split::width;

  /// Returns the index in the matrix of the thread's row `e`.
  __device__ __forceinline__ int row(int e = 0) const {
    const int thread = static_cast<int>(threadIdx.x);
    return RowsPerThread == 1 ? thread : thread / 32 * 32 * RowsPerThread + 32 * e + thread % 32;
  }
  /// Returns the first of the four rows of which the thread has elements after transpose_quads()
  /// (panel_tiles.cuh).
  __device__ __forceinline__ int first_of_four(int e = 0) const { return row(e) / 4 * 4; }
  /// Waits for all threads that process the system.
  static __device__ __forceinline__ void wait() {
    if (Split::warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  static __device__ __forceinline__ int warp() {
    return Split::warps == 1 ? 0 : static_cast<int>(threadIdx.x) / 32;
  }
  /// Calls visit(e) for each of the thread's rows.
  template <class Visit>
  static __device__ __forceinline__ void for_rows(Visit&& visit) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < RowsPerThread; ++e) visit(e);
  }
  /// Calls visit(e, column, is_inside, element) for every element of `a`, the thread's rows of the panel that
  /// begins at column `first`. is_inside means row(e) < n and column < n.
  template <class Visit>
  __device__ __forceinline__ void for_elements(int first, Visit&& visit, T (&a)[panel_elements]) const {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < panel_elements; ++i) {
      const int c = first + i % width;
      visit(i / width, c, row(i / width) < n_ && c < n_, a[i]);
    }
  }

  /// Returns the address of element (i, j) of A, which its factors overwrite. For Cholesky this is element
  /// (i, j) of L, which is stored at (j, i) if the upper triangle is stored.
  __device__ T* address_of(int i, int j) const {
    const bool mirrored = Symmetric && system_.uplo == Uplo::upper;
    return system_.a + (mirrored ? j + i * n_ : i + j * n_);
  }
  /// Returns true if the thread's row `e` has an element in column j. For Cholesky, elements right of the
  /// diagonal are not stored.
  __device__ bool is_stored(int e, int j) const {
    return row(e) < n_ && j < n_ && (!Symmetric || j <= row(e));
  }

  /// Loads the thread's rows of the panel that begins at column `first`; elements that are not stored become
  /// 0.
  __device__ void load(int first, T (&a)[panel_elements]) const {
    for_elements(
        first,
        [&](int e, int c, bool, T& element) { element = is_stored(e, c) ? *address_of(row(e), c) : T(0); },
        a);
  }
  /// Returns the index of element (i, j) of a column-major n x n matrix.
  __device__ int index_of(int i, int j) const { return i + j * n_; }
  /// Returns element k of the thread's row `e` of U, or of L^T for Cholesky.
  __device__ T element_of_u(int e, int k) const {
    return Symmetric ? *address_of(k, row(e)) : *address_of(row(e), k);
  }

  /// Loads the multipliers of the thread's row in the elimination steps k to k + 3. A multiplier is 0 in
  /// steps from `steps` on and in steps that do not change the row. @pre one row per thread
  __device__ void load_multipliers(int k, int steps, T (&out)[group_steps]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group_steps; ++c) {
      const bool inside = k + c < steps && row() < n_ && position_[0] > k + c;
      out[c] = inside ? *address_of(row(), k + c) : T(0);
    }
  }
  /// Subtracts from the thread's row `factors` times the pivot rows of four steps, which are in buffer
  /// `buffer` of shared memory. @pre one row per thread
  __device__ void subtract_pivot_rows(int buffer, const T (&factors)[group_steps],
                                      T (&a)[panel_elements]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group_steps; ++c) {
      GAUSSWEEP_UNROLL
      for (int j = 0; j < width; ++j) a[j] = std::fma(-factors[c], shared_.rows[buffer][c][j], a[j]);
    }
  }

  /// Returns the 8 x 8 diagonal triangle of L in shared memory for the group of eight steps that contains
  /// `step`, in double.
  __device__ T* triangle_of(int step) const { return shared_.triangles + step / tile_order * 64; }
  SharedStorage<T, Split>& shared_;
  System<T> system_;
  int n_;
  /// The position that LAPACK's row exchanges would give each of the thread's rows. Once the row was a pivot,
  /// its position is final and equals the number of that elimination step.
  int position_[RowsPerThread];
  T y_[RowsPerThread] = {};  ///< the rows' elements of the right-hand side that is eliminated with A
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
