#pragma once
/// Validation of a problem's row.

#include "kernels/registry/problem.hpp"

namespace gaussweep {

/// Checks that the row is complete, when the table is built.
/// @throws std::logic_error that names the row and the mistake
void validate(const ProblemRow& row);

}  // namespace gaussweep
