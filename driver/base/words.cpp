#include "driver/base/words.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/matrix/shortest.hpp"

namespace gaussweep::driver {

std::string seconds_text(double seconds) {
  if (std::isnan(seconds)) return {};
  const double size = std::fabs(seconds);
  // Switch units where the rounded number would show four digits before the point.
  if (size == 0) return "0 s";
  if (size >= 0.9995) return fmt::format("{:.4g} s", seconds);
  if (size >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (size >= 0.9995e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::fabs(bytes) >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string capability_text(int capability) {
  return capability == 0 ? std::string() : fmt::format("{}.{}", capability / 10, capability % 10);
}

std::string settings_text(const std::string& parameters) {
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(parameters, nullptr, false);
  if (!json.is_object()) return parameters;
  std::string text;
  for (const auto& [name, value] : json.items()) {
    const std::string word = value.is_string()         ? value.get<std::string>()
                             : value.is_number_float() ? shortest(value.get<double>())
                                                       : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, word);
  }
  return text;
}

std::string duration_words(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace gaussweep::driver
