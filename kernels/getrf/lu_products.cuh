#pragma once
/// The large products of the recursive LU and of solves with its factors. A class `Products`, which the
/// method selects, may compute some of them; the vendor's GEMM computes all others.

#include <cstdint>
#include <type_traits>

#include "kernels/vendor/vendor_gemm.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The class `Products` that leaves all products to the vendor's GEMM.
struct NoProducts {
  /// True if the products are so inaccurate that the factors are only a preconditioner.
  static constexpr bool preconditions = false;
};

/// Computes C -= A B (C is m x n, A is m x k). `products` computes the product if it accepts these sizes:
/// products->subtract then returns true. Otherwise the vendor's GEMM computes it.
template <class T, class Products>
void subtract_product(Context& context, [[maybe_unused]] Products* products, int m, int n, int k, const T* a,
                      std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  if constexpr (!std::is_same_v<Products, NoProducts>) {
    if (products->subtract(m, n, k, a, lda, b, ldb, c, ldc)) return;
  }
  context.stage("product");
  vendor_gemm(context, vendor::Op::none, vendor::Op::none, m, n, k, T(-1), a, lda, b, ldb, T(1), c, ldc);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
