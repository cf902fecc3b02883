#pragma once
/// What stands in a plan, with the location that it stands at, and numbers read from it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/files/errors.hpp"

namespace gaussweep::io {

/// The largest order, or number of columns, that a plan may give.
constexpr std::int64_t largest_size = 1'000'000;
/// The largest count: repeats, warm-ups, runs a sample.
constexpr std::int64_t largest_count = 1'000'000;

/// Where a value stands in a plan; lines and columns count from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// "file:line:column: message" as an InputError.
[[noreturn]] void fail_at(const Location& location, const std::string& message);
/// "nearest: …; " or "" — the candidate nearest to `word` by edit distance, for messages.
std::string nearest_hint(const std::string& word, const std::vector<std::string>& candidates);

/// A scalar as text with its location.
struct Scalar {
  std::string text;
  Location location;
};

/// A value of an axis: its expanded list. A scalar is a list of one; ranges (start:stop:step, start:stop:*f,
/// 1k) are expanded where the axis is a number.
struct Axis {
  std::vector<Scalar> values;
  /// Only for `n`, `m`, `k` given as a map; then `values` is empty. The map is by backend ("cuda",
  /// "emulated", "host") or by a part of a GPU model's name ("H200").
  std::map<std::string, std::vector<Scalar>> by_backend;
  Location location;
};

/// A `matrix:` block: scalars by name (kind, low, high, seed, condition, mode, value, file, dataset, store,
/// …).
struct MatrixBlock {
  std::map<std::string, Scalar> values;
  Location location;
};

struct Exclude {
  /// axis or parameter or "method" → condition text: "a value", ">4096", "<=64", or one of a list
  std::map<std::string, std::vector<Scalar>> conditions;
  Location location;
};

/// Numbers of a plan: "1k" = 1024, "64"; durations "90s", "10min", "1h30min", "250ms", plain seconds.
std::int64_t parse_integer(const Scalar& scalar, std::int64_t low, std::int64_t high,
                           const std::string& what);
double parse_real(const Scalar& scalar, double low, double high, const std::string& what);
double parse_duration(const Scalar& scalar, const std::string& what);
/// Whether it has a unit of time, and so is no count: "2s", "500ms".
bool is_duration(const Scalar& scalar);
/// A share above 0 and up to 1 of "1%", "0.5%", "100%".
double parse_share(const Scalar& scalar, const std::string& what);
/// Bytes of "50GiB", "512MiB", "64KiB", "1TiB", plain bytes; "none" is infinity.
double parse_bytes(const Scalar& scalar, const std::string& what);

/// start:stop:step (inclusive) and start:stop:*factor as a list of whole numbers; anything that does not
/// begin like a range stands for itself. @throws InputError with the location: no range after all, would not
/// end, too many values
std::vector<Scalar> expand_range(const Scalar& scalar);

}  // namespace gaussweep::io
