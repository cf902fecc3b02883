#pragma once
/// Draws random trials over hard matrices. A seed and the number of a trial determine it.

#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/registry/method.hpp"

namespace gaussweep::verdicts {

/// Random numbers that are the same on every platform (SplitMix64).
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t trial)
      : state_(seed * 0x9e3779b97f4a7c15ULL ^ trial * 0xd1342543de82ef95ULL) {
    next();
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Returns a number in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  /// Returns an integer in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return unit() < probability; }
  /// Returns an integer in [low, high]; its logarithm is uniform.
  std::int64_t size(std::int64_t low, std::int64_t high) {
    const double drawn =
        std::exp(between(std::log(static_cast<double>(low)), std::log(static_cast<double>(high) + 1)));
    return std::min(high, static_cast<std::int64_t>(drawn));
  }

 private:
  std::uint64_t state_;
};

/// Operands of a problem. The matrix is from a random family; its largest element is anywhere in T's range.
template <class T>
struct Drawn {
  Inputs<T> inputs;
  std::string description;  ///< the family, the scale, the right-hand side
};
template <class T>
Drawn<T> draw_inputs(Random& random, const Method& method, const Shape& shape);

/// Returns parameters that the method accepts, with an iteration count that a test has time for.
Parameters draw_parameters(Random& random, const Method& method, const Shape& shape);

Shape draw_shape(Random& random, const Method& method);

/// Changes an answer a little or completely. @return a description of the change
template <class T>
std::string damage(Random& random, Answer<T>& answer);

}  // namespace gaussweep::verdicts
