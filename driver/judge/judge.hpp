#pragma once
/// Decides the status and the message of an answer from its residual ratio (Findings::ratio in
/// kernels/check/check.hpp). No other code of the driver decides the status of an answer.

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
  double ratio = 0;  ///< Findings::ratio
  double tolerance = 0;
  std::int64_t info = 0;  ///< Answer::info of the method
  Convergence convergence = Convergence::none;
  std::string flaw;  ///< Findings::flaw; empty if unknown
};

/// Returns the evidence that a record holds; nothing if this build does not know its problem.
std::optional<Evidence> evidence_of(const io::Record& record);

/// Returns true if `info` says that the method stopped early at a zero pivot or, for Cholesky, a non-positive
/// pivot. Returns false for getrf, because it computes the factors of a singular matrix, too.
bool is_unfinished(Problem problem, std::int64_t info);

/// Returns the name of a pivot at which methods stop: "zero pivot", or "non-positive pivot" for Cholesky.
const char* pivot_name(Problem problem);

/// Returns the status of an answer, by the first rule that applies:
/// - info < 0 (the method rejected its arguments): `error`;
/// - the method did not finish: `failed`, whatever the ratio;
/// - an iterative method reports that it diverged: `diverged`, whatever the ratio;
/// - ratio <= tolerance: `pass`; ratio <= suspect_factor * tolerance: `suspect`;
/// - otherwise, also for NaN and infinity: `failed`.
/// @throws std::invalid_argument if the tolerance is not a positive number
io::Status judge(const Evidence& evidence);

/// Returns the `message` of a judged record: the reason why it does not pass, a note on getrf's zero pivot,
/// or an empty text.
std::string finding_text(const Evidence& evidence);

/// Returns true if the status is a verdict on an answer (pass, suspect, failed, diverged), which another
/// tolerance may change.
bool is_judged(const std::string& status);

/// Returns true if the trial gave no answer: crashed, timeout, oom, error (exit code 3).
bool is_broken(const std::string& status);

/// Returns true if a record did not pass, but has the status that its plan expected.
bool is_finding(const io::Record& record);

/// Returns true if a record did not end as its plan expects. For older records without this information: true
/// if it is neither pass nor skipped.
bool is_unexpected(const io::Record& record);

}  // namespace gaussweep::driver
