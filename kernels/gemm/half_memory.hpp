#pragma once
/// Products of floats by split halves, where no kernel is needed: their memory, their parameters, and when
/// they are the faster ones.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/registry/method.hpp"

namespace gaussweep::halves {

constexpr int parts = 3;  ///< low high, high low and high high: the inner size is so many times as large
/// Terms of a sum on tensor cores, after which it is added to others in float. A product is to be as accurate
/// as SGEMM's where all terms have one sign; in LU the terms cancel.
constexpr int product_inner = 256, lu_inner = 1024;

/// The k up to which gemm/halves sums a product in double.
constexpr int few_terms = 32;

constexpr std::int64_t padded(std::int64_t size) {
  return (size + 7) / 8 * 8;
}
/// Columns whose sums are held at once: 2^26 sums, or 2048 columns.
constexpr std::int64_t block_width(std::int64_t m) {
  return std::max<std::int64_t>(2048, (1 << 26) / padded(m) / 256 * 256);
}
/// Room for a product, or for several.
struct Room {
  std::int64_t left = 0;       ///< halves of a piece of A
  std::int64_t right = 0;      ///< of one of B, a block of columns
  std::int64_t sums = 0;       ///< floats
  std::int64_t exponents = 0;  ///< ints: rows of A, columns of B, and the inner index twice
};
/// Of products with at most m rows, n columns and inner size k, of which no C has more than `sums` elements.
constexpr Room room_for(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t inner,
                        std::int64_t sums) {
  const std::int64_t piece = parts * padded(std::min(k, inner));
  return {padded(m) * piece, n * piece, std::min(sums, padded(m) * block_width(m)), m + n + 2 * k};
}
/// Of a product by itself.
constexpr Room room_of_product(const Shape& s, std::int64_t inner) {
  return room_for(s.m, s.n, s.k, inner, padded(s.m) * s.n);
}
/// Of the products in a factorisation of order n; with `solved`, also of those that solve with it for n
/// columns. A C that begins at row and column h has n - h rows and columns, or h.
constexpr Room room_of_lu(std::int64_t n, std::int64_t inner, bool solved) {
  const std::int64_t half = padded((n + 1) / 2) + 8;
  return room_for(n, n, n, inner, solved ? half * n : half * half);
}
inline std::size_t bytes_of(const Room& room) {
  return workspace_piece(room.left, 2) + workspace_piece(room.right, 2) +
         workspace_piece(room.sums, sizeof(float)) + workspace_piece(room.exponents, sizeof(int));
}

inline std::size_t lu_bytes(std::int64_t n, const Parameters& parameters, bool solved) {
  return bytes_of(room_of_lu(n, parameters.integer("inner"), solved));
}

inline Parameter inner_parameter(int usual) {
  return integer_parameter("inner", usual, 8, 65536,
                           "terms of a sum on tensor cores: more are faster and less accurate");
}
inline std::vector<Parameter> lu_parameters() {
  return {inner_parameter(lu_inner),
          integer_parameter("least_inner", 0, 0, 65536,
                            "inner size from which products are by halves; 0: where that "
                            "is faster")};
}

/// Whether m x n x k by halves takes less time than SGEMM: from rates measured on an H200, in operations and
/// bytes a second.
inline bool are_faster(double m, double n, double k) {
  constexpr double float_rate = 46e12, half_rate = 600e12, traffic = 3e12;
  constexpr double launches = 20e-6;
  const double operations = 2 * m * n * k;
  const double moved = 18 * (m * k + k * n) + 16 * m * n;
  return parts * operations / half_rate + moved / traffic + launches < operations / float_rate;
}

}  // namespace gaussweep::halves
