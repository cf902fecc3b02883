#pragma once
/// Decides whether repeats (runs that are timed together) can share one working set (copy of the operands).

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Returns true if each repeat needs its own working set, because the method overwrites its inputs or is from
/// a user's library. A library's method could otherwise leave the answer of an earlier repeat in place.
inline bool needs_set_per_repeat(const Method& method) {
  return method.overwrites || !method.library.empty();
}

}  // namespace gaussweep
