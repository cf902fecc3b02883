#pragma once
/// Dense operands: views where a method computes, owned column-major matrices on the host.

#include <cstdint>
#include <vector>

#include "kernels/core/enums.hpp"
#include "kernels/core/host_elements.hpp"

namespace gaussweep {

/// How elements lie in memory. `augmented`: row-major [A | B], one row after the other with stride `ld`.
enum class Layout { column_major, row_major, augmented };

/// A view of a matrix where the method runs (device memory on `cuda`, host memory elsewhere).
/// Column-major: element (i, j) at `data[i + j * ld]`; row-major and augmented: at `data[i * ld + j]`.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
};

/// Where a matrix lies, in whatever layout: element (i, j) at `data[i * down + j * across]`.
template <class T>
struct Strided {
  const T* data = nullptr;
  std::int64_t down = 0;
  std::int64_t across = 0;
};

/// An owned column-major matrix on the host, `ld == rows`; of zeros where it is made by its size alone.
template <class T>
struct HostMatrix {
  HostMatrix() = default;
  HostMatrix(std::int64_t r, std::int64_t c) : rows(r), cols(c), data(static_cast<std::size_t>(r * c)) {}
  /// One whose elements nobody has written yet: whoever makes it writes all of them.
  static HostMatrix unset(std::int64_t r, std::int64_t c) {
    HostMatrix matrix;
    matrix.rows = r;
    matrix.cols = c;
    matrix.data = HostElements<T>::unset(static_cast<std::size_t>(r * c));
    return matrix;
  }
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  bool empty() const { return data.empty(); }

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  HostElements<T> data;
};

/// The sizes of a trial in LAPACK's letters. gemm: C (m x n) = A (m x k) B (k x n). Where a problem has no
/// axes m and k: m = n = k. `nrhs` and `uplo` count where it has them (kernels/registry/problem.hpp).
struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t nrhs = 1;
  Uplo uplo = Uplo::lower;
  /// So many systems of this shape, side by side, with pivots and an info each. System s has columns s n to
  /// (s + 1) n - 1 of an n x (n batch) operand.
  std::int64_t batch = 1;

  /// The shape of one of them.
  Shape single() const {
    Shape one = *this;
    one.batch = 1;
    return one;
  }
};

/// The inputs of a trial on the host, in the shapes that the problem's row gives. `x_true` is what the
/// right-hand sides were made of, as large as b, empty if unknown.
template <class T>
struct Inputs {
  Shape shape;
  HostMatrix<T> a;
  HostMatrix<T> b;
  HostMatrix<T> x_true;
};

/// What a method computed, on the host, in the shape that the problem's row gives. It is a product, the
/// solutions, L and U in one matrix, an inverse, or a factor, whose other triangle is ignored.
template <class T>
struct Answer {
  HostMatrix<T> x;
  std::vector<int> pivots;  ///< getrf: row i was exchanged with row pivots[i] (from 0); empty: no exchanges
  std::vector<int> infos;   ///< of a batch: one a system
  /// LAPACK's info: 0, or i > 0 where the i-th pivot (from 1) is zero or not positive. Of a batch the first
  /// that is not 0.
  std::int64_t info = 0;
};

}  // namespace gaussweep
