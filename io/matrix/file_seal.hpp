#pragma once
/// The seal of the store's files: the first 512 bytes (in HDF5's words the "user block", which readers of
/// HDF5 pass over) hold the CRC-32 and the length of all that follows. A file that a bit flip or a full disk
/// damaged is found out before HDF5 sees it: HDF5 checks its chunks, but trusts most of its own bookkeeping.

#include <cstddef>
#include <functional>
#include <string>

namespace gaussweep::io {

constexpr std::size_t seal_bytes = 512;

/// The seal for an open file as it stands, whose first `seal_bytes` are not looked at.
/// @param between called between pieces of some 48 MiB @throws StorageError, and what `between` throws
std::string make_seal(int fd, const std::function<void()>& between = {});
/// Why an open file is not what its seal says; empty where it is.
std::string broken_seal(int fd);

}  // namespace gaussweep::io
