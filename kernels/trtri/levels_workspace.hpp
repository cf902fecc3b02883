#pragma once
/// What the inverse of a triangle by levels asks for, where no CUDA is needed to say it: levels.cuh.

#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::levels {

/// The order of a matrix that an identity continues to a multiple of 16. Its columns begin at multiples of
/// 128 bytes, with which products are fastest.
constexpr std::int64_t whole_order(std::int64_t n) {
  return (n + 15) / 16 * 16;
}
/// Elements of the products on their way, of a matrix of this order.
constexpr std::int64_t product_elements(std::int64_t order) {
  return order / 2 * ((order + 1) / 2);
}
/// The same, and one element that tells whether the products lost digits.
constexpr std::int64_t workspace_elements(std::int64_t order) {
  return product_elements(order) + 1;
}

}  // namespace gaussweep::levels
