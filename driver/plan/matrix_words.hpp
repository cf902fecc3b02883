#pragma once
/// The names and parameters of matrices in records.

#include <optional>
#include <string>

#include "driver/plan/matrix_request.hpp"

namespace gaussweep::driver {

/// Returns the matrix file's name; without a file the kind.
std::string matrix_label(const MatrixRequest& matrix);

/// Returns the record's `matrix_parameters`, a JSON object as text with sorted names: everything that
/// determines the matrices except their names, sizes, precision, seed and triangle. B is included only if it
/// differs from the default B of a plan without `matrix_b`.
std::string matrix_parameters_text(const MatrixRequest& a, const std::optional<MatrixRequest>& b);

}  // namespace gaussweep::driver
