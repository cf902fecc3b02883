/// Decides the status and the message of an answer from its residual ratio.

#include "driver/judge/judge.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <stdexcept>

namespace gaussweep::driver {

std::optional<Evidence> evidence_of(const io::Record& record) {
  const auto problem = from_string<Problem>(record.problem);
  if (!problem) return std::nullopt;
  Evidence evidence;
  evidence.problem = *problem;
  evidence.ratio = record.residual_ratio;
  evidence.tolerance = record.tolerance;
  evidence.info = record.info;
  evidence.convergence = from_string<Convergence>(record.convergence).value_or(Convergence::none);
  return evidence;
}

bool is_unfinished(Problem problem, std::int64_t info) {
  return info > 0 && problem->zero_pivot == ZeroPivot::unfinished;
}

const char* pivot_name(Problem problem) {
  const bool is_definite = std::count(problem->needs.begin(), problem->needs.end(), Need::spd) > 0;
  return is_definite ? "non-positive pivot" : "zero pivot";
}

io::Status judge(const Evidence& evidence) {
  if (!(evidence.tolerance > 0) || std::isinf(evidence.tolerance)) {
    throw std::invalid_argument("the tolerance is " + std::to_string(evidence.tolerance) +
                                "; a tolerance is a positive number");
  }
  if (evidence.info < 0) return io::Status::error;
  if (is_unfinished(evidence.problem, evidence.info)) return io::Status::failed;
  if (evidence.convergence == Convergence::diverged) return io::Status::diverged;
  if (evidence.ratio <= evidence.tolerance) return io::Status::pass;
  // NaN fails every comparison and so ends as failed.
  if (std::isfinite(evidence.ratio) && evidence.ratio <= suspect_factor * evidence.tolerance)
    return io::Status::suspect;
  return io::Status::failed;
}

double infinite_if_overflowed(double ratio) {
  return ratio >= std::numeric_limits<double>::max() ? HUGE_VAL : ratio;
}

std::string finding_text(const Evidence& evidence) {
  if (evidence.info < 0) return fmt::format("the method gave up (info {})", evidence.info);
  if (judge(evidence) == io::Status::pass) {
    if (evidence.info == 0) return {};
    return fmt::format("zero pivot {}: the factors exist, the matrix is singular", evidence.info);
  }
  std::string text;
  if (is_unfinished(evidence.problem, evidence.info)) {
    text = fmt::format("{} {}: the method did not finish; ", pivot_name(evidence.problem), evidence.info);
  } else if (evidence.info > 0) {
    text = fmt::format("zero pivot {}; ", evidence.info);
  }
  if (evidence.convergence == Convergence::diverged) text += "the iteration diverged; ";
  if (!evidence.flaw.empty()) return text + evidence.flaw;
  if (!std::isfinite(evidence.ratio)) return text + "the answer or its operands hold NaN or Inf";
  return text + fmt::format("residual ratio {:.3g}, tolerance {:g}", infinite_if_overflowed(evidence.ratio),
                            evidence.tolerance);
}

bool is_judged(const std::string& status) {
  return status == io::Status::pass || status == io::Status::suspect || status == io::Status::failed ||
         status == io::Status::diverged;
}

bool is_broken(const std::string& status) {
  return status == io::Status::crashed || status == io::Status::timeout || status == io::Status::oom ||
         status == io::Status::error;
}

bool is_expected_failure(const io::Record& record) {
  return record.expected == 1 && record.status != io::Status::pass && record.status != io::Status::skipped;
}

bool is_unexpected(const io::Record& record) {
  if (record.expected < 0) return record.status != io::Status::pass && record.status != io::Status::skipped;
  return record.expected == 0;
}

}  // namespace gaussweep::driver
