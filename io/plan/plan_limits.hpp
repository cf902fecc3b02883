#pragma once
/// Limits that plans and command line options share.

#include <cstdint>

namespace gaussweep::io {

constexpr std::int64_t max_rounds = 1000;  ///< the maximum number of rounds of a trial

}  // namespace gaussweep::io
