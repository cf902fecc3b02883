#pragma once
/// What makes the large products of the recursive LU and of those who solve with its factors. It is the
/// vendor, or what a method has of its own.

#include <cstdint>
#include <type_traits>

#include "kernels/vendor/gemm_here.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// All products by the vendor's GEMM.
struct NoProducts {
  static constexpr bool preconditions = false;
};

/// C -= A B, C m x n with k the inner size, by `products` where they make it.
template <class T, class Products>
void subtract_product(Context& context, [[maybe_unused]] Products* products, int m, int n, int k, const T* a,
                      std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  if constexpr (!std::is_same_v<Products, NoProducts>) {
    if (products->subtract(m, n, k, a, lda, b, ldb, c, ldc)) return;
  }
  context.stage("product");
  gemm_here(context, vendor::Op::none, vendor::Op::none, m, n, k, T(-1), a, lda, b, ldb, T(1), c, ldc);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
