#pragma once
/// Noise of degraded images, by seed.

#include <cstdint>
#include <vector>

#include "kernels/core/enums.hpp"

namespace gaussweep {

enum class NoiseKind { none, gaussian, salt_pepper };
template <>
struct EnumNames<NoiseKind> {
  static constexpr std::string_view what = "noise";
  static constexpr std::array<std::pair<NoiseKind, std::string_view>, 3> table{
      {{NoiseKind::none, "none"},
       {NoiseKind::gaussian, "gaussian"},
       {NoiseKind::salt_pepper, "salt_pepper"}}};
};

struct NoiseSpec {
  NoiseKind kind = NoiseKind::none;
  /// gaussian: standard deviation in grey levels (of 255); salt_pepper: the probability that a pixel is
  /// struck
  double level = 0;
};

/// Adds noise to an image in grey levels. `gaussian`: independent, mean 0, nothing is clipped. `salt_pepper`:
/// a struck pixel becomes 255 or 0, each with probability one half. A pixel's noise hangs on the seed and its
/// number alone.
void add_noise(std::vector<double>& image, const NoiseSpec& noise, std::uint64_t seed);

}  // namespace gaussweep
