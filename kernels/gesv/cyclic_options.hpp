#pragma once
/// Options of the row-cyclic methods, and the size of their workspace. The registry has `blocks` and
/// `threads`.

#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// `back_substitution` of the row-cyclic methods.
enum class Substitution {
  reduction,       ///< one block with sum reductions
  pipelined,       ///< a pipeline of blocks with tickets and flags; one thread per block polls
  pipelined_locks  ///< the pipeline of C. Fuhrmann's thesis (docs/papers.md): fixed row ranges; every thread
                   ///< polls one lock per unknown with atomics
};

inline Substitution substitution(const Parameters& parameters) {
  const std::string& name = parameters.choice("back_substitution");
  if (name == "pipelined") return Substitution::pipelined;
  return name == "pipelined_locks" ? Substitution::pipelined_locks : Substitution::reduction;
}

/// Distance of two locks in ints: each lock of the thesis is a separate allocation, and allocations are
/// aligned to 256 bytes.
constexpr std::int64_t lock_spacing = 64;

/// Returns the number of ints in the back substitution's workspace: the locks, or one flag per unknown and
/// the ticket counter.
inline std::int64_t substitution_ints(Substitution variant, std::int64_t n) {
  if (variant == Substitution::reduction) return 0;
  return variant == Substitution::pipelined ? n + 1 : n * lock_spacing;
}

}  // namespace gaussweep
