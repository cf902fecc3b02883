#pragma once
/// From a residual's ratio to a status, and what is said of it: the only place in the driver that decides it.

#include <cstdint>
#include <optional>
#include <string>

#include "io/records/record.hpp"
#include "io/records/status.hpp"
#include "kernels/check/check.hpp"

namespace gaussweep::driver {

/// What a verdict hangs on.
struct Evidence {
  Problem problem;
  double ratio = 0;  ///< Findings::ratio
  double tolerance = 0;
  std::int64_t info = 0;  ///< of the method: Answer::info
  Convergence convergence = Convergence::none;
  std::string flaw;  ///< Findings::flaw; empty where it is not known any more
};

/// The evidence that a record holds; nothing where this build does not know its problem.
std::optional<Evidence> evidence_of(const io::Record& record);

/// Whether the method says that it did not finish: it met a zero pivot or, for Cholesky, one that is not
/// positive. Not so for getrf, whose factors exist.
bool is_unfinished(Problem problem, std::int64_t info);

/// What such a method met: "zero pivot", of Cholesky "non-positive pivot".
const char* pivot_words(Problem problem);

/// Judges an answer, the first that holds:
/// - info < 0 (the method says that its arguments were wrong): `error`;
/// - the method did not finish: `failed`, whatever the ratio;
/// - an iterative method that says it diverged: `diverged`, whatever the ratio;
/// - ratio <= tolerance: `pass`; ratio <= suspect_factor * tolerance: `suspect`;
/// - beyond, NaN and infinity: `failed`.
/// @throws std::invalid_argument where the tolerance is not a positive number
io::Status judge(const Evidence& evidence);

/// The `message` of a judged record: why it is no pass, or which pivot of a getrf that passes is 0; else
/// empty.
std::string finding_words(const Evidence& evidence);

/// Whether a status came from judging an answer, so that another tolerance may change it.
bool is_judged(const std::string& status);

/// Whether no answer came to be: crashed, timeout, oom, error (exit code 3).
bool is_broken(const std::string& status);

/// Whether a record is a finding about its method: no pass, but what its plan expected.
bool is_finding(const io::Record& record);

/// Whether a record did not end as its plan expects. Where an older one does not say what was expected:
/// whether it is neither pass nor skipped.
bool is_unexpected(const io::Record& record);

}  // namespace gaussweep::driver
