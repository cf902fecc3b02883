#pragma once
/// Whether a problem's row is whole.

#include "kernels/registry/problem.hpp"

namespace gaussweep {

/// Every row is looked at where the list is made, not where a trial needs what it lacks.
/// @throws std::logic_error that names the row and what is wrong with it
void validate(const ProblemRow& row);

}  // namespace gaussweep
