/// Reads numbers, durations, sizes in bytes and ranges, and suggests the nearest name for a misspelt one.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <regex>

#include "io/plan/plan_values.hpp"

namespace gaussweep::io {
namespace {

constexpr std::size_t max_range_values = 1000000;

/// Reads digits with an optional sign and the suffix k (1024); nothing if the text is no such number or
/// overflows.
std::optional<std::int64_t> integer_of(std::string text) {
  std::int64_t factor = 1;
  if (text.size() > 1 && (text.back() == 'k' || text.back() == 'K')) {
    factor = 1024;
    text.pop_back();
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.erase(0, 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value > INT64_MAX / factor || value < INT64_MIN / factor) return std::nullopt;
  return value * factor;
}

/// Returns the Levenshtein distance, computed with one row of the dynamic-programming table.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

void fail_at(const Location& location, const std::string& message) {
  if (location.line < 1) throw InputError(location.file + ": " + message);
  throw InputError(location.file + ":" + std::to_string(location.line) + ":" +
                   std::to_string(location.column) + ": " + message);
}

std::string nearest_hint(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_word = 64;  // a longer word is no misspelt name
  if (word.size() > longest_word) return {};
  std::string nearest;
  // A candidate is near if its edit distance is at most 2 or half of the word's letters. The leading dashes
  // of an option do not count as letters.
  const std::size_t letters = word.size() - std::min(word.size(), word.find_first_not_of('-'));
  std::size_t best_distance = std::max<std::size_t>(2, letters / 2) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      nearest = candidate;
    }
  }
  // Otherwise accepts a candidate that begins with the word.
  constexpr std::size_t shortest_prefix = 3;
  if (nearest.empty() && word.size() >= shortest_prefix) {
    const auto longer = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
      return candidate.compare(0, word.size(), word) == 0;
    });
    if (longer != candidates.end()) nearest = *longer;
  }
  return nearest.empty() ? "" : "nearest: " + nearest + "; ";
}

std::int64_t parse_integer(const Scalar& scalar, std::int64_t low, std::int64_t high,
                           const std::string& what) {
  const std::optional<std::int64_t> value = integer_of(scalar.text);
  if (value && low <= *value && *value <= high) return *value;
  fail_at(scalar.location, what + ": '" + scalar.text + "'; allowed: a whole number from " +
                               std::to_string(low) + " to " + std::to_string(high) + " (1k = 1024)");
}

double parse_real(const Scalar& scalar, double low, double high, const std::string& what) {
  const char* begin = scalar.text.data();
  const char* end = begin + scalar.text.size();
  if (scalar.text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc() && stop == end && std::isfinite(value) && low <= value && value <= high)
    return value;
  fail_at(scalar.location, what + ": '" + scalar.text + "'; allowed: a number from " + number_text(low) +
                               " to " + number_text(high));
}

double parse_duration(const Scalar& scalar, const std::string& what) {
  // A number without a unit means seconds, but only if it is the whole text: in "1h30", 30 could mean
  // minutes.
  static const std::regex plain(R"(\d{1,9}(?:\.\d{1,6})?)");
  static const std::regex pattern(
      R"((?:(\d{1,6}(?:\.\d{1,6})?)h)?(?:(\d{1,6}(?:\.\d{1,6})?)min)?(?:(\d{1,9}(?:\.\d{1,6})?)s)?)"
      R"((?:(\d{1,9}(?:\.\d{1,6})?)ms)?)");
  std::smatch match;
  double seconds = 0;
  const bool readable = scalar.text.size() < 40;
  if (readable && std::regex_match(scalar.text, plain)) {
    seconds = std::strtod(scalar.text.c_str(), nullptr);
  } else if (readable && std::regex_match(scalar.text, match, pattern)) {
    const double units[] = {3600, 60, 1, 1e-3};
    for (std::size_t i = 0; i < 4; ++i) {
      if (match[i + 1].matched) seconds += units[i] * std::strtod(match[i + 1].str().c_str(), nullptr);
    }
  }
  if (seconds > 0) return seconds;
  fail_at(scalar.location, what + ": '" + scalar.text +
                               "'; allowed: a duration above 0 as 90s, 10min, 1h30min, 250ms, or seconds");
}

