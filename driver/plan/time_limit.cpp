/// Reads the option --time-limit.

#include "driver/plan/time_limit.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <regex>

#include "driver/base/errors.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

double parse_time_limit(const std::string& text) {
  static const std::regex slurm(R"((?:(\d{1,4})-)?(\d{1,4}):(\d{1,2})(?::(\d{1,2}))?)");
  std::smatch match;
  if (std::regex_match(text, match, slurm)) {
    const auto part = [&](std::size_t i) {
      return match[i].matched ? std::atof(match[i].str().c_str()) : 0.0;
    };
    // Slurm: "minutes:seconds", "hours:minutes:seconds", "days-hours:minutes[:seconds]"
    const bool has_days = match[1].matched, has_three_parts = match[4].matched;
    if (has_days) return part(1) * 86400 + part(2) * 3600 + part(3) * 60 + part(4);
    return has_three_parts ? part(2) * 3600 + part(3) * 60 + part(4) : part(2) * 60 + part(3);
  }
  try {
    return io::parse_duration({text, {"--time-limit", 1, 1}}, "the time limit");
  } catch (const io::InputError&) {
    throw UsageError(
        fmt::format("--time-limit {}: give seconds (90), a duration (90s, 10min, 1h30min) or Slurm's form "
                    "(HH:MM:SS, D-HH:MM:SS)",
                    text));
  }
}

}  // namespace gaussweep::driver
