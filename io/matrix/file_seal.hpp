#pragma once
/// The seal of the matrix store's files: the first 512 bytes contain the CRC-32 and the length of the rest of
/// the file. HDF5 calls these bytes the "user block" and skips them. The seal detects damage (a bit flip, a
/// full disk, a power failure) before HDF5 opens the file. This is necessary because HDF5 does not check most
/// of its metadata.

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace gaussweep::io {

constexpr std::size_t seal_bytes = 512;

/// The running checksum and length of a file's bytes, in the order of the file.
class SealSum {
 public:
  void add(const char* data, std::size_t bytes);
  /// Appends bytes whose checksum was computed separately.
  void add(const SealSum& next);
  /// Returns the seal of a file that consists of the seal and exactly these bytes.
  std::string seal() const;

 private:
  unsigned long crc_ = 0;  ///< CRC-32; 0 for no bytes
  unsigned long long bytes_ = 0;
};

/// Returns the checksum of a section of an open file, computed on several threads. @throws StorageError if
/// the section cannot be read completely
SealSum sum_of_file(int fd, off_t begin, off_t end);
/// Returns true if an open file begins with a seal, valid or not.
bool has_seal(int fd);
/// Returns the reason why an open file does not match its seal; empty if it matches.
std::string broken_seal(int fd);

}  // namespace gaussweep::io
