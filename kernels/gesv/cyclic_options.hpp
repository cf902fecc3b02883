#pragma once
/// The parameter `back_substitution` of the gesv/gauss_cyclic methods, and the workspace that it needs.

#include <cstdint>

#include "kernels/registry/method.hpp"

namespace gaussweep {

/// The values of `back_substitution`; gauss_substitution.cuh has the kernels.
enum class Substitution {
  reduction,       ///< one block with sum reductions
  pipelined,       ///< a pipeline of blocks; one thread per block polls one flag per unknown
  pipelined_locks  ///< the pipeline of F. Fuhrmann's thesis (docs/papers.md); every thread polls one lock per
                   ///< unknown with atomics
};

inline Substitution substitution(const Parameters& parameters) {
  const std::string& name = parameters.choice("back_substitution");
  if (name == "pipelined") return Substitution::pipelined;
  return name == "pipelined_locks" ? Substitution::pipelined_locks : Substitution::reduction;
}

/// Distance of two locks, in ints (256 bytes). In the thesis each lock is a separate allocation, and CUDA
/// aligns allocations to 256 bytes.
constexpr std::int64_t lock_spacing = 64;

/// Returns the number of ints in the back substitution's workspace. `reduction` needs
/// none, `pipelined_locks` the locks. `pipelined` needs one flag per unknown, and the counter from which
/// blocks take their positions in the pipeline.
inline std::int64_t substitution_ints(Substitution variant, std::int64_t n) {
  if (variant == Substitution::reduction) return 0;
  return variant == Substitution::pipelined ? n + 1 : n * lock_spacing;
}

}  // namespace gaussweep
