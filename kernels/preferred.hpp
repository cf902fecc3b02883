#pragma once
/// Chooses the method for programs that name only a problem.

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// The device and the precision for which a method is chosen.
struct MethodTarget {
  Backend backend;
  int capability;  ///< compute capability of the GPU; 0 for other backends
  Precision precision;
};

/// Returns the first method in the problem's list (preferred.cpp) that runs on `target` and accepts `shape`,
/// or null. The lists begin with the methods that are fastest in docs/performance.md. For a batch only the
/// method `batched` is considered. Methods with row-major or augmented layout are never chosen.
const Method* preferred_method(const Registry& registry, Problem problem, const MethodTarget& target,
                               const Shape& shape);

}  // namespace gaussweep
