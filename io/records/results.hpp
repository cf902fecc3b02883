#pragma once
/// Writes and reads results.h5, the HDF5 tables of a run (io/SCHEMA.md). The file is written under a
/// temporary name and renamed, so that it can be opened at any time.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "io/records/record.hpp"
#include "io/records/rows.hpp"

namespace gaussweep::io {

/// The contents of a results.h5.
struct Results {
  std::vector<Record> records;
  std::vector<DeviceRow> devices;
  std::vector<HostRow> hosts;
  /// Plan text and provenance: version, commit, dirty, build, command_line, cuda_version, …
  std::map<std::string, std::string> attributes;
  /// True if the file has checksums and they are right. Files of earlier versions and of other programs have
  /// no checksums.
  bool checked = false;
};

/// Writes atomically. @throws StorageError
void write_results(const std::filesystem::path& path, const Results& results);
/// Do the same as write_results in two steps: results_image builds the file in memory, and
/// write_results_image writes it. The second step waits for the disk and may run on another thread.
/// results_image needs `path` only to name the file in errors.
std::vector<char> results_image(const std::filesystem::path& path, const Results& results);
void write_results_image(const std::filesystem::path& path, const std::vector<char>& image);
/// Reads a file of this or an older schema version (absent columns keep their defaults). `with_details ==
/// false` leaves out samples, stages and iterations. @throws InputError if it is no results.h5, is damaged
/// (its checksums are wrong), or has a newer schema version, in which columns may have another meaning
Results read_results(const std::filesystem::path& path, bool with_details = true);

/// Reads in a child process, for untrusted files: libhdf5 crashes on some damaged files and hangs on others.
/// The child ends with this process.
/// @pre this process is no MPI rank, because MPI processes must not fork
/// @param extra_seconds seconds that reading may take, in addition to 5 per MiB of the file
/// @throws InputError as read_results, and if the child crashes or times out
Results read_results_in_child(const std::filesystem::path& path, bool with_details = true,
                              double extra_seconds = 60);

/// Returns the version of the HDF5 library in use, e.g. "1.10.8".
std::string hdf5_version();

}  // namespace gaussweep::io
