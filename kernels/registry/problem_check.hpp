#pragma once
/// Validates a row of the table of problems.

#include "kernels/registry/problem.hpp"

namespace gaussweep {

/// Checks that the row is complete and consistent. It is called when the table is built.
/// @throws std::logic_error that names the row and the mistake
void validate(const ProblemRow& row);

}  // namespace gaussweep
