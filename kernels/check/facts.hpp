#pragma once
/// Computes properties of a matrix: norms, symmetry, diagonal, shape, definiteness, conditioning.

#include <cstdint>
#include <limits>
#include <optional>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"

namespace gaussweep {

constexpr double roundoff_of(Precision precision) {
  return precision == Precision::float32 ? 0x1p-24 : 0x1p-53;
}

/// Diagonal dominance by rows or columns: the comparison of every diagonal element with the sum of the
/// magnitudes of the other elements.
enum class Dominance { none, weak, strict };
template <>
struct EnumNames<Dominance> {
  static constexpr std::string_view noun = "dominance";
  static constexpr std::array<std::pair<Dominance, std::string_view>, 3> table{
      {{Dominance::none, "no"}, {Dominance::weak, "weakly"}, {Dominance::strict, "strictly"}}};
};

/// Properties that follow from the elements.
struct MatrixFacts {
  std::int64_t rows = 0, cols = 0;
  std::int64_t nonzeros = 0;
  double largest = 0;                                   ///< max |a_ij|
  double norm_1 = 0, norm_inf = 0, norm_frobenius = 0;  ///< computed without overflow
  // The remaining members are set for square matrices only.
  bool is_symmetric = false;  ///< see gaussweep::is_symmetric
  double asymmetry = 0;       ///< max |a_ij - a_ji| / max |a_ij|
  Dominance by_rows = Dominance::none, by_columns = Dominance::none;
  std::int64_t zero_diagonals = 0;
  std::int64_t first_zero_diagonal = 0;  ///< row of the first zero on the diagonal, from 1; 0: none
  std::int64_t lower_bandwidth = 0, upper_bandwidth = 0;  ///< 0 and 0: diagonal

  bool is_square() const { return rows == cols; }
  bool is_triangular() const { return is_square() && (lower_bandwidth == 0 || upper_bandwidth == 0); }
  bool is_triangular(Uplo uplo) const {
    return is_square() && (uplo == Uplo::lower ? upper_bandwidth : lower_bandwidth) == 0;
  }
  /// Returns the triangle of a triangular matrix; lower if it is diagonal. @pre is_triangular()
  Uplo triangle() const { return upper_bandwidth == 0 ? Uplo::lower : Uplo::upper; }
};
/// Computes the properties.
/// @param roundoff u of the precision in which the matrix will be used
/// @pre every element is finite
MatrixFacts facts_of(const HostMatrix<double>& a, double roundoff = roundoff_of(Precision::float64));

/// Returns true if every |a_ij - a_ji| is at most n u max |a_ij|. Methods read one triangle and assume that
/// the other triangle is its mirror image. Asymmetry up to this limit changes the ratio of an answer (its
/// backward error in units of n u) by at most about 1.
template <class T>
bool is_symmetric(const MatrixView<const T>& a, double roundoff = roundoff_of(precision_of<T>));

/// Returns true if every element outside of the triangle is 0.
template <class T>
bool is_triangular(const MatrixView<const T>& a, Uplo uplo);

/// Properties that follow from a factorisation.
struct Conditioning {
  /// True if A is symmetric, its Cholesky factorisation succeeds in double, and no pivot is exactly 0. The
  /// last pivots may be rounding errors if A is singular to working precision.
  bool is_definite = false;
  /// LAPACK's estimate of |A|_1 |A^-1|_1; infinite if A is singular to working precision.
  double condition = std::numeric_limits<double>::infinity();
  /// The first pivot (from 1) that is exactly 0; 0: none.
  std::int64_t zero_pivot = 0;
};
/// Returns the limit 1 / (8 n u) of the condition number of a matrix of order n. Above it, rounding errors
/// may decide whether the Cholesky factorisation in double succeeds.
inline double max_decided_condition(std::int64_t n) {
  return 1 / (8 * static_cast<double>(n) * roundoff_of(Precision::float64));
}
/// Estimates the conditioning of A by factoring it in place, which overwrites `a`. The Cholesky
/// factorisation, which is tried first if A is symmetric with a positive diagonal, takes n^3 / 3 operations.
/// If it fails or its result is not certain, LU takes 2 n^3 / 3 more, but a triangular A needs no LU.
/// @pre `facts` are the properties of `a`, which is square
Conditioning conditioning_of(HostMatrix<double>&& a, const MatrixFacts& facts);

}  // namespace gaussweep
