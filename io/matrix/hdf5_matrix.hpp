#pragma once
/// Matrices in HDF5 files: gaussweep's own, MATLAB's of version 7.3, Octave's, and others'.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Returns true if HDF5 would read the file.
bool is_hdf5(const Descriptor& file);
/// @param keep false leaves the elements out, which are not read then
/// @throws InputError: no matrix or several, complex, sparse, elements that a double does not hold, too
/// large, data outside of the file, a gaussweep file that was changed
Dense<double> read_hdf5(const std::filesystem::path& path, const Descriptor& file,
                        const DatasetChoice& choice, bool keep, MatrixInfo& info);

}  // namespace gaussweep::io
