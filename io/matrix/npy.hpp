#pragma once
/// NumPy's .npy files (format versions 1 to 3): vectors and matrices of real numbers, in C's and Fortran's
/// order.

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Whether the file begins like .npy.
bool is_npy(const Descriptor& file);
/// `keep == false` leaves the elements out, which are not read then.
/// @throws InputError: complex, of records or objects, of another number of dimensions, cut off, elements
/// that a double does not hold, too large
Dense<double> read_npy(const std::filesystem::path& path, const Descriptor& file, bool keep,
                       MatrixInfo& info);

/// Writes float64 in Fortran's order, atomically. @throws StorageError
void export_npy(const std::filesystem::path& path, const Dense<double>& a);

}  // namespace gaussweep::io
