#include "driver/base/rounded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

[[noreturn]] void refuse(const std::string& file, const io::Dense<double>& a, std::size_t k,
                         const std::string& why) {
  const auto rows = static_cast<std::size_t>(a.rows);
  throw io::InputError(
      fmt::format("{}: element ({}, {}) is {:g}, {}", file, k % rows + 1, k / rows + 1, a.data[k], why));
}

/// Whether the line through element `first` (a row or a column: `count` elements, `step` apart) holds a
/// number that float has as a normal one.
bool has_normal(const io::Dense<double>& a, std::size_t first, std::size_t count, std::size_t step) {
  for (std::size_t k = 0; k < count; ++k) {
    if (std::abs(a.data[first + k * step]) >= std::numeric_limits<float>::min()) return true;
  }
  return false;
}

/// Refuses the first line without a normal number, of those through elements that become subnormal or 0.
void require_normal_lines(const io::Dense<double>& a, const io::Dense<float>& narrow,
                          const std::string& file) {
  const auto rows = static_cast<std::size_t>(a.rows), cols = static_cast<std::size_t>(a.cols);
  std::vector<bool> row_seen(rows), col_seen(cols);  // and found to be right
  for (std::size_t k = 0; k < a.data.size(); ++k) {
    if (static_cast<double>(narrow.data[k]) == a.data[k] ||
        std::abs(a.data[k]) >= std::numeric_limits<float>::min()) {
      continue;
    }
    const std::size_t i = k % rows, j = k / rows;
    const bool row_right = row_seen[i] || has_normal(a, i, cols, rows);
    const bool col_right = col_seen[j] || has_normal(a, j * rows, rows, 1);
    if (!row_right || !col_right) {
      refuse(file, a, k,
             fmt::format(
                 "which becomes {:g} in float, as does all of its {}; use precision: double, or scale the "
                 "matrix (float's normal numbers begin at {:g})",
                 narrow.data[k], row_right ? "column" : "row", std::numeric_limits<float>::min()));
    }
    row_seen[i] = col_seen[j] = true;
  }
}

}  // namespace

template <>
io::Dense<double> rounded<double>(io::Dense<double>&& a, const std::string&) {
  return std::move(a);
}

template <>
io::Dense<float> rounded<float>(io::Dense<double>&& a, const std::string& file) {
  io::Dense<float> result{a.rows, a.cols, std::vector<float>(a.data.size())};
  for (std::size_t k = 0; k < a.data.size(); ++k) {
    // A conversion beyond the range would be undefined but for IEEE 754, where it is infinite.
    result.data[k] = static_cast<float>(a.data[k]);
    if (!std::isfinite(result.data[k])) {
      refuse(file, a, k,
             fmt::format("beyond the range of float (up to {:.8g}); take precision: double",
                         std::numeric_limits<float>::max()));
    }
  }
  require_normal_lines(a, result, file);
  return result;
}

}  // namespace gaussweep::driver
