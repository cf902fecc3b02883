#include "driver/judge.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace gaussweep::driver {

std::string judge(double ratio, double tolerance, std::int64_t info, Convergence convergence) {
  if (!(tolerance > 0) || std::isinf(tolerance)) {
    throw std::invalid_argument("the tolerance is " + std::to_string(tolerance) +
                                "; a tolerance is a positive number");
  }
  if (info < 0) return "error";
  if (ratio <= tolerance) return "pass";
  if (convergence == Convergence::diverged) return "diverged";
  // Written so that NaN, for which every comparison is false, falls through to failed.
  if (std::isfinite(ratio) && ratio <= suspect_factor * tolerance) return "suspect";
  return "failed";
}

std::string finding_words(const io::Record& record) {
  if (record.status == "pass") return {};
  if (record.info < 0) return fmt::format("the method gave up (info {})", record.info);
  const std::string pivot =
      record.info > 0 ? fmt::format("zero or non-positive pivot {}; ", record.info) : std::string();
  if (!std::isfinite(record.residual_ratio)) return pivot + "the answer holds NaN or Inf";
  return pivot +
         fmt::format("residual ratio {:.3g}, tolerance {:g}", record.residual_ratio, record.tolerance);
}

bool is_judged(const std::string& status) {
  return status == "pass" || status == "suspect" || status == "failed" || status == "diverged";
}

bool is_broken(const std::string& status) {
  return status == "crashed" || status == "timeout" || status == "oom" || status == "error";
}

}  // namespace gaussweep::driver
