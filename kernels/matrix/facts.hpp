#pragma once
/// What a matrix is: its norms, symmetry, diagonal, shape, whether it is positive definite, how
/// ill-conditioned.

#include <cstdint>
#include <limits>
#include <optional>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// Whether every diagonal element outweighs the other ones of its row (or column) together.
enum class Dominance { none, weak, strict };
template <>
struct EnumNames<Dominance> {
  static constexpr std::string_view what = "dominance";
  static constexpr std::array<std::pair<Dominance, std::string_view>, 3> table{
      {{Dominance::none, "no"}, {Dominance::weak, "weakly"}, {Dominance::strict, "strictly"}}};
};

/// What is seen by looking at every element.
struct MatrixFacts {
  std::int64_t rows = 0, cols = 0;
  std::int64_t nonzeros = 0;
  double largest = 0;                                   ///< max |a_ij|
  double norm_1 = 0, norm_inf = 0, norm_frobenius = 0;  ///< none overflows
  /// What follows is of square matrices.
  bool is_symmetric = false;  ///< exactly
  double asymmetry = 0;       ///< max |a_ij - a_ji| / max |a_ij|
  Dominance by_rows = Dominance::none, by_columns = Dominance::none;
  std::int64_t zero_diagonals = 0;
  std::int64_t first_zero_diagonal = 0;                   ///< its row, from 1; 0: there is none
  std::int64_t lower_bandwidth = 0, upper_bandwidth = 0;  ///< 0 and 0: diagonal

  bool is_square() const { return rows == cols; }
  bool is_triangular() const { return is_square() && (lower_bandwidth == 0 || upper_bandwidth == 0); }
  /// The triangle of a triangular matrix; lower where it is diagonal. @pre is_triangular()
  Uplo triangle() const { return upper_bandwidth == 0 ? Uplo::lower : Uplo::upper; }
};
/// @pre every element is finite
MatrixFacts facts_of(const HostMatrix<double>& a);

/// What a factorisation says.
struct Conditioning {
  /// Whether Cholesky's factorisation succeeds, in double, and A is not singular to working precision; false
  /// where A is not symmetric.
  bool is_definite = false;
  /// LAPACK's estimate of |A|_1 |A^-1|_1; infinite where A is singular to working precision.
  double condition = std::numeric_limits<double>::infinity();
  /// The first pivot (from 1) that is exactly 0; 0: there is none.
  std::int64_t zero_pivot = 0;
};
/// Factors A in its own memory: n^3 / 3 operations where it is positive definite, 2 n^3 / 3 more where not,
/// none where it is triangular. @pre `facts` are of `a`, which is square; its elements are lost
Conditioning conditioning_of(HostMatrix<double>&& a, const MatrixFacts& facts);

}  // namespace gaussweep
