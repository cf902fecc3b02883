#pragma once
/// Solves with both triangles of an LU or Cholesky decomposition for many right-hand sides at once. It works
/// by products with the inverses of the triangles' blocks on the diagonal and with what lies beside these.
///
/// A chain of 2 n / order steps, each of two products; the triangles are read once, however many right-hand
/// sides there are. An answer is as accurate as the inverses are: good enough where it preconditions.

#include <algorithm>
#include <cstdint>

#include "kernels/trsv/block_products.hpp"
#include "kernels/trtri/levels.cuh"
#include "kernels/vendor/gemm_here.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

template <class T>
class BlockProducts {
 public:
  /// Both triangles of `lu`, n x n; of the lower one the diagonal is 1 where it is `unit`. `ldb`: of all
  /// right-hand sides, `nrhs` at most. `memory`: BlockProductsWorkspace(n, nrhs, order, ldb).elements().
  BlockProducts(Context& context, std::int64_t n, const T* lu, std::int64_t ld, bool unit, std::int64_t order,
                std::int64_t nrhs, std::int64_t ldb, T* memory)
      : context_(context),
        room_(n, nrhs, order, ldb),
        n_(n),
        lu_(lu),
        ld_(ld),
        unit_(unit),
        order_(order),
        ldb_(ldb),
        of_lower_(memory),
        of_upper_(memory + room_.inverses),
        solved_(memory + 2 * room_.inverses) {}

  /// The inverses: once, after `lu` is there. Asynchronous. A 0 on a diagonal ends in numbers that are not
  /// finite.
  void prepare() {
    for (const bool lower : {true, false}) {
      const levels::Triangle<T> triangles{lu_,
                                          ld_,
                                          static_cast<int>(n_),
                                          lower,
                                          lower && unit_,
                                          static_cast<int>(room_.count),
                                          order_ * (ld_ + 1)};
      levels::TriangleInverse<T>(context_, triangles, order_, solved_)
          .invert(lower ? of_lower_ : of_upper_, order_, nullptr);
    }
  }

  /// Replaces b, n x nrhs, by U^-1 L^-1 b. Asynchronous.
  void solve(T* b, std::int64_t nrhs) {
    for (std::int64_t first = 0; first < n_; first += order_) {
      const std::int64_t rows = std::min(order_, n_ - first);
      const std::int64_t below = first + rows;
      multiply(rows, nrhs, rows, T(1), of_lower_ + first * order_, order_, b + first, T(0), solved_ + first);
      multiply(n_ - below, nrhs, rows, T(-1), lu_ + below + first * ld_, ld_, solved_ + first, T(1),
               b + below);
    }
    for (std::int64_t first = (room_.count - 1) * order_; first >= 0; first -= order_) {
      const std::int64_t rows = std::min(order_, n_ - first);
      multiply(rows, nrhs, rows, T(1), of_upper_ + first * order_, order_, solved_ + first, T(0), b + first);
      multiply(first, nrhs, rows, T(-1), lu_ + first * ld_, ld_, b + first, T(1), solved_);
    }
  }

 private:
  void multiply(std::int64_t m, std::int64_t nrhs, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                const T* b, T beta, T* c) {
    if (m == 0) return;
    gemm_here(context_, vendor::Op::none, vendor::Op::none, m, nrhs, k, alpha, a, lda, b, ldb_, beta, c,
              ldb_);
  }

  Context& context_;
  BlockProductsWorkspace room_;
  std::int64_t n_;
  const T* lu_;
  std::int64_t ld_;
  bool unit_;
  std::int64_t order_, ldb_;
  T *of_lower_, *of_upper_, *solved_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND
