#pragma once
/// The properties of a matrix's elements that `matrix info` and `try` print.

#include <string>

#include <nlohmann/json.hpp>

#include "driver/plan/needs.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

/// Larger matrices are factored only on request, to estimate their condition.
inline constexpr std::int64_t most_factored = 4096;

/// Computes the properties from all elements. @param factors also factors a square matrix to estimate its
/// condition
SeenMatrix see(io::Dense<double>&& a, bool factors);

/// Returns the properties as lines that follow those of info_text.
std::string seen_text(const SeenMatrix& matrix);
nlohmann::ordered_json seen_json(const SeenMatrix& matrix);

}  // namespace gaussweep::driver
