#pragma once
/// Expands a plan to its trials: a pure function of the plan, the registry (the table of all methods) and the
/// facts about the plan's matrix files.

#include <string>
#include <vector>

#include "driver/plan/file_facts.hpp"
#include "driver/plan/trial.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// The trials of a plan.
struct Expansion {
  std::vector<Trial> trials;  ///< in the plan's order, without duplicate keys
  /// Messages for the user, each once: for example, that gesv/cusolver ignores the parameter `blocks`.
  std::vector<std::string> notes;
};

/// Returns the backend of a method's trials: `requested` (by the user) if the method supports it, or `host`
/// for a method written for the CPU. Otherwise returns nothing, and the trial gets the status `skipped`.
std::optional<Backend> resolve_backend(const Method& method, Backend requested);

/// Expands a plan. @param capability compute capability of the GPUs (90 for 9.0), 0 if it is unknown or there
/// is no GPU. Trials of methods that need a higher capability are skipped.
/// @throws io::InputError with file:line:column
Expansion expand(const io::Plan& plan, const Registry& registry, Backend requested, int capability,
                 const FileLookup& lookup);

}  // namespace gaussweep::driver
