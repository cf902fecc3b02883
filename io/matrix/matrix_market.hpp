#pragma once
/// Reads the Matrix Market format, with the headers of `matrix_market_headers`. Entries of a pattern (a file
/// without values) are 1. A symmetric matrix may be stored as either triangle.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// The supported headers, for messages.
constexpr const char* matrix_market_headers =
    "%%MatrixMarket matrix coordinate|array real|integer|unsigned-integer|pattern "
    "general|symmetric|skew-symmetric|hermitian";

/// Returns true if the file begins like Matrix Market; blanks or a byte order mark may precede.
bool is_matrix_market(const std::filesystem::path& path);
/// Reads and checks the whole file. @param keep false: returns no elements
/// @throws InputError "file:line: …"
Dense<double> read_matrix_market(const std::filesystem::path& path, bool keep, MatrixInfo& info,
                                 std::string* sha256 = nullptr);
/// Reads the header only. @throws InputError "file:line: …"
MatrixSize matrix_market_size(const std::filesystem::path& path);

}  // namespace gaussweep::io
