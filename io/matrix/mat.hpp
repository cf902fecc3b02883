#pragma once
/// MATLAB's files of versions 4 and 5 (up to v7), read by libmatio. They are full and sparse matrices of real
/// numbers, also those in a struct, as in SuiteSparse's collection (Problem.A).

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// @param dataset "A", "Problem.A"; empty: A, Problem.A, or the only matrix there is
/// @param keep false leaves the elements out, which are read and checked all the same
/// @throws InputError: no libmatio in this build, cut off, damaged, complex, several matrices, not finite,
/// integers beyond 2^53, too large
Dense<double> read_mat(const std::filesystem::path& path, const Descriptor& file, const std::string& dataset,
                       bool keep, MatrixInfo& info);

}  // namespace gaussweep::io
