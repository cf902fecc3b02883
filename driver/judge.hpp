#pragma once
/// From a residual's ratio to a status, and what is said of it: the only place in the driver that decides it.

#include <cstdint>
#include <string>

#include "io/record.hpp"
#include "kernels/core/enums.hpp"

namespace gaussweep::driver {

/// Up to this many tolerances a ratio is `suspect`, beyond it `failed`.
inline constexpr double suspect_factor = 10;

/// Judges an answer:
/// - info < 0 (the method says that its arguments were wrong): `error`;
/// - ratio <= tolerance: `pass`, whatever the method thinks of its own convergence;
/// - an iterative method that says it diverged: `diverged`;
/// - ratio <= suspect_factor * tolerance: `suspect`; beyond, NaN and infinity: `failed`.
/// info > 0 (a zero pivot) decides nothing by itself: LAPACK's getrf factors singular matrices correctly.
/// @throws std::invalid_argument where the tolerance is not a positive number
std::string judge(double ratio, double tolerance, std::int64_t info,
                  Convergence convergence = Convergence::none);

/// Why a judged record is no pass, in words for its `message`; empty where it is one.
std::string finding_words(const io::Record& record);

/// Whether a status came from judging an answer, so that another tolerance may change it.
bool is_judged(const std::string& status);

/// Whether no answer came to be: crashed, timeout, oom, error (exit code 3).
bool is_broken(const std::string& status);

}  // namespace gaussweep::driver
