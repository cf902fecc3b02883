#pragma once
/// The Matrix Market format: coordinate and array; real, integer, pattern (ones); general, symmetric,
/// skew-symmetric.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Whether the file begins like Matrix Market.
bool is_matrix_market(const std::filesystem::path& path);
/// @throws InputError "file:line: …"
Dense<double> read_matrix_market(const std::filesystem::path& path, std::string* sha256 = nullptr);
/// Reads the header only. @throws InputError "file:line: …"
MatrixSize matrix_market_size(const std::filesystem::path& path);
/// Reads and checks the whole file, but keeps no element. @throws InputError "file:line: …"
MatrixInfo matrix_market_info(const std::filesystem::path& path, std::string* sha256 = nullptr);

}  // namespace gaussweep::io
