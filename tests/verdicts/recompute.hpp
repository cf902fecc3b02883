#pragma once
/// The judged ratios of README and SCHEMA once more, from inputs and answer alone, in exact sums and 120
/// digits. And the status that follows. Nothing of kernels/check or of the driver's judge is used here.

#include <string>
#include <vector>

#include "kernels/registry/method.hpp"
#include "tests/verdicts/exact.hpp"

namespace gaussweep::verdicts {

/// What is true of an answer.
struct Truth {
  bool finite = true;  ///< no NaN or Inf in the part of the answer that counts
  bool defined =
      true;  ///< getrf: the pivots are rows, and info is the first that is 0; potrf: a positive diagonal
  Wide ratio = 0;               ///< where it is finite and defined
  bool infinite_ratio = false;  ///< a residual over a scale of 0, or an answer without a ratio
  bool either_side = false;     ///< geinv: rounding decides whether `ratio` is that of I - A X or of I - X A
  Wide by_norms = 0;            ///< without what the smallest normal number adds to the scale
  bool within_bound =
      false;  ///< gemm: every |C - A B| is at most gamma_{k+2} |A| |B| plus what underflow may do
};

template <class T>
Truth recompute(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer);

/// Every status that is right for this answer. It is one, but where the ratio lies within 1e-3 of a limit, or
/// where an answer is wrong for two reasons at once.
std::vector<std::string> right_statuses(const Method& method, const Truth& truth, double tolerance,
                                        std::int64_t info, Convergence convergence);

/// Holds the exact sums against rational numbers, and the ratios against some that are worked out by hand.
/// @throws std::logic_error with what is wrong
void test_recomputation();

}  // namespace gaussweep::verdicts
