#pragma once
/// The properties of a matrix's elements that `matrix info` and `try` print.

#include <nlohmann/json.hpp>
#include <string>

#include "driver/plan/needs.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

/// Returns the properties as lines that follow those of info_text.
std::string seen_text(const SeenMatrix& matrix);
nlohmann::ordered_json seen_json(const SeenMatrix& matrix);

}  // namespace gaussweep::driver
