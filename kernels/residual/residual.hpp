#pragma once
/// C - L R, multiplied out by the judge itself. The sums depend on no BLAS, number of threads or
/// processor.
///
/// Rows of L and columns of R are divided by powers of two (`Scaled`), so that their elements are at most 1.
/// In double each is split into 24 leading bits and a rest. Products of leading bits add up exactly over
/// blocks of 32, and blocks are added in double-double. The error of a sum of k terms is then at most k 2^-73
/// of its row's times its column's largest element. In float products are exact, and the error is k 2^-48.
/// Where that leaves open what the verdict is, `exact_column` adds the same products without any rounding.

#include <limits>
#include <utility>
#include <vector>

#include "kernels/residual/operand.hpp"

namespace gaussweep {

/// What C is: the identity, a matrix, one whose rows were exchanged, or a symmetric one.
template <class T>
struct Target {
  const HostMatrix<T>* matrix = nullptr;             ///< null: the identity
  Part known = Part::all;                            ///< the other triangle mirrors this one
  const std::vector<std::int64_t>* order = nullptr;  ///< row i is row order[i] of the matrix; null: row i

  double operator()(std::int64_t i, std::int64_t j) const {
    if (matrix == nullptr) return i == j ? 1 : 0;
    if ((known == Part::lower && i < j) || (known == Part::upper && i > j)) std::swap(i, j);
    return static_cast<double>((*matrix)(order == nullptr ? i : (*order)[static_cast<std::size_t>(i)], j));
  }
};

struct ColumnResidual {
  Scaled value;
  Scaled bound;  ///< how far value may be off, at most
};

/// Measures every column of C - L R. @pre all elements that count are finite
template <class T>
std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target<T>& target,
                                             Measure measure);

/// One column of the same, right to some 2^-50 of itself.
template <class T>
Scaled exact_column(const Factors<T>& factors, const Target<T>& target, Measure measure, std::int64_t j);

/// |C - L R| in element (i, j), c that of C, likewise exact.
template <class T>
Scaled exact_element(const Factors<T>& factors, double c, std::int64_t i, std::int64_t j);

/// Sets the bounds of all columns. `largest_of_rows`: the largest size in every row of L, `largest_of_cols`
/// in every column of R.
template <class T>
void set_bounds(const Factors<T>& factors, const std::vector<double>& largest_of_rows,
                const std::vector<double>& largest_of_cols, Measure measure,
                std::vector<ColumnResidual>& columns);

/// What an element of C - L R may be: slope |L| |R| + of_target |C| + floor.
struct Allowance {
  double slope = 0;
  Scaled floor;
  double of_target = 0;
  /// An element whose check may be off by this part of what is allowed is added up without rounding, ...
  double negligible = 0x1p-10;
  /// ... in no more terms than this for all such elements together. If more are needed, nothing is known.
  double most_terms = std::numeric_limits<double>::infinity();
};

/// The largest |C - L R| / (what is allowed) of all elements; `factors` as above. NaN beyond `most_terms`.
template <class T>
double largest_share(const Factors<T>& factors, const Target<T>& target, const Allowance& allowance);

}  // namespace gaussweep
