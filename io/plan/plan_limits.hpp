#pragma once
/// Limits of a plan that the command line has too.

#include <cstdint>

namespace gaussweep::io {

constexpr std::int64_t most_rounds = 1000;  ///< of a trial

}  // namespace gaussweep::io
