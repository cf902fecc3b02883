#pragma once
/// The elements of the matrix store's files. HDF5 makes the file, and says where the elements lie: in one
/// piece each. They are written there past HDF5, which would do it on one thread, and the seal's checksum is
/// taken of them on the way. For the .cpp files of `io/` only.

#include <string>
#include <vector>

#include <sys/types.h>

#include "io/files/hdf5_handles.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Elements in memory, and where they belong in the file.
struct PlacedElements {
  off_t begin = 0;
  const char* data = nullptr;
  std::size_t bytes = 0;
};

/// Makes a dataset for column-major data: to HDF5, which is row-major, one of (cols, rows). Nothing is
/// written. @throws h5::Error
template <class T>
PlacedElements place_dense(hid_t file, const std::string& name, const DenseView<T>& matrix);

/// Writes elements into the file that HDF5 has made and closed, on several threads. Stretches of zeros stay
/// holes.
/// @param places in the order of the file
/// @param between called between pieces (matrix_file.hpp)
/// @return the file's seal @throws StorageError, and what `between` throws
std::string write_elements(int fd, const std::vector<PlacedElements>& places, const BetweenWrites& between);

}  // namespace gaussweep::io
