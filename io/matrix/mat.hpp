#pragma once
/// MATLAB's files of versions 4 and 5 (up to v7): full and sparse matrices of real numbers, also in a struct,
/// as in SuiteSparse's collection (Problem.A).

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Returns true if the file begins like MATLAB's of version 4 or 5.
bool is_mat(const Descriptor& file);
/// @param choice "A", "Problem.A"
/// @param keep false leaves the elements out, which are read and checked all the same
/// @throws InputError: cut off, damaged, complex, several matrices, elements that a double does not hold, too
/// large
Dense<double> read_mat(const std::filesystem::path& path, const Descriptor& file, const DatasetChoice& choice,
                       bool keep, MatrixInfo& info);

}  // namespace gaussweep::io
