#pragma once
/// Recomputes the residual ratio of an answer with exact sums and 120 digits, and the status that follows
/// from it. Shares no code with kernels/check and driver/judge, so that it can find their mistakes.
/// docs/judge.md defines the ratios.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "tests/verdicts/exact.hpp"

namespace gaussweep::verdicts {

/// The exact facts about an answer.
struct Truth {
  bool finite = true;  ///< no NaN or Inf among the elements of the answer that the problem uses
  /// getrf: the pivots are row numbers, and info is the first zero pivot. potrf: the diagonal is positive.
  /// Otherwise the answer has no ratio.
  bool defined = true;
  Wide ratio = 0;               ///< valid if finite and defined
  bool infinite_ratio = false;  ///< the residual is not 0 but its scale is
  bool either_side = false;     ///< geinv: rounding decides whether `ratio` is that of I - A X or of I - X A
  Wide by_norms = 0;            ///< the ratio whose scale lacks the term of the smallest normal number
  /// gemm: |C - A B| <= gamma_{k+2} |A| |B| plus possible underflow, for every element.
  bool within_bound = false;
};

template <class T>
Truth recompute(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// Returns every correct status of this answer. There are several if the ratio is within a relative 1e-3 of a
/// limit, or if the answer is wrong for two reasons.
std::vector<std::string> right_statuses(const Method& method, const Truth& truth, double tolerance,
                                        std::int64_t info, Convergence convergence);

/// Compares the exact sums with rational numbers, and the ratios with some computed by hand. @throws
/// std::logic_error with the mistake
void test_recomputation();

}  // namespace gaussweep::verdicts
