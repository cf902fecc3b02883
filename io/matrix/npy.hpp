#pragma once
/// Reads and writes NumPy's .npy files (format versions 1 to 3): real vectors and matrices in C or Fortran
/// order.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Returns true if the file begins like .npy.
bool is_npy(const Descriptor& file);
/// Reads a matrix. @param keep false: does not read the elements
/// @throws InputError if the array is complex, holds records or objects, or has more than two dimensions.
/// Also throws if the file is truncated or too large, or if double cannot hold an element
Dense<double> read_npy(const std::filesystem::path& path, const Descriptor& file, bool keep,
                       MatrixInfo& info);

/// Writes float64 in Fortran order, atomically. @throws StorageError
void export_npy(const std::filesystem::path& path, const Dense<double>& a);

}  // namespace gaussweep::io
