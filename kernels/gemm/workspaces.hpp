#pragma once
/// Workspaces, parameters and expected speed of products by split halves and by residues. Compiles without
/// CUDA.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/gemm/residue_numbers.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::halves {

/// Number of partial products. Each float is high + low. The partial products low high, high low and high
/// high are computed together, as one half-precision product with 3 k terms.
constexpr int parts = 3;
/// Defaults of the parameter `inner`, the number of terms after which a tensor-core sum is added to a float
/// sum in memory, with rounding. (Tensor cores truncate.) The method gemm/halves must be as accurate as SGEMM
/// even if all terms have the same sign. In LU the terms have both signs, so that longer sums are accurate
/// enough.
constexpr int product_inner = 256, lu_inner = 1024;

/// The largest k for which gemm/halves computes the product with double sums instead (halves.cu gives the
/// reason).
constexpr int max_small_k = 256;
/// Returns the number of terms per tensor-core sum: `inner`, but at most 32 for k < 512. After every 16 terms
/// the sum is truncated, which may lose a unit in its last place. For k < 512, this must add little, because
/// splitting alone may cause half of the normwise error bound sqrt(k + 2) u ||A|| ||B||.
constexpr std::int64_t terms_per_sum(std::int64_t k, std::int64_t inner) {
  return k < 512 ? std::min<std::int64_t>(inner, 32) : inner;
}

/// Rounds up to a multiple of 8, which fast half-precision products need.
constexpr std::int64_t padded(std::int64_t size) {
  return (size + 7) / 8 * 8;
}
/// Returns the number of columns per block of C: about 2^26 elements, but at least 2048 columns.
constexpr std::int64_t block_width(std::int64_t m) {
  return std::max<std::int64_t>(2048, (1 << 26) / padded(m) / 256 * 256);
}
/// Workspace sizes for one product, or for the largest of several.
struct WorkspaceCapacity {
  std::int64_t left = 0;       ///< number of half-precision numbers for one k slice of A
  std::int64_t right = 0;      ///< number of half-precision numbers for one k slice of B
  std::int64_t sums = 0;       ///< number of floats: one per element of a block of C
  std::int64_t exponents = 0;  ///< number of ints: m + n + 2 k, one per row and column of A and B
};
/// Returns the sizes for products of at most m x n x k whose C has at most `sums` elements.
constexpr WorkspaceCapacity capacity_for(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t inner,
                                         std::int64_t sums) {
  const std::int64_t slice = parts * padded(std::min(k, inner));
  return {padded(m) * slice, n * slice, std::min(sums, padded(m) * block_width(m)), m + n + 2 * k};
}
/// Returns the sizes for a single product.
constexpr WorkspaceCapacity capacity_of_product(const Shape& s, std::int64_t inner) {
  return capacity_for(s.m, s.n, s.k, inner, padded(s.m) * s.n);
}
/// Returns the sizes for the products of an LU factorisation of order n and, if `includes_solves`, also for
/// the products of triangular solves with n right-hand sides.
constexpr WorkspaceCapacity capacity_of_lu(std::int64_t n, std::int64_t inner, bool includes_solves) {
  const std::int64_t half = padded((n + 1) / 2) + 8;
  return capacity_for(n, n, n, inner, includes_solves ? half * n : half * half);
}
inline std::size_t bytes_of(const WorkspaceCapacity& capacity) {
  constexpr std::size_t half = 2;  // bytes of a half-precision number
  return aligned_workspace_bytes(capacity.left, half) + aligned_workspace_bytes(capacity.right, half) +
         aligned_workspace_bytes(capacity.sums, sizeof(float)) +
         aligned_workspace_bytes(capacity.exponents, sizeof(int));
}

/// Returns the workspace bytes of capacity_of_lu(), with the value of the parameter `inner`.
inline std::size_t lu_bytes(std::int64_t n, const Parameters& parameters, bool includes_solves) {
  return bytes_of(capacity_of_lu(n, parameters.integer("inner"), includes_solves));
}

inline Parameter inner_parameter(int default_value) {
  return integer_parameter("inner", default_value, 8, 65536,
                           "terms per tensor-core sum: more terms are faster and less accurate");
}
inline std::vector<Parameter> lu_parameters() {
  return {inner_parameter(lu_inner),
          integer_parameter("least_inner", 0, 0, 65536,
                            "smallest k of products by halves; 0: use halves if that is faster")};
}

