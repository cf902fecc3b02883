/// Adds reproducible noise to degraded images.

#include "kernels/matrix/noise.hpp"

#include <cmath>

#include "kernels/matrix/philox.hpp"

namespace gaussweep {

void add_noise(std::vector<double>& image, const NoiseSpec& noise, std::uint64_t seed) {
  constexpr double two_pi = 6.283185307179586;
  constexpr double black = 0, white = 255;  // grey levels
  for (std::size_t p = 0; p < image.size(); ++p) {
    // Returns the random element with index `number` (from 0) of this pixel.
    const auto draw = [&](std::uint32_t number) {
      return random_element(seed, RandomStream::noise, static_cast<std::int64_t>(p), /*j=*/0, number);
    };
    switch (noise.kind) {
      case NoiseKind::none:
        return;
      case NoiseKind::gaussian:
        // Box-Muller. A draw is never 0, so the logarithm is finite.
        image[p] += noise.level * std::sqrt(-2 * std::log(draw(0).unit)) * std::cos(two_pi * draw(1).unit);
        break;
      case NoiseKind::salt_pepper:
        if (draw(0).unit < noise.level) image[p] = draw(0).negative ? black : white;
        break;
    }
  }
}

}  // namespace gaussweep
