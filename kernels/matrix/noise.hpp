#pragma once
/// Reproducible noise for degraded images.

#include <cstdint>
#include <vector>

#include "kernels/core/enums.hpp"

namespace gaussweep {

enum class NoiseKind { none, gaussian, salt_pepper };
template <>
struct EnumNames<NoiseKind> {
  static constexpr std::string_view noun = "noise";
  static constexpr std::array<std::pair<NoiseKind, std::string_view>, 3> table{
      {{NoiseKind::none, "none"},
       {NoiseKind::gaussian, "gaussian"},
       {NoiseKind::salt_pepper, "salt_pepper"}}};
};

struct NoiseSpec {
  NoiseKind kind = NoiseKind::none;
  /// gaussian: standard deviation in grey levels (of 255); salt_pepper: the probability that a pixel is
  /// replaced
  double level = 0;
};

/// Adds noise to an image in grey levels. `gaussian`: independent, mean 0, not clipped. `salt_pepper`: a
/// replaced pixel becomes 255 or 0 with equal probability. A pixel's noise depends only on the seed and the
/// pixel's index.
void add_noise(std::vector<double>& image, const NoiseSpec& noise, std::uint64_t seed);

}  // namespace gaussweep
