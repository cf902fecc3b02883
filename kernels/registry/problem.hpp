#pragma once
/// Problems as data: one ProblemRow per problem, defined in `kernels/<problem>/table.cpp` with its methods.

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

/// A handle of a problem's row, which lives as long as the program. It is copied and compared like a number.
class Problem {
 public:
  /// Makes a handle without a problem.
  constexpr Problem() = default;
  constexpr explicit Problem(const ProblemRow& row) : row_(&row) {}
  /// Returns the problem of that name. Use it for names in the source, and `from_string` for names from
  /// users.
  /// @throws std::logic_error if the program has no such problem
  static Problem named(std::string_view name);

  /// Returns the row. @throws std::logic_error if the handle has no problem
  const ProblemRow& row() const;
  const ProblemRow* operator->() const { return &row(); }
  friend constexpr bool operator==(Problem a, Problem b) { return a.row_ == b.row_; }
  friend constexpr bool operator!=(Problem a, Problem b) { return a.row_ != b.row_; }

 private:
  const ProblemRow* row_ = nullptr;
};

/// The rows and columns of an operand.
struct Extent {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};
inline bool operator==(const Extent& a, const Extent& b) {
  return a.rows == b.rows && a.cols == b.cols;
}
/// Return n x n and n x nrhs; the matrices of a batch are stored side by side.
inline Extent square_extent(const Shape& s) {
  return {s.n, s.n * s.batch};
}
inline Extent columns_extent(const Shape& s) {
  return {s.n, s.nrhs * s.batch};
}

/// The kind of operand B and its origin.
enum class SecondOperand {
  none,
  matrix,           ///< an independent matrix: the plan's `matrix_b`, else A's kind with the next seed
  right_hand_sides  ///< nrhs columns, computed as A times a known x
};
/// The elements of a square matrix that count, i.e. that the problem uses; `uplo` selects the triangle.
enum class UsedElements {
  all,
  triangle,           ///< one triangle; the other elements are taken as 0 and not read
  mirrored_triangle,  ///< one triangle of a symmetric matrix; the other triangle is its transpose
};
/// The state of the answer if LAPACK's info > 0, which reports a pivot that is zero or not positive.
enum class ZeroPivot {
  unfinished,  ///< there is no answer: the method stopped
  singular     ///< the answer is right, and the matrix is singular
};

/// A function that computes an answer's ratio and the other findings (kernels/check/check.hpp).
/// @pre shapes are checked, and all elements that the problem uses are finite
template <class T>
using Judge = Findings (*)(Reductions<T>&, const Method&, const Inputs<T>&, const Answer<T>&,
                           double tolerance);
/// A problem's judge per precision.
struct Judges {
  Judge<float> float32 = nullptr;
  Judge<double> float64 = nullptr;
  template <class T>
  Judge<T> get() const {
    if constexpr (sizeof(T) == 4) {
      return float32;
    } else {
      return float64;
    }
  }
};

/// One row of the table of problems. All code reads a problem's properties here and never tests its name.
struct ProblemRow {
  std::string name;               ///< LAPACK's or PLASMA's name, of a-z, 0-9 and _
  std::string title;              ///< one line: the result and the operands
  std::vector<std::string> axes;  ///< the axes that a plan may give, of m, n, k, nrhs, uplo
  std::vector<Need> needs;        ///< properties of A that every method of the problem may rely on
  /// Shapes of A, of the answer, and of B if `second` is not none.
  Extent (*a)(const Shape&) = square_extent;
  Extent (*x)(const Shape&) = square_extent;
  Extent (*b)(const Shape&) = nullptr;
  SecondOperand second = SecondOperand::none;
  UsedElements used_of_a = UsedElements::all;
  UsedElements used_of_x = UsedElements::all;
  bool has_pivots = false;  ///< the answer contains the row exchanges
  /// The elements of A that are negated in every second run, so that an answer left over from the run before
  /// is wrong. The same elements of the answer change sign (getrf: of the factor with the pivots).
  /// `checkered` keeps A positive definite.
  Region negated = Region::all;
  /// The elements of B that are negated in these runs if `negated` is not `all`; the same elements of the
  /// answer change sign.
  Region negated_of_b = Region::none;
  ZeroPivot zero_pivot = ZeroPivot::unfinished;
  /// Operation count (all terms) and least traffic (every operand read or written once) of one system,
  /// independent of the batch.
  double (*flops)(const Shape&) = nullptr;
  double (*elements)(const Shape&) = nullptr;
  Judges judge;
  double tolerance = 0;  ///< the default tolerance of the ratio

  bool has_axis(std::string_view axis) const;
};

/// Returns all problems of this program, in the order of their tables (kernels/tables.hpp).
const std::vector<Problem>& all_problems();

/// Returns the problem's name; "?" if the handle has no problem.
std::string_view to_string(Problem problem);

/// The names of problems, used like those of an enum: `from_string<Problem>`, `allowed_names<Problem>`.
template <>
struct EnumNames<Problem> {
  static constexpr std::string_view what = "problem";
  using Names = std::vector<std::pair<Problem, std::string_view>>;
  struct Table {
    Names::const_iterator begin() const;
    Names::const_iterator end() const;
  };
  static constexpr Table table{};
};

/// Checks the sizes of the problem's axes. `who` begins the message.
/// @throws std::invalid_argument if a size or the batch is less than 1
void require_sizes(const ProblemRow& problem, const Shape& shape, const std::string& who);

/// Returns the problem's usual operation count for all systems of the batch (LAPACK Working Note 41, all
/// terms), e.g. 2/3 n^3 + 2 n^2 nrhs and lower terms for gesv.
double problem_flops(Problem problem, const Shape& shape);
/// Returns the problem's least traffic in bytes: every operand is read or written once.
double problem_bytes(Problem problem, const Shape& shape, std::size_t element);

}  // namespace gaussweep
