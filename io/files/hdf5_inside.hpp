#pragma once
/// Restricts HDF5 to data inside the opened file. An HDF5 dataset can be a link into another file, or a
/// composition of datasets of other files (virtual). It can also keep its data in a file of any format
/// (external storage). With such a dataset, the author of the file could make this program read any file, and
/// the file's digest would not cover the data. For the .cpp files of `io/` only.

#include <string>

#include "io/files/hdf5_handles.hpp"

namespace gaussweep::io::h5 {

/// Opens a dataset whose data are inside this file.
/// @throws Error if the dataset does not exist, if its data are elsewhere, or if the HDF5 filter that
/// decompresses them is not installed
Dataset open_dataset(hid_t file, const std::string& name);

/// Opens an object without following links to other files. @throws Error
Object open_object(hid_t file, const std::string& name);

/// Returns why a dataset's data cannot be read from this file; empty if they can.
std::string outside_data_reason(hid_t dataset, const std::string& name);

/// Returns true if the file has an object or a link of this name, even a link into another file.
bool has_object(hid_t file, const std::string& name);

}  // namespace gaussweep::io::h5
