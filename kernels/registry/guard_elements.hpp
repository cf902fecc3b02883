#pragma once
/// Regions of a matrix, fill values and digests (hash sums) for the guard (staging/guard.hpp), which checks
/// that a run wrote its whole answer and nothing else. CPU loops and GPU kernels share these functions.

#include <cstdint>
#include <cstring>

#include "kernels/core/shared_inline.hpp"

namespace gaussweep {

/// A set of elements (i, j) of a matrix, or of every square matrix of a batch. `lower` and `upper` include
/// the diagonal, `below` and `above` exclude it. `checkered` has the elements with odd i + j, `odd_rows`
/// those with odd i.
enum class Region { none, all, checkered, odd_rows, lower, upper, below, above };

/// The indices begin, begin + step, ... that are less than `end`.
struct IndexSpan {
  std::int64_t begin, end, step;
};

namespace guard {

/// Returns the region's indices in column `line`, or in row `line` if `along_row`. The line has `count`
/// elements.
GAUSSWEEP_SHARED_INLINE IndexSpan span_of(Region region, std::int64_t line, std::int64_t count,
                                          bool along_row) {
  const auto up_to = [=](std::int64_t end) {
    return IndexSpan{/*begin=*/0, end < count ? end : count, /*step=*/1};
  };
  const auto from = [=](std::int64_t begin) { return IndexSpan{begin, count, /*step=*/1}; };
  switch (region) {
    case Region::none:
      break;
    case Region::all:
      return from(0);
    case Region::checkered:
      return {1 - line % 2, count, /*step=*/2};  // an even line has the odd indices
    case Region::odd_rows:
      return along_row ? from(line % 2 != 0 ? 0 : count) : IndexSpan{/*begin=*/1, count, /*step=*/2};
    case Region::lower:
      return along_row ? up_to(line + 1) : from(line);
    case Region::upper:
      return along_row ? from(line) : up_to(line + 1);
    case Region::below:
      return along_row ? up_to(line) : from(line + 1);
    case Region::above:
      return along_row ? from(line + 1) : up_to(line);
  }
  return {/*begin=*/0, /*end=*/0, /*step=*/1};
}

/// Returns true if element (i, j) belongs to the region.
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

/// Hashes a 64-bit word and its position with the finaliser of MurmurHash3 (Appleby, public domain).
GAUSSWEEP_SHARED_INLINE unsigned long long hashed_word(unsigned long long word, unsigned long long position) {
  unsigned long long x = word + 0x9e3779b97f4a7c15ull * (position + 1);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdull;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/// Returns the fill value of element (i, j): NaN, or with `noise` a number in [1, 2) that depends only on i
/// and j.
template <class T>
GAUSSWEEP_SHARED_INLINE T poison(bool noise, std::int64_t i, std::int64_t j) {
  if (noise) return T(1) + static_cast<T>((i * 37 + j * 101) % 1024) / T(1024);
  const unsigned long long ones = ~0ull;
  T value;
  memcpy(&value, &ones, sizeof value);
  return value;
}

/// Returns the contribution of an element to a digest. If `negated`, the element's sign is changed first. +0
/// and -0 contribute equally, and so do all NaN.
template <class T>
GAUSSWEEP_SHARED_INLINE unsigned long long digest_of(T value, bool negated, unsigned long long position) {
  unsigned long long word = 0;
  if (value != value) {
    word = ~0ull;
  } else if (value != T(0)) {
    const T restored = negated ? -value : value;
    memcpy(&word, &restored, sizeof restored);
  }
  return hashed_word(word, position);
}

}  // namespace guard
}  // namespace gaussweep