/// Returns true if a product m x n x k by halves is expected to take less time than SGEMM. Uses rates
/// measured on an H200, in operations per second and bytes per second.
inline bool are_faster(double m, double n, double k) {
  constexpr double float_rate = 46e12, half_rate = 600e12, memory_rate = 3e12;
  constexpr double launch_time = 20e-6;
  const double operations = 2 * m * n * k;
  const double moved_bytes = 18 * (m * k + k * n) + 16 * m * n;  // operands and their halves; sums and C
  return parts * operations / half_rate + moved_bytes / memory_rate + launch_time < operations / float_rate;
}

}  // namespace gaussweep::halves

namespace gaussweep::residues {

/// Rounds up to a multiple of 16, which products of bytes (8-bit integers) require.
constexpr std::int64_t padded(std::int64_t size) {
  return (size + 15) / 16 * 16;
}
/// Rounds k up to a multiple of 16, or of 128 if k >= 512. Products of bytes are up to 1.2 times as fast if
/// each row begins at a multiple of 128 bytes.
constexpr std::int64_t padded_k(std::int64_t k) {
  return k < 512 ? padded(k) : (k + 127) / 128 * 128;
}
/// Returns the number of columns per block of C: 2^25 sums per modulus, but at least 2048 columns. Fewer
/// columns are slower, and more columns are not faster. A multiple of 256 fills the tiles of the products.
constexpr std::int64_t block_width(std::int64_t m) {
  return std::max<std::int64_t>(2048, (1 << 25) / padded(m) / 256 * 256);
}
/// Workspace sizes for one product, or for the largest of several.
struct WorkspaceCapacity {
  std::int64_t left = 0;   ///< bytes of A's residues
  std::int64_t right = 0;  ///< bytes of the residues of a block of B's columns
  std::int64_t sums = 0;   ///< number of sums (ints or bytes): one per modulus and element of a block of C
  std::int64_t exponents = 0;  ///< number of ints: rows of A + columns of B
};
/// Returns the sizes for products m x n x k with at most `moduli` moduli.
constexpr WorkspaceCapacity capacity_for(std::int64_t m, std::int64_t n, std::int64_t k, int moduli) {
  const std::int64_t width = padded(std::min(n, block_width(m)));
  const std::int64_t depth = padded_k(k);
  return {moduli * padded(m) * depth, moduli * width * depth, moduli * width * padded(m), m + n};
}
inline std::size_t bytes_of(const WorkspaceCapacity& capacity) {
  return aligned_workspace_bytes(capacity.left, 1) + aligned_workspace_bytes(capacity.right, 1) +
         aligned_workspace_bytes(capacity.sums, sizeof(int)) +
         aligned_workspace_bytes(capacity.exponents + 2, sizeof(int));
}
/// Returns the number of columns per block of C, at most block_width(m) and n. It is otherwise the largest
/// multiple of 16 whose residues and sums for `count` moduli fit in `capacity`.
constexpr std::int64_t block_columns(const WorkspaceCapacity& capacity, int count, std::int64_t m,
                                     std::int64_t n, std::int64_t k) {
  const std::int64_t fitting = std::min(capacity.right / (count * k), capacity.sums / (count * m)) / 16 * 16;
  return std::min({n, block_width(m), fitting});
}

/// Returns true if a product m x n x k by residues is expected to take less time than the vendor's GEMM. Uses
/// rates measured on an H200, in operations per second and bytes per second.
/// @param moduli number of products of bytes, including one for the pre-pass (residue_numbers.hpp)
inline bool are_faster(double m, double n, double k, int moduli, std::size_t element) {
  constexpr double byte_rate = 1.7e15, limited_by_power = 1.41e15, memory_rate = 3.3e12;
  constexpr double half_rate_k = 970;       // k at which products of bytes reach half of byte_rate
  constexpr double launch_seconds = 80e-6;  // includes the wait for the measurements of the operands
  const double vendor_rate = element == sizeof(float) ? 50e12 : 60e12;
  const auto size = static_cast<double>(element);
  const double operations = 2 * m * n * k;
  const double rate = std::min(limited_by_power, byte_rate / (1 + half_rate_k / k));
  const double moved_bytes = (m * k + k * n) * (3 * size + moduli) + m * n * (2.0 * moduli + 2 * size);
  return moduli * operations / rate + moved_bytes / memory_rate + launch_seconds < operations / vendor_rate;
}

/// Returns true if gemm/residues computes a product by residues, provided that its elements permit it.
inline bool are_used(const Shape& s, const Parameters& parameters, std::size_t element) {
  const std::int64_t least_inner = parameters.integer("least_inner");
  if (least_inner > 0) return s.k >= least_inner;
  if (parameters.integer("moduli") > 0) return true;
  const auto size = [](std::int64_t value) { return static_cast<double>(value); };
  return are_faster(size(s.m), size(s.n), size(s.k), usual_moduli(element) + 1, element);
}

}  // namespace gaussweep::residues
