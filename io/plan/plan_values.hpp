#pragma once
/// The values of a plan with their locations, and functions that read numbers from them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/files/errors.hpp"

namespace gaussweep::io {

/// The maximum order or number of columns in a plan.
constexpr std::int64_t max_size = 1'000'000;
/// The maximum number of repeats, of warm-up runs and of runs per sample.
constexpr std::int64_t max_count = 1'000'000;

/// The location of a value in a plan; lines and columns count from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// Throws InputError "file:line:column: message".
[[noreturn]] void fail_at(const Location& location, const std::string& message);
/// Returns "nearest: …; " with the candidate nearest to `word` by edit distance, or "" if none is near.
std::string nearest_hint(const std::string& word, const std::vector<std::string>& candidates);

/// A scalar as text with its location.
struct Scalar {
  std::string text;
  Location location;
};

/// The values of an axis, i.e. of a size, property or parameter that a plan varies. A scalar is a list of
/// one; ranges (start:stop:step, start:stop:*f) and numbers such as 1k are expanded if the axis is numeric.
struct Axis {
  std::vector<Scalar> values;
  /// Only for `n`, `m`, `k` given as a mapping; `values` is then empty. The keys are backends ("cuda",
  /// "emulated", "host") or parts of a GPU model's name ("H200").
  std::map<std::string, std::vector<Scalar>> by_backend;
  Location location;
};

/// A `matrix:` block of a plan: its scalars by key (kind, low, high, seed, condition, mode, value, file,
/// dataset, store, …).
struct MatrixBlock {
  std::map<std::string, Scalar> values;
  Location location;
};

/// An entry of `exclude:`.
struct Exclude {
  /// Conditions (a value, ">4096" or "<=64") by the name of an axis, a parameter or "method". A name with
  /// several conditions matches if one of them holds.
  std::map<std::string, std::vector<Scalar>> conditions;
  Location location;
};

/// Read numbers of a plan: "1k" = 1024, "64"; durations "90s", "10min", "1h30min", "250ms", plain seconds.
/// @param what the name of the value, for the error message
/// @throws InputError with the scalar's location
std::int64_t parse_integer(const Scalar& scalar, std::int64_t low, std::int64_t high,
                           const std::string& what);
double parse_real(const Scalar& scalar, double low, double high, const std::string& what);
double parse_duration(const Scalar& scalar, const std::string& what);
/// Returns true if the text has a unit of time ("2s", "500ms").
bool is_duration(const Scalar& scalar);
/// Reads a percentage above 0% and up to 100% as a fraction: "1%" is 0.01.
double parse_percentage(const Scalar& scalar, const std::string& what);
/// Reads bytes: "50GiB", "512MiB", "64KiB", "1TiB", or a number; "none" is infinity.
double parse_bytes(const Scalar& scalar, const std::string& what);

/// Expands start:stop:step (inclusive) or start:stop:*factor to a list of integers. A text that does not
/// begin like a range is returned as the only value. @throws InputError with the location: malformed range,
/// infinite range, too many values
std::vector<Scalar> expand_range(const Scalar& scalar);

}  // namespace gaussweep::io
