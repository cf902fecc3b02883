#pragma once
/// What a record says of its trial's matrices: their names, and what decides them.

#include <optional>
#include <string>

#include "driver/plan/matrix_request.hpp"

namespace gaussweep::driver {

/// The file's name, else the kind.
std::string matrix_label(const MatrixRequest& matrix);

/// What decides a trial's matrices besides their names, sizes, precision, seed and triangle, as a JSON
/// object with sorted names, as text: the record's `matrix_parameters`. B is spoken of only where it is not
/// the one that a plan without `matrix_b` gets.
std::string matrix_parameters_text(const MatrixRequest& a, const std::optional<MatrixRequest>& b);

}  // namespace gaussweep::driver
