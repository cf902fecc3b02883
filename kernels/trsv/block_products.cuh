#pragma once
/// Solves with both triangles of an LU or Cholesky decomposition for many right-hand sides. A solve
/// multiplies by the inverses of the diagonal blocks and by the off-diagonal blocks of the triangles.
/// gesv/mixed_refinement.cuh uses it as a preconditioner.
///
/// Let `order` be the order of a diagonal block. A solve takes 2 n / order dependent steps of two products
/// each, and reads the triangles once for all right-hand sides. The answers are only as accurate as the
/// inverses, which suffices for a preconditioner.

#include <algorithm>
#include <cstdint>

#include "kernels/trsv/workspaces.hpp"
#include "kernels/trtri/levels.cuh"
#include "kernels/vendor/vendor_gemm.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// The solve of A x = b with both triangles of a decomposition of A.
template <class T>
class BlockProducts {
 public:
  /// @param lu both triangles, n x n
  /// @param unit_lower true if the lower triangle has a unit diagonal
  /// @param order order of the diagonal blocks
  /// @param nrhs maximum number of right-hand sides
  /// @param ldb leading dimension of the right-hand sides
  /// @param memory BlockProductsWorkspace(n, nrhs, order, ldb).elements() elements
  BlockProducts(Context& context, std::int64_t n, const T* lu, std::int64_t ld, bool unit_lower,
                std::int64_t order, std::int64_t nrhs, std::int64_t ldb, T* memory)
      : context_(context),
        layout_(n, nrhs, order, ldb),
        n_(n),
        lu_(lu),
        ld_(ld),
        unit_lower_(unit_lower),
        order_(order),
        ldb_(ldb),
        lower_inverses_(memory),
        upper_inverses_(memory + layout_.inverses),
        solved_(memory + 2 * layout_.inverses) {}

  /// Computes the inverses of the diagonal blocks. Asynchronous. A 0 on a diagonal gives non-finite answers.
  /// @pre `lu` holds the factors
  void prepare() {
    for (const bool lower : {true, false}) {
      const levels::Triangle<T> triangles{lu_,
                                          ld_,
                                          static_cast<int>(n_),
                                          lower,
                                          /*unit=*/lower && unit_lower_,
                                          /*count=*/static_cast<int>(layout_.count),
                                          /*triangle_stride=*/order_ * (ld_ + 1)};
      levels::TriangleInverse<T>(context_, triangles, order_, solved_)
          .invert(lower ? lower_inverses_ : upper_inverses_, order_, /*info=*/nullptr);
    }
  }

  /// Replaces b (n x nrhs) by U^-1 L^-1 b. Asynchronous.
  void solve(T* b, std::int64_t nrhs) {
    for (std::int64_t first = 0; first < n_; first += order_) {
      const std::int64_t rows = std::min(order_, n_ - first);
      const std::int64_t rows_end = first + rows;
      multiply(rows, nrhs, rows, /*alpha=*/T(1), lower_inverses_ + first * order_, order_, b + first,
               /*beta=*/T(0), solved_ + first);
      multiply(n_ - rows_end, nrhs, rows, /*alpha=*/T(-1), lu_ + rows_end + first * ld_, ld_, solved_ + first,
               /*beta=*/T(1), b + rows_end);
    }
    for (std::int64_t first = (layout_.count - 1) * order_; first >= 0; first -= order_) {
      const std::int64_t rows = std::min(order_, n_ - first);
      multiply(rows, nrhs, rows, /*alpha=*/T(1), upper_inverses_ + first * order_, order_, solved_ + first,
               /*beta=*/T(0), b + first);
      multiply(first, nrhs, rows, /*alpha=*/T(-1), lu_ + first * ld_, ld_, b + first, /*beta=*/T(1), solved_);
    }
  }

 private:
  /// Computes C = alpha A B + beta C. Both B and C have leading dimension ldb_.
  void multiply(std::int64_t m, std::int64_t nrhs, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                const T* b, T beta, T* c) {
    if (m == 0) return;
    vendor_gemm(context_, vendor::Op::none, vendor::Op::none, m, nrhs, k, alpha, a, lda, b, ldb_, beta, c,
                ldb_);
  }

  Context& context_;
  BlockProductsWorkspace layout_;
  std::int64_t n_;
  const T* lu_;
  std::int64_t ld_;
  bool unit_lower_;
  std::int64_t order_, ldb_;
  T *lower_inverses_, *upper_inverses_, *solved_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND
