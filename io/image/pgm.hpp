#pragma once
/// Reads PGM images with libnetpbm. Errors of libnetpbm, which by default end the process, are caught here.
/// For io/image/image.cpp only.

#include <cstdint>
#include <cstdio>
#include <string>

namespace gaussweep::io {

/// Reads a PGM from memory, row by row.
class PgmReader {
 public:
  /// Reads the header. @param bytes must outlive the reader
  explicit PgmReader(const std::string& bytes);
  ~PgmReader();
  PgmReader(const PgmReader&) = delete;
  PgmReader& operator=(const PgmReader&) = delete;
  bool ok() const { return error_.empty(); }
  /// Returns the error of the file; empty if none was found yet.
  const std::string& error() const { return error_; }
  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }
  /// Returns the grey level that stands for white (PGM's maxval), at least 1.
  unsigned top_level() const { return top_level_; }
  /// Reads the next row, `width` levels. Returns false if the file is damaged or ends.
  bool read_row(unsigned* levels);

 private:
  template <class Work>
  void guarded(Work work);
  std::FILE* file_ = nullptr;
  int width_ = 0, height_ = 0, format_ = 0;
  unsigned top_level_ = 0;
  std::string error_;
};

}  // namespace gaussweep::io
