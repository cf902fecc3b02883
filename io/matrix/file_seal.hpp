#pragma once
/// The seal of the store's files: the first 512 bytes hold the CRC-32 and the length of all that follows.
/// HDF5 calls them the "user block", and its readers pass over it. A file that a bit flip, a full disk or a
/// power failure damaged is found out before HDF5 sees it. HDF5 trusts most of its own bookkeeping.

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace gaussweep::io {

constexpr std::size_t seal_bytes = 512;

/// A checksum of bytes in the order of the file.
class SealSum {
 public:
  void add(const char* data, std::size_t bytes);
  /// What follows, of which the checksum was taken apart.
  void add(const SealSum& next);
  /// The seal of a file in which exactly these bytes follow it.
  std::string seal() const;

 private:
  unsigned long crc_ = 0;  ///< CRC-32; that of nothing is 0
  unsigned long long bytes_ = 0;
};

/// Of a section of an open file, taken on several threads. @throws StorageError where it cannot be read, or
/// ends before
SealSum sum_of_file(int fd, off_t begin, off_t end);
/// Whether an open file begins with a seal, whole or broken.
bool has_seal(int fd);
/// Why an open file is not what its seal says; empty where it is.
std::string broken_seal(int fd);

}  // namespace gaussweep::io
