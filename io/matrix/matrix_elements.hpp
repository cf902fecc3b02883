#pragma once
/// Writes the elements of the matrix store's files. HDF5 creates the file with contiguous datasets and
/// reports their offsets. The elements are then written without HDF5, which would use only one thread. The
/// seal's checksum is computed at the same time. For the .cpp files of `io/` only.

#include <string>
#include <vector>

#include <sys/types.h>

#include "io/files/hdf5_handles.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// Elements in memory and their offset in the file.
struct ElementRange {
  off_t begin = 0;
  const char* data = nullptr;
  std::size_t bytes = 0;
};

/// Creates a dataset for column-major data, without elements. HDF5 is row-major, so its dimensions are (cols,
/// rows). @throws h5::Error
template <class T>
ElementRange create_dense(hid_t file, const std::string& name, const DenseView<T>& matrix);

/// Writes elements on several threads into a file that HDF5 has created and closed. Ranges of zeros become
/// holes of the file.
/// @param ranges in the order of the file
/// @param between called between blocks (see WriteStep in matrix_file.hpp)
/// @return the file's seal @throws StorageError, and exceptions of `between`
std::string write_elements(int fd, const std::vector<ElementRange>& ranges, const WriteCallback& between);

}  // namespace gaussweep::io
