#pragma once
/// The Matrix Market format: coordinate and array; real, integers, pattern (ones); general, symmetric (either
/// triangle), skew-symmetric.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// The headers that are read, for messages.
constexpr const char* matrix_market_headers =
    "%%MatrixMarket matrix coordinate|array real|integer|unsigned-integer|pattern "
    "general|symmetric|skew-symmetric|hermitian";

/// Returns true if the file begins like Matrix Market, perhaps after blanks or a byte order mark.
bool is_matrix_market(const std::filesystem::path& path);
/// Reads and checks the whole file. @param keep false leaves the elements out
/// @throws InputError "file:line: …"
Dense<double> read_matrix_market(const std::filesystem::path& path, bool keep, MatrixInfo& info,
                                 std::string* sha256 = nullptr);
/// Reads the header only. @throws InputError "file:line: …"
MatrixSize matrix_market_size(const std::filesystem::path& path);

}  // namespace gaussweep::io
