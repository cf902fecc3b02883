#pragma once
/// Decides the status (pass, suspect, failed, ...) and the message of an answer from its residual ratio. The
/// ratio is the residual divided by a bound of the expected rounding errors. One such bound is n u ||A||
/// ||x||, with the order n and the unit roundoff u. kernels/check/check.hpp defines the ratio of each
/// problem. No other code of the driver decides a status.

#include <cstdint>
#include <optional>
#include <string>

#include "io/records/record.hpp"
#include "io/records/status.hpp"
#include "kernels/check/check.hpp"

namespace gaussweep::driver {

/// Everything that a verdict depends on.
struct Evidence {
  Problem problem;
  double ratio = 0;       ///< the residual ratio
  double tolerance = 0;   ///< the largest ratio that passes
  std::int64_t info = 0;  ///< LAPACK's info as the method reports it
  Convergence convergence = Convergence::none;
  /// The reason why no ratio could be computed; empty if there is a ratio, or if the reason is unknown.
  std::string flaw;
};

/// Returns the evidence in a trial's record, without `flaw`. Returns nothing if this build does not know the
/// record's problem.
std::optional<Evidence> evidence_of(const io::Record& record);

/// Returns true if `info` reports that the method stopped early at a zero pivot or, for Cholesky, at a
/// non-positive pivot. Returns false for getrf, because getrf also computes the factors of a singular matrix.
bool is_unfinished(Problem problem, std::int64_t info);

/// Returns the name of a pivot at which methods stop: "zero pivot", or "non-positive pivot" for Cholesky.
const char* pivot_name(Problem problem);

/// Returns the status of an answer, by the first rule that applies:
/// - info < 0 (the method rejected its arguments): `error`;
/// - the method did not finish: `failed`, whatever the ratio;
/// - an iterative method reports that it diverged: `diverged`, whatever the ratio;
/// - ratio <= tolerance: `pass`; ratio <= suspect_factor (10) * tolerance: `suspect`;
/// - otherwise, also for NaN and infinity: `failed`.
/// @throws std::invalid_argument if the tolerance is not a positive number
io::Status judge(const Evidence& evidence);

/// Returns the ratio for texts: infinity if it overflowed, which is recorded as the largest double.
double infinite_if_overflowed(double ratio);

/// Returns the message for an answer's record: the reason why the answer does not pass, a note on getrf's
/// zero pivot, or an empty text.
std::string finding_text(const Evidence& evidence);

/// Returns true if the status is a verdict on an answer (pass, suspect, failed, diverged), which another
/// tolerance may change.
bool is_judged(const std::string& status);

/// Returns true if the trial gave no answer: crashed, timeout, oom, error (exit code 3).
bool is_broken(const std::string& status);

/// Returns true if a record has a failure that its plan expects, i.e. the expected status, but not `pass`.
bool is_expected_failure(const io::Record& record);

/// Returns true if a trial did not end as its plan expects. A record of an older version has no expected
/// status; then returns true if the trial neither passed nor was skipped.
bool is_unexpected(const io::Record& record);

}  // namespace gaussweep::driver
