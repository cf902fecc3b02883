#pragma once
/// Values of a plan's axes. (The public functions of plan_values.cpp are declared in plan.hpp.)

#include "io/plan/plan.hpp"

namespace gaussweep::io {

/// start:stop:step (inclusive) and start:stop:*factor as a list of whole numbers; anything that does not
/// begin like a range stands for itself. @throws InputError with the place: no range after all, would not
/// end, too many values
std::vector<Scalar> expand_range(const Scalar& scalar);

}  // namespace gaussweep::io
