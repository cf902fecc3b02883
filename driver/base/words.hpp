#pragma once
/// Figures in words.

#include <string>

namespace gaussweep::driver {

/// "1.23 s", "4.5 ms", "67 us", "8.9 ns".
std::string seconds_text(double seconds);
/// "1.5 GiB"
std::string bytes_text(double bytes);
/// 90 as people write it, "9.0"; empty for 0, which needs none.
std::string capability_text(int capability);
/// A record's parameters, {"blocks":3,"order":"rows"}, as "blocks=3 order=rows"; 1e12 and not
/// 1000000000000.0.
std::string settings_text(const std::string& parameters);
/// "2 h 05 min", "3 min 10 s", "12 s".
std::string duration_words(double seconds);

}  // namespace gaussweep::driver
