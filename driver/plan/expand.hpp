#pragma once
/// Plan → trials: a pure function of the plan, the registry and what is known of the files that the plan
/// names.

#include <string>
#include <vector>

#include "driver/plan/file_facts.hpp"
#include "driver/plan/trial.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// A plan written out.
struct Expansion {
  std::vector<Trial> trials;  ///< in the plan's order, keys unique (an exact repetition is dropped)
  /// Said once, e.g. that gesv/cusolver ignores blocks.
  std::vector<std::string> notes;
};

/// Where a method's trial runs when the user asks for `requested`: there, if it can. A method written for the
/// CPU runs as `host`, also under cuda and emulated. Nothing where it cannot run: the trial is then
/// `skipped`.
std::optional<Backend> resolve_backend(const Method& method, Backend requested);

/// @param capability of the GPUs that will run it (90), 0 where unknown or none; methods that need more are
/// skipped
/// @throws io::InputError with file:line:column
Expansion expand(const io::Plan& plan, const Registry& registry, Backend requested, int capability,
                 const FileLookup& lookup);

}  // namespace gaussweep::driver
