#pragma once

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// Returns true if each repeat of a timed run needs its own working set: the method overwrites its inputs, or
/// a library contains it, whose code could see that an earlier repeat has written the answer.
inline bool needs_own_sets(const Method& method) {
  return method.overwrites || !method.library.empty();
}

}  // namespace gaussweep
