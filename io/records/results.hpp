#pragma once
/// results.h5 (io/SCHEMA.md): written whole to a temporary name and renamed, so that it can be opened at any
/// moment.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/records/record.hpp"
#include "io/records/rows.hpp"

namespace gaussweep::io {

/// What a results.h5 holds.
struct Results {
  std::vector<Record> records;
  std::vector<DeviceRow> devices;
  std::vector<HostRow> hosts;
  /// Plan text and provenance: version, commit, dirty, build, command_line, cuda_version, …
  std::map<std::string, std::string> attributes;
  /// Whether the file that was read has checksums, which then agree: none have files of earlier versions, and
  /// of other programs.
  bool checked = false;
};

/// Writes atomically. @throws StorageError
void write_results(const std::filesystem::path& path, const Results& results);
/// The same in two steps, of which the second waits for the disk and may be another thread's.
std::vector<char> results_image(const std::filesystem::path& path, const Results& results);
void write_results_image(const std::filesystem::path& path, const std::vector<char>& image);
/// Reads a file written by this or an older schema version (absent columns keep their defaults).
/// `with_details == false` leaves out samples, stages and iterations. @throws InputError where it is not
/// ours, is damaged (its checksums do not agree with what it holds), or is of a newer schema version. There
/// columns may mean something else.
Results read_results(const std::filesystem::path& path, bool with_details = true);

/// The same in a child process, for files that others may have made. The library libhdf5 crashes on some
/// damaged ones and never comes to an end on others. The child dies with this process.
/// @pre this process is no rank of MPI, for a child of one must not be forked
/// @param patience seconds that it may take besides 5 a MiB of the file
/// @throws InputError as read_results, and where the child crashed or lost all patience
Results read_results_apart(const std::filesystem::path& path, bool with_details = true, double patience = 60);

/// Version of the HDF5 library in use, e.g. "1.10.8".
std::string hdf5_version();

}  // namespace gaussweep::io
