#pragma once
/// `exclude` of an entry of `sweep`: trials that meet every condition of one of its mappings are left out.

#include <vector>

#include "driver/plan/trial.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// @throws io::InputError where a condition can never hold: an unknown name, method, backend, precision or
/// uplo, or a comparison of words
void check_excludes(const io::Entry& entry, Problem problem, const std::vector<const Method*>& methods,
                    const Registry& registry);

bool is_excluded(const io::Entry& entry, const Trial& trial, const Method& method);

}  // namespace gaussweep::driver
