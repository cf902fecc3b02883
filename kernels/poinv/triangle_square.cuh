#pragma once
/// Computes the lower triangle of C = Q^T Q for a lower triangular Q, by the vendor's products. First
/// computes the diagonal blocks (squares) of C from those of Q: C11 = Q11^T Q11. Then, level by level, joins
/// pairs of neighbouring squares to a square of twice the order. This computes C21 = Q22^T Q21 below the
/// first square, and adds Q21^T Q21 to the first square. The products are split along the diagonal, so that
/// they omit zeros of Q and the upper triangle of C. In double on a Hopper GPU, one launch of large_tiles.cuh
/// computes C = P P^T with P = Q^T instead.

#include <algorithm>
#include <cstdint>

#include "kernels/trtri/large_tiles.cuh"
#include "kernels/vendor/vendor_gemm.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::levels {

/// Returns the arguments of large_tiles.cuh for C = P P^T, with an upper triangular P that has zeros below
/// its diagonal. `order` is a multiple of 64.
inline LevelProduct<double> square_of_upper(const double* p, std::int64_t ldp, int order, double* c,
                                            std::int64_t ldc) {
  LevelProduct<double> product{};
  product.a = product.b = p;
  product.lda = product.ldb = ldp;
  product.c = c;
  product.ldc = ldc;
  product.rows = product.columns = product.k = product.last_rows = product.last_columns = order;
  product.k_range = KRange::from_rows;
  product.factor = 1;
  return product;
}

/// The product C = Q^T Q by the vendor's library.
template <class T>
class TriangleSquare {
 public:
  TriangleSquare(Context& context, const T* q, std::int64_t ldq, int order, T* c, std::int64_t ldc)
      : context_(context), q_(q), ldq_(ldq), order_(order), c_(c), ldc_(ldc) {}

  /// Computes the lower triangle of C. Also overwrites some elements of `c` above the diagonal. Asynchronous.
  /// @param square_order order of the first squares
  /// @pre `q` has zeros above its diagonal
  void multiply(int square_order = 256) {
    context_.stage("square");
    const int full_squares = order_ / square_order;
    if (full_squares > 0) multiply_squares(0, square_order, full_squares);
    if (order_ % square_order > 0) multiply_squares(full_squares * square_order, order_ % square_order, 1);
    for (int half = square_order; half < order_; half *= 2) {
      // Pair p begins at row 2 p half. It counts if at least one row is left for its second square.
      const int pairs = (order_ - half + 2 * half - 1) / (2 * half);
      const int last_order = std::min(half, order_ - (pairs - 1) * 2 * half - half);
      const int full_pairs = last_order == half ? pairs : pairs - 1;
      if (full_pairs > 0) join(0, half, half, full_pairs);
      if (full_pairs < pairs) join(full_pairs * 2 * half, half, last_order, 1);
    }
  }

 private:
  /// Computes `count` squares of order `size` on the diagonal of C, from row `first` on.
  void multiply_squares(int first, int size, int count) {
    product(size, size, size, q(first, first), q(first, first), T(0), c(first, first), size, count);
  }

  /// Joins `count` pairs of squares of orders `half` and `second_order`; the first pair begins at row
  /// `first`.
  void join(int first, int half, int second_order, int count) {
    const int second = first + half;
    // Rows or columns per product. With order_ columns, a product of this width has enough tiles for the GPU.
    const int strip_width = std::max(512, (1 << 22) / order_ / 64 * 64);
    // C21 = Q22^T Q21, in strips of rows. Q22^T is upper triangular, so that k starts at the strip's first
    // row.
    for (int begin = 0; begin < second_order; begin += strip_width) {
      const int rows = std::min(strip_width, second_order - begin);
      product(rows, half, second_order - begin, q(second + begin, second + begin), q(second + begin, first),
              T(0), c(second + begin, first), 2 * half, count);
    }
    // C11 += Q21^T Q21, in strips of columns, each from its diagonal block down.
    for (int begin = 0; begin < half; begin += strip_width) {
      const int columns = std::min(strip_width, half - begin);
      product(half - begin, columns, second_order, q(second, first + begin), q(second, first + begin), T(1),
              c(first + begin, first + begin), 2 * half, count);
    }
  }

  /// Computes `count` products C = A^T B + beta C, where C is m x n. The operands of successive products are
  /// `step` rows and columns apart.
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
