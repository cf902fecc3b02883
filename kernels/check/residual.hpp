#pragma once
/// C - L R, multiplied out by the judge itself: the sums do not hang on any BLAS, on the number of threads or
/// on the processor.
///
/// Rows of L and columns of R are divided by powers of two (`Scaled`), so that their elements are at most 1.
/// In double each is split into 24 leading bits, whose products add up exactly over blocks of 32, and a rest;
/// blocks are added in double-double. A sum of k terms is then right to k 2^-71 of its row's times its
/// column's largest element (float: products are exact, sums right to k 2^-48). Where that leaves open what
/// the verdict is, `exact_column` adds the same products without any rounding.

#include <functional>
#include <vector>

#include "kernels/check/operand.hpp"

namespace gaussweep {

/// What C is: element (i, j).
using Target = std::function<double(std::int64_t i, std::int64_t j)>;

enum class Measure { sum, largest, squares };  ///< of the sizes of a column's elements

struct ColumnResidual {
  Scaled value;
  Scaled bound;  ///< how far value may be off, at most
};

/// Measures every column of C - L R. @pre all elements that count are finite
template <class T>
std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target& target,
                                             Measure measure);

/// One column of the same, right to some 2^-50 of itself.
template <class T>
Scaled exact_column(const Factors<T>& factors, const Target& target, Measure measure, std::int64_t j);

/// The largest |C - L R| / (slope |L| |R| + floor) of all elements; `factors` as above.
template <class T>
double largest_share(const Factors<T>& factors, const Target& target, double slope, const Scaled& floor);

}  // namespace gaussweep
