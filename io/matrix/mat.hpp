#pragma once
/// Reads MATLAB's files of versions 4 and 5 (up to v7): full and sparse real matrices, also inside a struct,
/// as in SuiteSparse's collection (Problem.A).

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Returns true if the file begins like a MATLAB file of version 4 or 5.
bool is_mat(const Descriptor& file);
/// Reads a matrix. @param choice for example "A" or "Problem.A"
/// @param keep false: reads and checks the elements, but does not return them
/// @throws InputError if the file is truncated or damaged; if it holds no matrix or several; if the matrix is
/// complex or too large; or if double cannot hold an element
Dense<double> read_mat(const std::filesystem::path& path, const Descriptor& file, const DatasetChoice& choice,
                       bool keep, MatrixInfo& info);

}  // namespace gaussweep::io
