#pragma once
/// The rows of a panel that a thread keeps (panels.cuh), and the addresses of their elements.

#include <cmath>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/panel_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

/// The base class of Panels: loads the rows of a thread and the 8 x 8 triangles on the diagonal. `S` is a
/// WorkSplit. `Symmetric`: Cholesky instead of LU.
template <class T, class S, bool Symmetric>
class PanelRows {
 public:
  __device__ PanelRows(SharedStorage<T, S>& shared, const System<T>& system)
      : shared_(shared), system_(system), n_(system.n) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < RowsPerThread; ++e) step_[e] = row(e);
  }

 protected:
  static constexpr int RowsPerThread = S::RowsPerThread, width = S::width;

  /// Returns the index of the thread's row `e`.
  __device__ __forceinline__ int row(int e = 0) const {
    const int thread = static_cast<int>(threadIdx.x);
    return RowsPerThread == 1 ? thread : thread / 32 * 32 * RowsPerThread + 32 * e + thread % 32;
  }
  /// Returns the first of the four rows that share the thread's registers after transpose_quads().
  __device__ __forceinline__ int first_of_four(int e = 0) const { return row(e) / 4 * 4; }
  static __device__ __forceinline__ void wait() {
    if (S::warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  static __device__ __forceinline__ int warp() {
    return S::warps == 1 ? 0 : static_cast<int>(threadIdx.x) / 32;
  }
  template <class Visit>
  static __device__ __forceinline__ void for_rows(Visit&& visit) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < RowsPerThread; ++e) visit(e);
  }
  /// Calls visit(e, column, is_inside, element) for every element that the thread keeps of the panel from
  /// column `first` on. is_inside: row < n and column < `columns`.
  template <class Visit>
  __device__ __forceinline__ void for_elements(int first, int columns, Visit&& visit,
                                               T (&a)[panel_elements]) const {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < panel_elements; ++i) {
      const int c = first + i % width;
      visit(i / width, c, row(i / width) < n_ && c < columns, a[i]);
    }
  }

  /// Returns the address of element (i, j) of the matrix, or of its factor L if symmetric.
  __device__ T* address_of(int i, int j) const {
    const bool mirrored = Symmetric && system_.uplo == Uplo::upper;
    return system_.a + (mirrored ? j + i * n_ : i + j * n_);
  }
  __device__ bool is_stored(int e, int j) const {
    return row(e) < n_ && j < n_ && (!Symmetric || j <= row(e));
  }

  __device__ void load(int first, T (&a)[panel_elements]) const {
    for_elements(
        first, n_,
        [&](int e, int c, bool, T& element) { element = is_stored(e, c) ? *address_of(row(e), c) : T(0); },
        a);
  }
  __device__ int at(int i, int j) const { return i + j * n_; }
  /// Returns element k of the thread's row of U, or of L^T for Cholesky.
  __device__ T upper(int e, int k) const {
    return Symmetric ? *address_of(k, row(e)) : *address_of(row(e), k);
  }

  /// Loads the row's multipliers of steps k to k + 3; 0 for steps that do not change the row.
  __device__ void fetch(int k, int steps, T (&out)[group_steps]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group_steps; ++c) {
      const bool inside = k + c < steps && row() < n_ && step_[0] > k + c;
      out[c] = inside ? *address_of(row(), k + c) : T(0);
    }
  }
  /// Subtracts factors times the pivot rows of four steps in shared memory.
  __device__ void subtract(int buffer, const T (&factors)[group_steps], T (&a)[panel_elements]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group_steps; ++c) {
      GAUSSWEEP_UNROLL
      for (int j = 0; j < width; ++j) a[j] = std::fma(-factors[c], shared_.rows[buffer][c][j], a[j]);
    }
  }

  /// Returns the shared 8 x 8 triangle of the eight steps that contain `step`: of L; of U during back
  /// substitution; for Cholesky minus its inverse.
  __device__ T* triangle_of(int step) const { return shared_.triangles + step / tile_order * 64; }
  /// Loads the 8 x 8 diagonal triangles of all steps: of L for Cholesky, else of U.
  __device__ void load_triangles() {
    wait();
    for_rows([&](int e) {
      const int step = step_[e];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < tile_order; ++c) {
        const int k = step / tile_order * tile_order + c;
        const bool inside = row(e) < n_ && k < n_ && (Symmetric ? k <= step : k >= step);
        const T element = inside ? *address_of(row(e), k) : T(k == step ? 1 : 0);
        triangle_of(step)[square_index(step % tile_order, c)] = element;
        if (!Symmetric && k == step) shared_.inverses()[step] = T(1) / element;
      }
    });
    wait();
  }
  /// Replaces Cholesky's triangles by minus their inverses. Returns false if one of them is not accurate
  /// enough for products.
  __device__ bool invert_triangles() {
    constexpr T trusted = 32;  // limit of Skeel's condition number, the same as in trsv/block_chain.cu
    if (threadIdx.x == 0) shared_.substitutes = false;
    load_triangles();
    if (!(invert_triangle(triangle_of(row())) <= trusted)) shared_.substitutes = true;
    wait();
    return !shared_.substitutes;
  }

  SharedStorage<T, S>& shared_;
  System<T> system_;
  int n_;
  /// The row's position under LAPACK's row exchanges. It is final after the step in which the row was the
  /// pivot, and then equals the number of that step.
  int step_[RowsPerThread];
  T y_[RowsPerThread] = {};  ///< elements of the right-hand side
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
