/// Recognises files that no reader accepts: compressed files, archives and other programs' formats.

#include "io/matrix/file_containers.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace gaussweep::io {
namespace {

using namespace std::string_view_literals;

/// A compression format, with the commands that unpack a single file and a tar archive.
struct Compression {
  std::string_view magic, name, unpack, unpack_tar;
};
constexpr Compression compressions[] = {{"\x1f\x8b"sv, "gzip", "gunzip -k", "tar -xzf"},
                                        {"BZh"sv, "bzip2", "bunzip2 -k", "tar -xjf"},
                                        {"\xfd"
                                         "7zXZ\0"sv,
                                         "xz", "unxz -k", "tar -xJf"},
                                        {"\x28\xb5\x2f\xfd"sv, "zstd", "unzstd", "tar --zstd -xf"},
                                        {"LZIP"sv, "lzip", "lunzip -k", "tar --lzip -xf"},
                                        {"\x1f\x9d"sv, "compress", "gunzip -k", "tar -xZf"}};

/// An unsupported format, identified by `magic` at `offset`, and the advice for the user.
struct UnsupportedFormat {
  std::size_t offset;
  std::string_view magic, advice;
};
constexpr UnsupportedFormat unsupported_formats[] = {
    {0, "7z\xbc\xaf\x27\x1c"sv, "is a 7-Zip archive; open it first (7z x) and give the matrix file in it"},
    {257, "ustar"sv, "is a tar archive; open it first (tar -xf) and give the .mtx file in it"},
    {0, "\xff\xfe"sv, "is a text in UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)"},
    {0, "\xfe\xff"sv, "is a text in UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)"},
    {0, "# Created by Octave"sv, "is in Octave's text format; save it again with: save -v7 FILE.mat A"},
    {0, "Octave-1-"sv, "is in Octave's binary format; save it again with: save -v7 FILE.mat A"},
    {0, "CDF\1"sv, "is a netCDF file of the classic format; convert it first (nccopy -k nc4)"},
    {0, "CDF\2"sv, "is a netCDF file of the classic format; convert it first (nccopy -k nc4)"},
    {0, "CDF\5"sv, "is a netCDF file of the classic format; convert it first (nccopy -k nc4)"},
    {0, "version https://git-lfs"sv, "is a pointer of Git LFS; get the file with: git lfs pull"}};

}  // namespace

std::string container_advice(const std::filesystem::path& path, const Descriptor& file) {
  char start[512] = "";
  const ssize_t count = ::pread(file.fd(), start, sizeof start, 0);
  const std::string_view bytes(start, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count == 0) return "is empty; give a Matrix Market, NumPy, MATLAB or HDF5 file";
  const auto has = [&](std::size_t offset, std::string_view magic) {
    return bytes.size() >= offset + magic.size() && bytes.substr(offset, magic.size()) == magic;
  };
  for (const Compression& compression : compressions) {
    if (!has(0, compression.magic)) continue;
    const std::string extension = path.extension();
    const bool is_tar = path.stem().extension() == ".tar" || extension.rfind(".t", 0) == 0;
    return "is compressed by " + std::string(compression.name) + "; unpack it first (" +
           std::string(is_tar ? compression.unpack_tar : compression.unpack) + ") and give the " +
           (is_tar ? ".mtx file in it" : "unpacked file");
  }
  if (has(0, "PK\3\4"sv)) {
    const bool is_numpy = path.extension() == ".npz" || bytes.find(".npyPK") != bytes.npos ||
                          (bytes.size() > 30 && bytes.substr(30, 100).find(".npy") != bytes.npos);
    return is_numpy
               ? "is an archive of NumPy arrays (.npz); open it first (unzip) and give the .npy file of the "
                 "matrix; if it is sparse, use scipy.sparse.load_npz and scipy.io.mmwrite"
               : "is a zip archive; open it first (unzip) and give the matrix file in it";
  }
  for (const UnsupportedFormat& format : unsupported_formats) {
    if (has(format.offset, format.magic)) return std::string(format.advice);
  }
  return {};
}

}  // namespace gaussweep::io
