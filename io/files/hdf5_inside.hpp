#pragma once
/// What an HDF5 file itself holds, and nothing else. HDF5 lets a dataset be a link into another file, or be
/// put together from datasets of others (virtual). It also lets one keep its data in a file of any format
/// (external storage). A file's digest says nothing of such contents, and whoever made the file chose what is
/// read. For the .cpp files of `io/` only.

#include <string>

#include "io/files/hdf5_handles.hpp"

namespace gaussweep::io::h5 {

/// Opens a dataset whose data are in this very file.
/// @throws Error where it is not there, where its data are elsewhere, or where a filter that unpacks them is
/// not installed
Dataset open_dataset(hid_t file, const std::string& name);

/// Opens any object without leaving the file. @throws Error
Object open_object(hid_t file, const std::string& name);

/// Why a dataset's data cannot be read from its own file; empty where they can.
std::string why_not_inside(hid_t dataset, const std::string& name);

/// Whether there is an object of that name, or a link to one. A link into another file counts.
bool has_object(hid_t file, const std::string& name);

}  // namespace gaussweep::io::h5
