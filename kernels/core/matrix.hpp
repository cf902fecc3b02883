#pragma once
/// Dense operands: views of the memory in which a method (an implementation of e.g. gesv) computes, and
/// column-major matrices on the host.

#include <cstdint>
#include <vector>

#include "kernels/core/enums.hpp"
#include "kernels/core/host_array.hpp"

namespace gaussweep {

/// The memory layout of a matrix. `augmented`: [A | B] in row-major order with row stride `ld`.
enum class Layout { column_major, row_major, augmented };

/// A view of a matrix in the memory of the method's backend (device memory on `cuda`, else host memory).
/// Column-major: element (i, j) at `data[i + j * ld]`; row-major and augmented: at `data[i * ld + j]`.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
};

/// A read-only view of a matrix in any layout: element (i, j) is at `data[i * row_stride + j * col_stride]`.
template <class T>
struct StridedView {
  const T* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
};

/// An owned column-major matrix on the host with `ld == rows`. The constructor sets all elements to zero.
template <class T>
struct HostMatrix {
  HostMatrix() = default;
  HostMatrix(std::int64_t r, std::int64_t c) : rows(r), cols(c), data(static_cast<std::size_t>(r * c)) {}
  /// Makes a matrix with uninitialized elements; the caller writes all elements.
  static HostMatrix uninitialized(std::int64_t r, std::int64_t c) {
    HostMatrix matrix;
    matrix.rows = r;
    matrix.cols = c;
    matrix.data = HostArray<T>::uninitialized(static_cast<std::size_t>(r * c));
    return matrix;
  }
  T& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const {
    return data[static_cast<std::size_t>(i + j * rows)];
  }
  bool empty() const { return data.empty(); }

  std::int64_t rows = 0;
  std::int64_t cols = 0;
  HostArray<T> data;
};

/// The sizes of a trial (one method on one input) in LAPACK's letters. gemm: C (m x n) = A (m x k) B (k x n).
/// Each problem lists the sizes that it uses (ProblemRow::axes). If m and k are not listed, m = n = k. If
/// `nrhs` or `uplo` is not listed, the problem ignores it.
struct Shape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t nrhs = 1;
  Uplo uplo = Uplo::lower;
  /// The number of systems of this shape, stored side by side, each with its own pivots and info. System s
  /// has columns s n to (s + 1) n - 1 of an n x (n batch) operand.
  std::int64_t batch = 1;

  /// Returns the shape of one system.
  Shape single() const {
    Shape one = *this;
    one.batch = 1;
    return one;
  }
};

/// The inputs of a trial on the host, in the shapes of ProblemRow. `x_true` is the solution from which the
/// right-hand sides were computed. It has the size of b, or is empty if unknown.
template <class T>
struct Inputs {
  Shape shape;
  HostMatrix<T> a;
  HostMatrix<T> b;
  HostMatrix<T> x_true;
};

/// The report of an iterative method.
struct IterationReport {
  Convergence convergence = Convergence::none;
  std::int64_t iterations = 0;
  std::vector<double> history;  ///< the residual or largest change after each iteration
};

/// The result of a method on the host, in the shape of ProblemRow::x: a product, the solutions, L and U in
/// one matrix, an inverse, or a triangular factor. The other triangle of a triangular factor is ignored.
template <class T>
struct Answer {
  HostMatrix<T> x;
  std::vector<int> pivots;  ///< getrf: row i was exchanged with row pivots[i] (from 0); empty: no exchanges
  std::vector<int> infos;   ///< one per system of a batch; empty for a single system
  /// LAPACK's info: 0, or i > 0 if the i-th pivot (from 1) is zero or not positive. For a batch it is the
  /// first nonzero info.
  std::int64_t info = 0;
  /// The report of an iterative method. MethodRun (kernels/staging) sets it to the report of the last run.
  /// `info` may be 0 even if the method did not converge.
  IterationReport report;
};

}  // namespace gaussweep
