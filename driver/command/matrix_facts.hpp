#pragma once
/// What `matrix info` and `try` say of a matrix's elements.

#include <string>

#include <nlohmann/json.hpp>

#include "driver/plan/needs.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

/// Beyond this order a factorisation is made only where it is asked for.
inline constexpr std::int64_t most_factored = 4096;

/// Looks at every element; where `factors`, factors the matrix too, if it is square.
SeenMatrix see(io::Dense<double>&& a, bool factors);

/// Lines under those of info_text.
std::string seen_text(const SeenMatrix& matrix);
nlohmann::ordered_json seen_json(const SeenMatrix& matrix);

}  // namespace gaussweep::driver
