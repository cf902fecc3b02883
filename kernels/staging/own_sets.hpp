#pragma once
/// Decides whether the repeats of a run can share one copy of the operands.

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Returns true if each repeat of a timed run needs its own working set (a copy of the operands). It does if
/// the method overwrites its inputs. It also does for a method of a user's library, which could otherwise
/// leave the answer of an earlier repeat in place.
inline bool needs_own_sets(const Method& method) {
  return method.overwrites || !method.library.empty();
}

}  // namespace gaussweep
