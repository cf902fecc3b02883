#pragma once
/// What the row-cyclic methods let a plan choose besides blocks and threads: the choices' names, and the
/// workspace they take.

#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// `back_substitution` of the row-cyclic methods.
enum class Substitution {
  reduction,       ///< one block, sums by reduction
  pipelined,       ///< a pipeline of blocks: tickets, flags that one thread of a block looks at
  pipelined_locks  ///< the paper's: fixed pieces, a lock an unknown, polled by every thread with atomics
};

inline Substitution substitution(const Parameters& parameters) {
  const std::string& name = parameters.choice("back_substitution");
  if (name == "pipelined") return Substitution::pipelined;
  return name == "pipelined_locks" ? Substitution::pipelined_locks : Substitution::reduction;
}

/// Ints from lock to lock: each of the paper's is an allocation of its own, and those begin 256 bytes apart.
constexpr std::int64_t lock_spacing = 64;

/// Ints that the back substitution takes from the workspace: the locks; or a flag an unknown and the tickets.
inline std::int64_t substitution_ints(Substitution how, std::int64_t n) {
  if (how == Substitution::reduction) return 0;
  return how == Substitution::pipelined ? n + 1 : n * lock_spacing;
}

}  // namespace gaussweep
