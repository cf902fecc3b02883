#pragma once
/// LU with partial pivoting of systems of order up to N = 32, in the registers of some lanes of a warp.
///
/// A thread has a row. In step k the lanes find the largest element of column k among the rows that no
/// earlier step took; that row goes into shared memory, and the others subtract it. Rows are not exchanged: a
/// thread knows by which step its row was taken. Registers cannot be indexed by k, so the columns move to the
/// left by one in every step, and the first goes to the end of those that are left: column k is always in the
/// first register. A quarter of the steps is a segment: after it, its columns stay where they are, and the
/// next segment moves the others alone. Thus the columns end in an order that is known (`place_of`).
///
/// Rows and columns beyond n are those of the identity, which keeps every loop's length a constant. The
/// rounding is that of right-looking LU without blocks.

#include <cmath>
#include <cstdint>

#include "kernels/core/matrix.hpp"
#include "kernels/getrf/largest.cuh"
#include "kernels/getrf/small_rows.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small {

/// How systems of order up to N are shared out over a block of threads. `Symmetric`: positive definite too,
/// step k takes row k.
template <int N_, int Columns, bool Symmetric>
struct Share {
  static constexpr int N = N_;
  static constexpr bool symmetric = Symmetric;
  static constexpr int beside = Columns;  ///< of right-hand sides
  static constexpr int threads = 128, systems = threads / N;
  static constexpr int segments = N >= 32 ? 4 : 2;
  static constexpr int steps = N / segments;  ///< of a segment

  /// The register in which column c, from 0, ends.
  static constexpr int place_of(int c) { return N - (c / steps + 1) * steps + c % steps; }
};

/// What a system's threads share.
template <class T, class S>
struct Desk {
  T row[S::N];  ///< the row that is subtracted
  T beside[S::beside];
  int taken[S::N];      ///< the place of the row that each step took
  T sum[2][S::beside];  ///< of the row in turn in the back substitution
  T pivot[2];
  T diagonal[S::symmetric ? S::N : 1];
};

/// The operands of a system, n x n in columns; null where lanes have none, which work at the identity: all
/// lanes of a warp meet.
template <class T>
struct System {
  T* a;
  std::int64_t ld;
  int n;
};

/// A thread's part of a system.
template <class T, class S>
class Rows {
 public:
  __device__ Rows(Desk<T, S>& desk, int thread) : desk_(desk), row_(thread) {}

  __device__ int row() const { return row_; }
  /// By which step the row was taken; -1: by none.
  __device__ int step() const { return step_; }

