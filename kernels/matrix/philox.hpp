#pragma once
/// The counter-based generator Philox 4x32 with ten rounds.
/// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11, section 3.3.

#include <cstdint>

#include "kernels/core/shared_inline.hpp"

namespace gaussweep {

/// A block of 128 bits: the counter that philox() takes, or the random bits that it returns.
struct PhiloxBlock {
  std::uint32_t word[4];
};

/// Returns the random bits for a counter and a key. The bits depend only on these two arguments. A matrix is
/// therefore the same for any order in which its elements are generated.
GAUSSWEEP_SHARED_INLINE PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) {
  std::uint32_t key_low = static_cast<std::uint32_t>(key);
  std::uint32_t key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    // The two multipliers and the round function are those of the paper.
    const std::uint64_t even = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(odd >> 32) ^ counter.word[1] ^ key_low,
                static_cast<std::uint32_t>(odd),
                static_cast<std::uint32_t>(even >> 32) ^ counter.word[3] ^ key_high,
                static_cast<std::uint32_t>(even)}};
    // The key follows the Weyl sequences of the paper.
    key_low += 0x9E3779B9u;   // the fractional part of the golden ratio, times 2^32
    key_high += 0xBB67AE85u;  // sqrt(3) - 1, times 2^32
  }
  return counter;
}

/// The purposes of random numbers. Different purposes have independent numbers for the same seed.
enum class RandomStream : std::uint32_t {
  matrix = 0,
  solution = 1,
  reflectors_left = 2,
  reflectors_right = 3,
  singular_values = 4,
  noise = 5
};

/// One random element: a number in (0, 1) and a sign that is independent of it.
struct RandomElement {
  double unit;  ///< an odd multiple of 2^-53: never 0, 1 or 1/2
  bool negative;
};

/// Returns the random element for position (i, j). `attempt` selects further independent elements for the
/// same position.
/// @pre 0 <= i, j < 2^32
GAUSSWEEP_SHARED_INLINE RandomElement random_element(std::uint64_t seed, RandomStream stream, std::int64_t i,
                                                     std::int64_t j, std::uint32_t attempt = 0) {
  const PhiloxBlock bits = philox({{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j),
                                    static_cast<std::uint32_t>(stream), attempt}},
                                  seed);
  // 52 random bits: 32 of the first word and 20 of the second. Adding 1/2 centres them in (0, 1).
  const std::uint64_t mantissa = (std::uint64_t{bits.word[0]} << 20) | (bits.word[1] >> 12);
  return {(static_cast<double>(mantissa) + 0.5) * 0x1p-52, (bits.word[2] & 1u) != 0};
}

}  // namespace gaussweep
