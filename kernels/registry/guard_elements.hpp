#pragma once
/// Which elements of a matrix a guard changes or looks at: shared by the CPU's loops and the GPU's kernels.

#include <cstdint>
#include <cstring>

#include "kernels/core/shared_inline.hpp"

namespace gaussweep {

/// Elements (i, j) of a matrix; of several square ones side by side, of each. `lower` and `upper` include the
/// diagonal, `below` and `above` do not; `checkered`: those with i + j odd; `odd_rows`: those with i odd.
enum class Region { none, all, checkered, odd_rows, lower, upper, below, above };

/// Indices begin, begin + step, ... below end.
struct IndexSpan {
  std::int64_t begin, end, step;
};

namespace guard {

/// The part of a region in column `line`, or in row `line` where `along_row`, of `count` elements.
GAUSSWEEP_SHARED_INLINE IndexSpan span_of(Region region, std::int64_t line, std::int64_t count,
                                          bool along_row) {
  const auto up_to = [=](std::int64_t end) { return IndexSpan{0, end < count ? end : count, 1}; };
  const auto from = [=](std::int64_t begin) { return IndexSpan{begin, count, 1}; };
  switch (region) {
    case Region::none:
      break;
    case Region::all:
      return from(0);
    case Region::checkered:
      return {1 - line % 2, count, 2};
    case Region::odd_rows:
      return along_row ? from(line % 2 != 0 ? 0 : count) : IndexSpan{1, count, 2};
    case Region::lower:
      return along_row ? up_to(line + 1) : from(line);
    case Region::upper:
      return along_row ? from(line) : up_to(line + 1);
    case Region::below:
      return along_row ? up_to(line) : from(line + 1);
    case Region::above:
      return along_row ? from(line + 1) : up_to(line);
  }
  return {0, 0, 1};
}

GAUSSWEEP_SHARED_INLINE bool contains(Region region, std::int64_t i, std::int64_t j) {
  switch (region) {
    case Region::none:
      break;
    case Region::all:
      return true;
    case Region::checkered:
      return (i + j) % 2 != 0;
    case Region::odd_rows:
      return i % 2 != 0;
    case Region::lower:
      return i >= j;
    case Region::upper:
      return i <= j;
    case Region::below:
      return i > j;
    case Region::above:
      return i < j;
  }
  return false;
}

/// The finaliser of MurmurHash3 (Appleby, public domain) over a word and its place.
GAUSSWEEP_SHARED_INLINE unsigned long long mixed(unsigned long long word, unsigned long long place) {
  unsigned long long x = word + 0x9e3779b97f4a7c15ull * (place + 1);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/// Not a number; and numbers between 1 and 2 that are the same in every run.
template <class T>
GAUSSWEEP_SHARED_INLINE T poison(bool noise, std::int64_t i, std::int64_t j) {
  if (noise) return T(1) + static_cast<T>((i * 37 + j * 101) % 1024) / T(1024);
  const unsigned long long ones = ~0ull;
  T value;
  memcpy(&value, &ones, sizeof value);
  return value;
}

/// What an element adds to a digest. Zeros of both signs are the same, and so are all NaN.
template <class T>
GAUSSWEEP_SHARED_INLINE unsigned long long digest_of(T value, bool negated, unsigned long long place) {
  unsigned long long word = 0;
  if (value != value) {
    word = ~0ull;
  } else if (value != T(0)) {
    const T plain = negated ? -value : value;
    memcpy(&word, &plain, sizeof plain);
  }
  return mixed(word, place);
}

}  // namespace guard
}  // namespace gaussweep
