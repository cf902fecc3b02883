#pragma once
/// What the inverse of a triangle by levels asks for, where no CUDA is needed to say it: levels.cuh.

#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep::levels {

constexpr std::int64_t block = 64;  ///< order of the triangles where it begins

/// The order of a matrix that an identity continues to whole blocks.
constexpr std::int64_t whole_order(std::int64_t n) {
  return (n + block - 1) / block * block;
}
/// Elements of the products on their way, of a matrix of whole blocks.
constexpr std::int64_t product_elements(std::int64_t order) {
  return order / 2 * (order / 2);
}

/// Bytes of workspace of trtri/levels: products on their way, and the whole matrix where n is not of whole
/// blocks.
constexpr std::size_t workspace_bytes(std::int64_t n, std::size_t element) {
  const std::int64_t order = whole_order(n);
  return workspace_piece(order > block ? product_elements(order) : 0, element) +
         workspace_piece(order == n ? 0 : order * order, element);
}

}  // namespace gaussweep::levels
