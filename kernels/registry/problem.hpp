#pragma once
/// The table of problems (gemm, gesv, getrf, ...): one ProblemRow per problem, defined with the problem's
/// methods in `kernels/<problem>/table.cpp`.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/enums.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/registry/guard_elements.hpp"

namespace gaussweep {

struct Findings;
struct Method;
struct ProblemRow;
template <class T>
class Reductions;

/// A handle to a ProblemRow, which lives as long as the program. Handles are cheap to copy and compare.
class Problem {
 public:
  /// Makes a handle without a problem.
  constexpr Problem() = default;
  constexpr explicit Problem(const ProblemRow& row) : row_(&row) {}
  /// Returns the problem of this name. Use it for names in the source code, and `from_string` for user input.
  /// @throws std::invalid_argument if the program has no such problem
  static Problem named(std::string_view name);

  /// Returns the row. @throws std::logic_error if the handle has no problem
  const ProblemRow& row() const;
  const ProblemRow* operator->() const { return &row(); }
  friend constexpr bool operator==(Problem a, Problem b) { return a.row_ == b.row_; }
  friend constexpr bool operator!=(Problem a, Problem b) { return a.row_ != b.row_; }

 private:
  const ProblemRow* row_ = nullptr;
};

/// The number of rows and of columns of an operand.
struct Extent {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};
inline bool operator==(const Extent& a, const Extent& b) {
  return a.rows == b.rows && a.cols == b.cols;
}
/// Return the extents n x n and n x nrhs. For a batch, the number of columns is multiplied by the batch size.
inline Extent square_extent(const Shape& s) {
  return {s.n, s.n * s.batch};
}
inline Extent columns_extent(const Shape& s) {
  return {s.n, s.nrhs * s.batch};
}

/// The kind of operand B.
enum class SecondOperand {
  none,
  matrix,           ///< an independent matrix: `matrix_b` of the user's plan, else like A with the next seed
  right_hand_sides  ///< nrhs columns, computed as A times a known x
};
/// The elements of a square matrix that the problem uses; `uplo` selects the triangle.
enum class UsedElements {
  all,
  triangle,           ///< one triangle; the other elements are not read and regarded as 0
  mirrored_triangle,  ///< one triangle of a symmetric matrix; the other triangle is its transpose
};
/// The state of the answer if LAPACK's info > 0. In LU a pivot is then 0; in Cholesky it is not positive.
enum class ZeroPivot {
  unfinished,  ///< the method stopped without an answer
  singular     ///< the answer is complete, and the matrix is singular
};

/// A function that verifies an answer: it computes the ratio of the error to its bound and the other findings
/// (kernels/check/check.hpp). @pre shapes are checked, and all elements that the problem uses are finite
template <class T>
using Verifier = Findings (*)(Reductions<T>&, const Method&, const Inputs<T>&, const Answer<T>&,
                              double tolerance);
/// A problem's verifier per precision.
struct Verifiers {
  Verifier<float> float32 = nullptr;
  Verifier<double> float64 = nullptr;
  template <class T>
  Verifier<T> get() const {
    if constexpr (sizeof(T) == 4) {
      return float32;
    } else {
      return float64;
    }
  }
};

/// One row of the table of problems. All code reads a problem's properties here and never tests its name.
struct ProblemRow {
  std::string name;               ///< LAPACK's or PLASMA's name, consisting of a-z, 0-9 and _
  std::string title;              ///< one line: the result and the operands
  std::vector<std::string> axes;  ///< the members of Shape that the problem uses: m, n, k, nrhs or uplo
  std::vector<Need> needs;        ///< properties of A that every method of the problem may rely on
  /// Shapes of A, of the answer, and of B if `second` is not none.
  Extent (*a)(const Shape&) = square_extent;
  Extent (*x)(const Shape&) = square_extent;
  Extent (*b)(const Shape&) = nullptr;
  SecondOperand second = SecondOperand::none;
  UsedElements used_of_a = UsedElements::all;
  UsedElements used_of_x = UsedElements::all;
  bool has_pivots = false;  ///< the answer includes row exchanges
  /// The elements of A that are negated in every second run, so that a stale answer of the previous run is
  /// wrong. The same elements of the answer change sign (getrf: only in the factor without unit diagonal).
  /// `checkered` keeps A positive definite, because it changes A to D A D with D = diag(1, -1, 1, ...).
  Region negated = Region::all;
  /// The elements of B that are negated in the same runs. If this is not `none`, the elements of the answer
  /// in this region change sign, instead of those in `negated`.
  Region negated_of_b = Region::none;
  ZeroPivot zero_pivot = ZeroPivot::unfinished;
  /// The operation count (all terms) of one system, and the number of elements that must be read or written.
  /// Both ignore `batch`.
  double (*flops)(const Shape&) = nullptr;
  double (*elements)(const Shape&) = nullptr;
  Verifiers verifier;    ///< the functions that verify answers
  double tolerance = 0;  ///< the default tolerance of the ratio

  bool has_axis(std::string_view axis) const;
};

/// Returns all problems of this program, in the order of their tables (kernels/tables.hpp).
const std::vector<Problem>& all_problems();

/// Returns the problem's name; "?" if the handle has no problem.
std::string_view to_string(Problem problem);

/// The names of problems. They make `from_string<Problem>` and `allowed_names<Problem>` work as for enums.
template <>
struct EnumNames<Problem> {
  static constexpr std::string_view noun = "problem";
  using Names = std::vector<std::pair<Problem, std::string_view>>;
  struct Table {
    Names::const_iterator begin() const;
    Names::const_iterator end() const;
  };
  static constexpr Table table{};
};

/// Checks the sizes of the problem's axes. The message of an error begins with `caller`.
/// @throws std::invalid_argument if a size or the batch is less than 1
void require_sizes(const ProblemRow& problem, const Shape& shape, const std::string& caller);

/// Returns the problem's usual operation count for all systems of the batch (LAPACK Working Note 41, all
/// terms), e.g. 2/3 n^3 + 2 n^2 nrhs and lower terms for gesv.
double problem_flops(Problem problem, const Shape& shape);
/// Returns the problem's minimum memory traffic in bytes: every operand is read or written once.
/// @param element_bytes bytes per element
double problem_bytes(Problem problem, const Shape& shape, std::size_t element_bytes);

}  // namespace gaussweep
