#pragma once
/// Recomputes the verified ratios of README and SCHEMA from inputs and answer, in exact sums and 120 digits,
/// and the resulting status. It uses nothing of kernels/check or of the driver's verification.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "tests/verdicts/exact.hpp"

namespace gaussweep::verdicts {

/// The exact facts about an answer.
struct Truth {
  bool finite = true;  ///< no NaN or Inf in the relevant part of the answer
  bool defined =
      /// getrf: the pivots are row numbers, and info is the first zero pivot; potrf: the diagonal is positive
      true;
  Wide ratio = 0;               ///< if finite and defined
  bool infinite_ratio = false;  ///< a nonzero residual over a scale of 0, or an answer without a ratio
  bool either_side = false;     ///< geinv: rounding decides whether `ratio` is that of I - A X or of I - X A
  Wide by_norms = 0;            ///< without the term of the smallest normal number in the scale
  bool within_bound =
      false;  ///< gemm: every |C - A B| is at most gamma_{k+2} |A| |B| plus possible underflow
};

template <class T>
Truth recompute(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// Returns every right status of this answer. There is one, except if the ratio is within 1e-3 of a limit, or
/// if the answer is wrong for two reasons.
std::vector<std::string> right_statuses(const Method& method, const Truth& truth, double tolerance,
                                        std::int64_t info, Convergence convergence);

/// Compares the exact sums with rational numbers, and the ratios with some computed by hand. @throws
/// std::logic_error with the mistake
void test_recomputation();

}  // namespace gaussweep::verdicts
