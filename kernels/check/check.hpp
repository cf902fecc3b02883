#pragma once
/// Right or wrong, in one place: the judged ratio of each problem and what is recorded beside it.
/// u is the unit roundoff of T (2^-24 or 2^-53); residuals are accumulated in double (float) or long double
/// (double), matrix products of getrf, potrf, trtri, geinv, poinv and gemm in double.

#include <string>

#include "kernels/core/method.hpp"

namespace gaussweep {

/// What verification finds. NaN where it does not apply or is unknown.
struct Findings {
  double ratio;              ///< judged against the tolerance (design: HPL ratio for gesv and trsv, …)
  double backward_error;     ///< the same quotient without n u
  double forward_error;      ///< max |x - x_true| / max |x_true|
  double pivot_growth;       ///< getrf, potrf: max |U| / max |A|
  double first_row_percent;  ///< gesv: 100 |b_0 - sum a_0j x_j| / |b_0|, Fuhrmann's check meant as a relative
                             ///< deviation
  std::string flaw;          ///< why there is nothing to judge, in words (ratio = infinity); else empty
};

/// Judges an answer. NaN or Inf anywhere in the answer gives ratio = infinity.
/// @pre shapes of inputs and answer agree with the problem (else std::invalid_argument)
template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// max |x - reference| / max |reference| over the whole answer, the part that counts (potrf, trtri: one
/// triangle). For getrf: NaN where the two exchanged rows differently.
template <class T>
double difference(Problem problem, const Shape& shape, const Answer<T>& answer, const Answer<T>& reference);

/// Default tolerance of a problem's ratio.
double default_tolerance(Problem problem);

}  // namespace gaussweep
