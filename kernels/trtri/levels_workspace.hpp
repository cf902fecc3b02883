#pragma once
/// The workspace of levels.cuh, in a header that needs no CUDA.

#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::levels {

/// Returns the order of a matrix padded with an identity: n rounded up to a multiple of 16. Products are
/// fastest if columns begin at multiples of 128 bytes, which are 16 doubles.
constexpr std::int64_t padded_order(std::int64_t n) {
  return (n + 15) / 16 * 16;
}
/// Returns the maximum number of elements of a level's first products (levels.cuh), for a matrix of this
/// order.
constexpr std::int64_t product_elements(std::int64_t order) {
  return order / 2 * ((order + 1) / 2);
}
/// Returns the number of elements of workspace: product_elements for `count` matrices, and one element for a
/// flag. Kernels set the flag if products lose digits; the inverse is then computed by substitution.
constexpr std::int64_t workspace_elements(std::int64_t order, std::int64_t count = 1) {
  return count * product_elements(order) + 1;
}

}  // namespace gaussweep::levels
