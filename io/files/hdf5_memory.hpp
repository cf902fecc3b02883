#pragma once
/// HDF5 files that are built in memory and then written as a whole. If the disk is full, only this program's
/// own write fails, and it reports the error. HDF5 itself never fails in the middle of its metadata. For the
/// .cpp files of `io/` only.

#include <vector>

#include "io/files/hdf5_handles.hpp"

namespace gaussweep::io::h5 {

/// Creates a file that is never written to disk. `name` is used only in HDF5's messages.
inline File create_in_memory(const char* name) {
  const Properties access = access_properties();
  // HDF5's core driver: the memory grows in steps of 1 MiB, and 0 means that no file backs it.
  check(H5Pset_fapl_core(access, std::size_t{1} << 20, 0), "keep a file in memory");
  return File(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access), "create a file in memory");
}

/// Returns the contents that a file of create_in_memory would have on disk.
inline std::vector<char> image_of(const File& file) {
  check(H5Fflush(file, H5F_SCOPE_LOCAL), "flush the file in memory");
  const ssize_t bytes = check(H5Fget_file_image(file, nullptr, 0), "size the file in memory");
  std::vector<char> image(static_cast<std::size_t>(bytes));
  check(H5Fget_file_image(file, image.data(), image.size()), "copy the file in memory");
  return image;
}

}  // namespace gaussweep::io::h5
