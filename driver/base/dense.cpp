/// Rounds dense matrices to float, and rejects matrices in which a row or column would underflow.

#include "driver/base/dense.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

/// @param k column-major index of the element @param why follows "element (i, j) is VALUE, " in the message
[[noreturn]] void throw_for_element(const std::string& file, const io::Dense<double>& a, std::size_t k,
                                    const std::string& why) {
  const auto rows = static_cast<std::size_t>(a.rows);
  throw io::InputError(
      fmt::format("{}: element ({}, {}) is {:g}, {}", file, k % rows + 1, k / rows + 1, a.data[k], why));
}

/// Returns true if a row or column holds a number that is normal in float. The row or column has `count`
/// elements at the indices first, first + step, ….
bool has_normal(const io::Dense<double>& a, std::size_t first, std::size_t count, std::size_t step) {
  for (std::size_t k = 0; k < count; ++k) {
    if (std::abs(a.data[first + k * step]) >= std::numeric_limits<float>::min()) return true;
  }
  return false;
}

/// Throws if an element becomes subnormal or 0 by rounding, and its row or column has no number that is
/// normal in float.
void require_normal_lines(const io::Dense<double>& a, const io::Dense<float>& narrow,
                          const std::string& file) {
  const auto rows = static_cast<std::size_t>(a.rows), cols = static_cast<std::size_t>(a.cols);
  std::vector<bool> row_ok(rows), col_ok(cols);  // rows and columns already found to hold a normal number
  for (std::size_t k = 0; k < a.data.size(); ++k) {
    if (static_cast<double>(narrow.data[k]) == a.data[k] ||
        std::abs(a.data[k]) >= std::numeric_limits<float>::min()) {
      continue;
    }
    const std::size_t i = k % rows, j = k / rows;
    const bool row_is_ok = row_ok[i] || has_normal(a, /*first=*/i, cols, /*step=*/rows);
    const bool col_is_ok = col_ok[j] || has_normal(a, /*first=*/j * rows, rows, /*step=*/1);
    if (!row_is_ok || !col_is_ok) {
      throw_for_element(
          file, a, k,
          fmt::format(
              "which becomes {:g} in float, as does all of its {}; use precision: double, or scale the "
              "matrix (float's normal numbers begin at {:g})",
              narrow.data[k], row_is_ok ? "column" : "row", std::numeric_limits<float>::min()));
    }
    row_ok[i] = col_ok[j] = true;
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
    // Under IEEE 754 a value beyond the range of float becomes infinite.
    result.data[k] = static_cast<float>(a.data[k]);
    if (!std::isfinite(result.data[k])) {
      throw_for_element(file, a, k,
                        fmt::format("beyond the range of float (up to {:.8g}); use precision: double",
                                    std::numeric_limits<float>::max()));
    }
  }
  require_normal_lines(a, result, file);
  return result;
}

}  // namespace gaussweep::driver
