#pragma once
/// Computes the lower triangle of C = Q^T Q for a lower triangular Q, by the vendor's products. First come
/// all squares on the diagonal. Then each level joins pairs of squares: it computes Q22^T Q21 for the block
/// below the first square, and adds Q21^T Q21 to the first square. Strips skip zeros and the upper triangle
/// of C. In double on a Hopper GPU one launch of large_tiles.cuh computes C = P P^T with P = Q^T.

#include <algorithm>
#include <cstdint>

#include "kernels/trtri/large_tiles.cuh"
#include "kernels/vendor/vendor_gemm.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// Returns the product P P^T of an upper triangular P with zeros below its diagonal; its order is a multiple
/// of 64.
inline LevelProduct<double> square_of_upper(const double* p, std::int64_t ldp, int order, double* c,
                                            std::int64_t ldc) {
  LevelProduct<double> product{};
  product.a = product.b = p;
  product.lda = product.ldb = ldp;
  product.c = c;
  product.ldc = ldc;
  product.rows = product.columns = product.inner = product.last_rows = product.last_columns = order;
  product.counts = Inner::from_rows;
  product.factor = 1;
  return product;
}

template <class T>
class TriangleSquare {
 public:
  TriangleSquare(Context& context, const T* q, std::int64_t ldq, int order, T* c, std::int64_t ldc)
      : context_(context), q_(q), ldq_(ldq), order_(order), c_(c), ldc_(ldc) {}

  /// Computes C. `q` must have zeros above its diagonal. Some elements of `c` above the diagonal are
  /// overwritten too. `least`: order of the first squares. Asynchronous.
  void multiply(int least = 256) {
    context_.stage("square");
    const int whole = order_ / least;
    if (whole > 0) start(0, least, whole);
    if (order_ % least > 0) start(whole * least, order_ % least, 1);
    for (int half = least; half < order_; half *= 2) {
      const int pairs = (order_ - half + 2 * half - 1) / (2 * half);
      const int last = std::min(half, order_ - (pairs - 1) * 2 * half - half);
      const int alike = last == half ? pairs : pairs - 1;
      if (alike > 0) join(0, half, half, alike);
      if (alike < pairs) join(alike * 2 * half, half, last, 1);
    }
  }

 private:
  void start(int first, int size, int count) {
    product(size, size, size, q(first, first), q(first, first), T(0), c(first, first), size, count);
  }

  /// Joins `count` pairs of squares of orders `half` and `rest`; the first pair begins at row `first`.
  void join(int first, int half, int rest, int count) {
    const int second = first + half;
    const int width = std::max(512, (1 << 22) / order_ / 64 * 64);  // enough tiles for the GPU
    for (int begin = 0; begin < rest; begin += width) {
      const int rows = std::min(width, rest - begin);
      product(rows, half, rest - begin, q(second + begin, second + begin), q(second + begin, first), T(0),
              c(second + begin, first), 2 * half, count);
    }
    for (int begin = 0; begin < half; begin += width) {
      const int columns = std::min(width, half - begin);
      product(half - begin, columns, rest, q(second, first + begin), q(second, first + begin), T(1),
              c(first + begin, first + begin), 2 * half, count);
    }
  }

  /// Computes `count` products whose operands are `step` rows and columns apart.
  void product(int m, int n, int k, const T* a, const T* b, T beta, T* c, int step, int count) {
    vendor_gemm_batch(context_, vendor::Op::transpose, m, n, k, T(1), a, ldq_, step * (ldq_ + 1), b, ldq_,
                      step * (ldq_ + 1), beta, c, ldc_, step * (ldc_ + 1), count);
  }
  const T* q(int row, int column) const { return q_ + row + column * ldq_; }
  T* c(int row, int column) const { return c_ + row + column * ldc_; }

  Context& context_;
  const T* q_;
  std::int64_t ldq_;
  int order_;
  T* c_;
  std::int64_t ldc_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::levels