bool is_duration(const Scalar& scalar) {
  static const std::regex with_unit(R"(\d.*(?:h|min|s))");
  return scalar.text.size() < 40 && std::regex_match(scalar.text, with_unit);
}

double parse_percentage(const Scalar& scalar, const std::string& what) {
  static const std::regex pattern(R"((\d{1,3}(?:\.\d{1,6})?) ?%)");
  std::smatch match;
  if (scalar.text.size() < 40 && std::regex_match(scalar.text, match, pattern)) {
    const double percent = std::strtod(match[1].str().c_str(), nullptr);
    if (percent > 0 && percent <= 100) return percent / 100;
  }
  fail_at(scalar.location,
          what + ": '" + scalar.text + "'; allowed: a percentage above 0% and up to 100%, as 0.5%");
}

double parse_bytes(const Scalar& scalar, const std::string& what) {
  static const std::regex pattern(R"((\d{1,15}(?:\.\d{1,6})?)(KiB|MiB|GiB|TiB)?)");
  if (scalar.text == "none") return std::numeric_limits<double>::infinity();
  std::smatch match;
  if (scalar.text.size() < 40 && std::regex_match(scalar.text, match, pattern)) {
    const std::string unit = match[2];
    const double factor = unit == "KiB"   ? 0x1p10
                          : unit == "MiB" ? 0x1p20
                          : unit == "GiB" ? 0x1p30
                          : unit == "TiB" ? 0x1p40
                                          : 1;
    return factor * std::strtod(match[1].str().c_str(), nullptr);
  }
  fail_at(scalar.location,
          what + ": '" + scalar.text + "'; allowed: 50GiB, 512MiB, 64KiB, 1TiB, a number of bytes, or none");
}

std::vector<Scalar> expand_range(const Scalar& scalar) {
  static const std::regex pattern(
      R"(([+-]?\d{1,18}[kK]?):([+-]?\d{1,18}[kK]?)(?::(\*?)([+-]?\d{1,18}[kK]?))?)");
  static const std::regex range_start_pattern(R"([+-]?\d[^:]*:.*)");
  std::smatch match;
  if (scalar.text.size() > 100 || !std::regex_match(scalar.text, range_start_pattern)) return {scalar};
  if (!std::regex_match(scalar.text, match, pattern)) {
    fail_at(scalar.location,
            "'" + scalar.text +
                "' is no range; allowed: start:stop (1:8, step 1), start:stop:step (500:5500:500) or "
                "start:stop:*factor (64:4096:*2)");
  }
  // The groups of `pattern` are start, stop, "*" for a factor, and the step or factor.
  const auto part = [&](std::size_t i) {
    return parse_integer({match[i], scalar.location}, INT64_MIN, INT64_MAX, "range");
  };
  const std::int64_t start = part(1), stop = part(2), step = match[4].matched ? part(4) : 1;
  const bool geometric = match[3].length() > 0;
  const auto fail_range = [&](const std::string& why) {
    fail_at(scalar.location, "the range '" + scalar.text + "' " + why);
  };
  if (stop < start) fail_range("ends before it starts; allowed: stop >= start");
  if (!geometric && step < 1) fail_range("has no positive step; allowed: a step of at least 1");
  if (geometric && step < 2) fail_range("would not end; allowed: a factor of at least 2");
  if (geometric && start < 1) fail_range("would not end; allowed: a start of at least 1");
  std::vector<Scalar> values;
  for (std::int64_t value = start;;) {
    values.push_back({std::to_string(value), scalar.location});
    if (values.size() > max_range_values)
      fail_range("has more than " + std::to_string(max_range_values) + " values");
    // Unsigned, because the distance between two values may exceed the signed range.
    const std::uint64_t remaining = static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(value);
    if (geometric ? value > stop / step : remaining < static_cast<std::uint64_t>(step)) break;
    value = geometric ? value * step : value + step;
  }
  return values;
}

}  // namespace gaussweep::io
