#pragma once
/// The rows of a panel that a thread keeps (panels.cuh), and the addresses of their elements.

#include <cmath>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/panel_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::panels {

/// The base class of Panels: loads the rows of a thread and the 8 x 8 triangles on the diagonal. `S` is a
/// Share. `Symmetric`: Cholesky instead of LU.
template <class T, class S, bool Symmetric>
class PanelRows {
 public:
  __device__ PanelRows(SharedStorage<T, S>& shared, const System<T>& system)
      : shared_(shared), system_(system), n_(system.n) {
    GAUSSWEEP_UNROLL
    for (int e = 0; e < Each; ++e) step_[e] = row(e);
  }

 protected:
  static constexpr int Each = S::Each, width = S::width;

  /// Returns the index of the thread's row `e`.
  __device__ __forceinline__ int row(int e = 0) const {
    const int thread = static_cast<int>(threadIdx.x);
    return Each == 1 ? thread : thread / 32 * 32 * Each + 32 * e + thread % 32;
  }
  /// Returns the first of the four rows that share the thread's registers after turn() (panel_tiles.cuh).
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
    for (int e = 0; e < Each; ++e) visit(e);
  }
  /// Calls visit(e, column, is_inside, element) for every element that the thread keeps; is_inside: the row
  /// is below n and the column is below `columns`.
  template <class Visit>
  __device__ __forceinline__ void for_elements(int first, int columns, Visit&& visit,
                                               T (&a)[elements]) const {
    GAUSSWEEP_UNROLL
    for (int i = 0; i < elements; ++i) {
      const int c = first + i % width;
      visit(i / width, c, row(i / width) < n_ && c < columns, a[i]);
    }
  }

  __device__ T* place_of(int i, int j) const {
    const bool mirrored = Symmetric && system_.uplo == Uplo::upper;
    return system_.a + (mirrored ? j + i * n_ : i + j * n_);
  }
  __device__ bool is_stored(int e, int j) const {
    return row(e) < n_ && j < n_ && (!Symmetric || j <= row(e));
  }

  __device__ void load(int first, T (&a)[elements]) const {
    for_elements(
        first, n_, [&](int e, int c, bool, T& one) { one = is_stored(e, c) ? *place_of(row(e), c) : T(0); },
        a);
  }
  __device__ int at(int i, int j) const { return i + j * n_; }
  /// Returns element k of the thread's row of U, or of L^T for Cholesky.
  __device__ T upper(int e, int k) const { return Symmetric ? *place_of(k, row(e)) : *place_of(row(e), k); }

  /// Loads the row's multipliers of steps k to k + 3; 0 for steps that do not change the row.
  __device__ void fetch(int k, int steps, T (&out)[group]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) {
      const bool inside = k + c < steps && row() < n_ && step_[0] > k + c;
      out[c] = inside ? *place_of(row(), k + c) : T(0);
    }
  }
  /// Subtracts factors times the pivot rows of four steps in shared memory.
  __device__ void subtract(int turn, const T (&factors)[group], T (&a)[elements]) const {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < group; ++c) {
      GAUSSWEEP_UNROLL
      for (int j = 0; j < width; ++j) a[j] = std::fma(-factors[c], shared_.rows[turn][c][j], a[j]);
    }
  }

  /// Returns the shared 8 x 8 triangle of the eight steps that contain `step`: of L, in the back substitution
  /// of U, for Cholesky minus the inverse.
  __device__ T* square_of(int step) const { return shared_.triangles + step / eight * 64; }
  /// Loads the 8 x 8 diagonal triangles of all steps: of L for Cholesky, else of U.
  __device__ void take_triangles() {
    wait();
    for_rows([&](int e) {
      const int step = step_[e];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < eight; ++c) {
        const int k = step / eight * eight + c;
        const bool inside = row(e) < n_ && k < n_ && (Symmetric ? k <= step : k >= step);
        const T one = inside ? *place_of(row(e), k) : T(k == step ? 1 : 0);
        square_of(step)[place_in_square(step % eight, c)] = one;
        if (!Symmetric && k == step) shared_.inverses()[step] = T(1) / one;
      }
    });
    wait();
  }
  /// Replaces Cholesky's triangles by minus their inverses. Returns false if one of them is not accurate
  /// enough for products.
  __device__ bool invert_triangles() {
    constexpr T trusted = 32;  // the limit of trsv/block_chain.cu; well-conditioned factors stay below it
    if (threadIdx.x == 0) shared_.substitutes = false;
    take_triangles();
    if (!(invert_square(square_of(row())) <= trusted)) shared_.substitutes = true;
    wait();
    return !shared_.substitutes;
  }

  SharedStorage<T, S>& shared_;
  System<T> system_;
  int n_;
  /// The step in which the row was the pivot. Before that, the row's index if every step exchanged rows.
  int step_[Each];
  T y_[Each] = {};  ///< elements of the right-hand side
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::panels
