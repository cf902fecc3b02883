#pragma once
/// A problem as data: a row, which stands beside the table of its methods in `kernels/<problem>/table.cpp`.

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

/// A problem: a handle of its row, which lives as long as the program. Copied and compared like a number.
class Problem {
 public:
  /// None: a place that is still to be filled.
  constexpr Problem() = default;
  constexpr explicit Problem(const ProblemRow& row) : row_(&row) {}
  /// The problem of a name. @throws std::logic_error where this program has none of that name: for names that
  /// stand in the source; what a user wrote goes through `from_string`
  static Problem named(std::string_view name);

  /// @pre it is one (else std::logic_error)
  const ProblemRow& row() const;
  const ProblemRow* operator->() const { return &row(); }
  friend constexpr bool operator==(Problem a, Problem b) { return a.row_ == b.row_; }
  friend constexpr bool operator!=(Problem a, Problem b) { return a.row_ != b.row_; }

 private:
  const ProblemRow* row_ = nullptr;
};

/// Rows and columns of an operand.
struct Extent {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};
inline bool operator==(const Extent& a, const Extent& b) {
  return a.rows == b.rows && a.cols == b.cols;
}
/// n x n, n x nrhs; the matrices of a batch side by side.
inline Extent square_extent(const Shape& s) {
  return {s.n, s.n * s.batch};
}
inline Extent columns_extent(const Shape& s) {
  return {s.n, s.nrhs * s.batch};
}

/// What B is, and how it is made.
enum class SecondOperand {
  none,
  matrix,           ///< a matrix of its own: a plan's `matrix_b`, else A's kind with the next seed
  right_hand_sides  ///< A times a known x, of nrhs columns
};
/// Which elements of a square matrix count: `uplo` says which triangle.
enum class Counts {
  all,
  triangle,           ///< outside of it are zeros, whatever is stored
  mirrored_triangle,  ///< the other triangle mirrors it
};
/// What LAPACK's info > 0, a pivot that is zero or not positive, says of the answer.
enum class ZeroPivot {
  unfinished,  ///< there is none: the method stopped
  singular     ///< it is right, and the matrix is singular
};

/// Judges an answer: the ratio and what is recorded beside it (kernels/check/check.hpp). Shapes have been
/// checked; all that counts is finite.
template <class T>
using Judge = Findings (*)(Reductions<T>&, const Method&, const Inputs<T>&, const Answer<T>&,
                           double tolerance);
/// A judge in both precisions.
struct Judges {
  Judge<float> single = nullptr;
  Judge<double> real = nullptr;  // "double" is a keyword
  template <class T>
  Judge<T> get() const {
    if constexpr (sizeof(T) == 4) {
      return single;
    } else {
      return real;
    }
  }
};

/// One row of the list of problems. Everything that a problem decides is here: no other code asks for names.
struct ProblemRow {
  std::string name;               ///< LAPACK's or PLASMA's, of a-z, 0-9 and _
  std::string title;              ///< what is computed from what, one line
  std::vector<std::string> axes;  ///< of m, n, k, nrhs, uplo: those that a plan may give
  std::vector<Need> needs;        ///< what every method may ask of A
  /// Shapes of A, of the answer, and of B where `second` is not none.
  Extent (*a)(const Shape&) = square_extent;
  Extent (*x)(const Shape&) = square_extent;
  Extent (*b)(const Shape&) = nullptr;
  SecondOperand second = SecondOperand::none;
  Counts counts_of_a = Counts::all;
  Counts counts_of_x = Counts::all;
  bool has_pivots = false;  ///< the answer says which rows were exchanged
  /// Elements of A with another sign in every second run, and those of the answer then. For getrf they are
  /// those of the factor that holds the pivots. `checkered` leaves A positive definite.
  Region negated = Region::all;
  /// Elements of B, and then of the answer, with another sign in these runs, where those of A are not all.
  Region negated_of_b = Region::none;
  ZeroPivot zero_pivot = ZeroPivot::unfinished;
  /// Of one system, whatever the batch: the usual operation count, all terms, and the least traffic, every
  /// operand read or written once.
  double (*flops)(const Shape&) = nullptr;
  double (*elements)(const Shape&) = nullptr;
  Judges judge;
  double tolerance = 0;  ///< of the judged ratio, where a plan gives none

  bool has_axis(std::string_view axis) const;
};

/// All problems that this program knows, in the order of their tables (kernels/tables.hpp).
const std::vector<Problem>& all_problems();

/// The name; "?" of none.
std::string_view to_string(Problem problem);

/// The words of problems, as those of an enum: `from_string<Problem>`, `allowed_names<Problem>`.
template <>
struct EnumNames<Problem> {
  static constexpr std::string_view what = "problem";
  using Words = std::vector<std::pair<Problem, std::string_view>>;
  struct Table {
    Words::const_iterator begin() const;
    Words::const_iterator end() const;
  };
  static constexpr Table table{};
};

/// @throws std::invalid_argument, which `who` begins, where a size that the problem has is less than 1
void require_sizes(const ProblemRow& problem, const Shape& shape, const std::string& who);

/// The usual operation count of a problem (LAPACK Working Note 41, all terms), e.g. 2/3 n^3 + 2 n^2 nrhs and
/// lower terms for gesv.
double problem_flops(Problem problem, const Shape& shape);
/// Every operand read or written once, in bytes: the least traffic of a problem.
double problem_bytes(Problem problem, const Shape& shape, std::size_t element);

}  // namespace gaussweep
