#pragma once
/// Chooses the method that programs get if they name only a problem.

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// The device and precision that a method is chosen for.
struct MethodTarget {
  Backend backend;
  int capability;  ///< compute capability of the GPU; 0 for other backends
  Precision precision;
};

/// Returns the first of our list that runs there and accepts the shape, or null. The list begins with the
/// methods that win in docs/performance.md, and ends with the vendor's. Methods in row-major or augmented
/// layout are never chosen.
const Method* preferred_method(const Registry& registry, Problem problem, const MethodTarget& target,
                               const Shape& shape);

}  // namespace gaussweep