  /// Takes the row of A.
  __device__ void load(const System<const T>& of) {
    take([&](int i, int j) { return of.a[i + j * of.ld]; }, of);
  }
  /// The same of a symmetric one, of which one triangle is read.
  __device__ void load(const System<const T>& of, Uplo uplo) {
    const bool lower = uplo == Uplo::lower;
    take([&](int i, int j) { return of.a[lower == (i > j) ? i + j * of.ld : j + i * of.ld]; }, of);
  }
  /// The same of up to S::beside columns of B.
  __device__ void load_beside(const T* b, std::int64_t ld, int n, int count) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < S::beside; ++r) {
      const bool inside = b != nullptr && row_ < n && r < count;
      y_[r] = inside ? b[row_ + r * ld] : T(0);
    }
  }

  /// All steps. Returns LAPACK's info, from 1.
  __device__ int factor() {
    int info = 0;
    segment<0>(info);
    return info;
  }

  /// Solves U x = y; each row then has the unknown of its step in `beside`.
  __device__ void substitute() {
    segment_back<S::segments - 1>();
    GAUSSWEEP_UNROLL
    for (int r = 0; r < S::beside; ++r) y_[r] = x_[r];
  }

  __device__ T beside(int r) const { return y_[r]; }
  /// L (below) and U (from the diagonal on) of the row, into its place.
  __device__ void store(const System<T>& to) const {
    put(to, [&](int c, int) { return a_[S::place_of(c)]; });
  }
  /// LAPACK's pivots, from 0: as if each step had exchanged the row that it took with that in its place.
  __device__ void store_pivots(int* pivots, int n) {
    __syncwarp();
    if (pivots != nullptr && row_ < n) pivots[row_] = desk_.taken[row_];
  }
  /// The triangle of the Cholesky factor that lies in the row. @pre the system is symmetric
  __device__ void store_cholesky(const System<T>& to, Uplo uplo) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < S::N; ++c) {
      if (c == row_) desk_.diagonal[row_] = std::sqrt(a_[S::place_of(c)]);
    }
    __syncwarp();
    if (to.a == nullptr || row_ >= to.n) return;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < S::N; ++j) {
      const T own = a_[S::place_of(j)];
      if (j == row_) to.a[row_ + j * to.ld] = desk_.diagonal[j];
      if (uplo == Uplo::lower && j < row_) to.a[row_ + j * to.ld] = own * desk_.diagonal[j];
      if (uplo == Uplo::upper && j > row_ && j < to.n) to.a[row_ + j * to.ld] = own / desk_.diagonal[row_];
    }
  }

  /// A^-1 in the place of A, by Gauss-Jordan elimination. Returns LAPACK's info, from 1.
  __device__ int invert() {
    int info = 0;
    GAUSSWEEP_ROLLED
    for (int k = 0; k < S::N; ++k) take_jordan_step(k, info);
    return info;
  }
  /// After it: the row of the step that took this one, with the columns as rows were taken.
  __device__ void store_inverse(const System<T>& to) {
    __syncwarp();
    if (to.a == nullptr || step_ < 0 || step_ >= to.n) return;
    GAUSSWEEP_UNROLL
    for (int k = 0; k < S::N; ++k) {
      if (k < to.n) to.a[step_ + desk_.taken[k] * to.ld] = a_[k];
    }
  }

 private:
  template <class Element>
  __device__ void take(Element&& element, const System<const T>& of) {
    GAUSSWEEP_UNROLL
    for (int j = 0; j < S::N; ++j) {
      const bool inside = of.a != nullptr && row_ < of.n && j < of.n;
      a_[j] = inside ? element(row_, j) : row_ == j ? T(1) : T(0);
    }
  }
  template <class Element>
  __device__ void put(const System<T>& to, Element&& element) const {
    if (to.a == nullptr || step_ < 0 || step_ >= to.n) return;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < S::N; ++c) {
      const int j = c;
      if (j < to.n) to.a[step_ + j * to.ld] = element(c, j);
    }
  }

  /// The row that a step takes: of the largest size, of equal ones the first. NaN is larger than all others,
  /// so that it is in every element that it should be in.
  __device__ int find_pivot(T& pivot) const {
    constexpr int none = 0x7fffffff;
    pivot = a_[0];
    if (S::N == 32) {
      const int lane = lane_of_largest(step_ < 0, a_[0]);
      pivot = __shfl_sync(0xffffffffu, pivot, lane & 31);
      return lane < 0 ? none : lane;
    }
    int row = step_ >= 0 ? none : row_;
    T size = step_ >= 0 ? T(-1) : pivot == pivot ? std::fabs(pivot) : T(INFINITY);
    GAUSSWEEP_UNROLL
    for (int apart = S::N / 2; apart > 0; apart /= 2) {
      const T other = __shfl_xor_sync(0xffffffffu, size, apart);
      const T of_other = __shfl_xor_sync(0xffffffffu, pivot, apart);
      const int row_of_other = __shfl_xor_sync(0xffffffffu, row, apart);
      if (other > size || (other == size && row_of_other < row)) {
        size = other;
        pivot = of_other;
        row = row_of_other;
      }
    }
    return row;
  }

  /// A step of the segment that has Width registers left; `done` of them are of columns that are finished.
  template <int Width>
  __device__ void take_step(int k, int done, int& info) {
    T pivot = T(0);
    const bool takes = row_ == (S::symmetric ? k : find_pivot(pivot));
    const int live = Width - done;  // what an earlier step of this segment finished is at the end
    if (takes) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Width; ++c) desk_.row[c] = c < live ? a_[c] : T(0);
      GAUSSWEEP_UNROLL
      for (int r = 0; r < S::beside; ++r) desk_.beside[r] = y_[r];
    }
    if (S::symmetric) {
      __syncwarp();
      pivot = desk_.row[0];
    }
    if (info == 0 && (S::symmetric ? !(pivot > T(0)) : pivot == T(0))) info = k + 1;
    const bool is_left = step_ < 0 && !takes;
    const T factor = is_left && pivot != T(0) ? a_[0] / pivot : T(0);  // at 0 all of the column is 0
    if (takes) {
      step_ = k;
      desk_.taken[k] = place_;
    }
    if (!S::symmetric) {
      __syncwarp();
      place_ = takes ? k : place_ == k ? desk_.taken[k] : place_;
    }
    const T finished = is_left ? factor : a_[0];
    GAUSSWEEP_UNROLL
    for (int c = 1; c < Width; ++c) a_[c - 1] = is_left ? std::fma(-factor, desk_.row[c], a_[c]) : a_[c];
    a_[Width - 1] = finished;
    if (is_left) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < S::beside; ++r) y_[r] = std::fma(-factor, desk_.beside[r], y_[r]);
    }
    __syncwarp();
  }

  /// Row k of the result is the taken row over the pivot, and every other row loses its multiple of that.
  __device__ void take_jordan_step(int k, int& info) {
    T pivot = T(0);
    const bool takes = row_ == find_pivot(pivot);
    if (pivot == T(0) && info == 0) info = k + 1;
    if (takes) {
      const T inverse = T(1) / pivot;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < S::N; ++c) desk_.row[c] = c == 0 ? inverse : a_[c] * inverse;
      step_ = k;
      desk_.taken[k] = row_;
    }
    const T factor = a_[0];
    __syncwarp();
    const auto next = [&](int c, T own) {
      return takes ? desk_.row[c] : std::fma(-factor, desk_.row[c], own);
    };
    const T finished = next(0, T(0));
    GAUSSWEEP_UNROLL
    for (int c = 1; c < S::N; ++c) a_[c - 1] = next(c, a_[c]);
    a_[S::N - 1] = finished;
    __syncwarp();
  }

  template <int Segment>
  __device__ void segment(int& info) {
    GAUSSWEEP_ROLLED
    for (int t = 0; t < S::steps; ++t) take_step<S::N - Segment * S::steps>(Segment * S::steps + t, t, info);
    if constexpr (Segment + 1 < S::segments) segment<Segment + 1>(info);
  }

  /// Unknowns from the last on.
  template <int Segment>
  __device__ void segment_back() {
    GAUSSWEEP_UNROLL
    for (int t = S::steps - 1; t >= 0; --t)
      take_unknown(Segment * S::steps + t, a_[S::N - (Segment + 1) * S::steps + t]);
    if constexpr (Segment > 0) segment_back<Segment - 1>();
  }
  __device__ void take_unknown(int k, T of_column) {
    const int turn = k % 2;
    if (step_ == k) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < S::beside; ++r) desk_.sum[turn][r] = y_[r];
      desk_.pivot[turn] = of_column;
    }
    __syncwarp();
    GAUSSWEEP_UNROLL
    for (int r = 0; r < S::beside; ++r) {
      const T x = desk_.sum[turn][r] / desk_.pivot[turn];
      if (step_ == k) x_[r] = x;
      if (step_ < k) y_[r] = std::fma(-of_column, x, y_[r]);
    }
  }

  Desk<T, S>& desk_;
  int row_;
  int step_ = -1;
  int place_ = row_;  ///< were rows exchanged at once
  T a_[S::N];
  T y_[S::beside] = {}, x_[S::beside] = {};
};

/// Calls launch(Share) for the smallest share of order n. @pre n <= most_rows
template <int Columns, bool Symmetric, class Launch>
void for_order(std::int64_t n, Launch&& launch) {
  if (n <= 8) return launch(Share<8, Columns, Symmetric>());
  if (n <= 16) return launch(Share<16, Columns, Symmetric>());
  launch(Share<32, Columns, Symmetric>());
}

/// Which system of the launch a thread works at, and as which of its threads.
template <class S>
struct Seat {
  __device__ Seat()
      : desk(static_cast<int>(threadIdx.x) / S::N),
        thread(static_cast<int>(threadIdx.x) % S::N),
        system(static_cast<std::int64_t>(blockIdx.x) * S::systems + desk) {}
  int desk, thread;
  std::int64_t system;
};
template <class S>
dim3 blocks_for(std::int64_t systems, std::int64_t chunks = 1) {
  return dim3(static_cast<unsigned>((systems + S::systems - 1) / S::systems), static_cast<unsigned>(chunks));
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small
