#pragma once
/// Reads matrices from HDF5 files: gaussweep's own, MATLAB's of version 7.3, Octave's, and other programs'.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Returns true if HDF5 recognises the file.
bool is_hdf5(const Descriptor& file);
/// Reads a matrix. @param keep false: does not read the elements
/// @throws InputError if the file holds no matrix or several; if the matrix is complex, sparse or too large;
/// if double cannot hold an element; if data lie outside of the file; or if a gaussweep file was modified
Dense<double> read_hdf5(const std::filesystem::path& path, const Descriptor& file,
                        const DatasetChoice& choice, bool keep, MatrixInfo& info);

}  // namespace gaussweep::io
