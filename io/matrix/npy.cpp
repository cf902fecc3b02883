#include "io/matrix/npy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <regex>

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/matrix_limits.hpp"

namespace gaussweep::io {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_bytes = 6, most_header = 1 << 16;

[[noreturn]] void refuse_npy(const std::filesystem::path& path, const std::string& message) {
  throw InputError(path.string() + ": " + message);
}

void read_at(const std::filesystem::path& path, const Descriptor& file, void* data, std::size_t bytes,
             off_t at) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::pread(file.fd(), to, bytes, at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_npy(path, std::string("cannot be read on: ") + std::strerror(errno));
    if (count == 0) refuse_npy(path, "the file ends before its elements do");
    to += count;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

/// What stands before the elements.
struct NpyHeader {
  char kind = 'f';  ///< f, i, u or b, as NumPy says it
  std::size_t size = 8;
  bool swapped = false, fortran = false;
  std::int64_t rows = 0, cols = 1;
  off_t begin = 0;
};

NpyHeader header_of(const std::filesystem::path& path, const Descriptor& file) {
  unsigned char start[12] = {};
  read_at(path, file, start, sizeof start, 0);
  const int version = start[6];
  if (version < 1 || version > 3)
    refuse_npy(path, ".npy of version " + std::to_string(version) + "; allowed: 1 to 3");
  const std::size_t before = version == 1 ? 10 : 12;
  std::size_t length = start[8] + std::size_t{start[9]} * 256;
  if (version > 1) length += (std::size_t{start[10]} << 16) + (std::size_t{start[11]} << 24);
  if (length > most_header) refuse_npy(path, "its header is no .npy header");
  std::string text(length, '\0');
  read_at(path, file, text.data(), length, static_cast<off_t>(before));
  NpyHeader header;
  header.begin = static_cast<off_t>(before + length);
  std::smatch type, order, shape;
  static const std::regex of_type("'descr': *'([<>|=])([a-zA-Z])([0-9]{1,3})'"),
      of_order("'fortran_order': *(True|False)"),
      of_shape("'shape': *\\(([0-9]{1,18})?,? *([0-9]{1,18})?,?([^)]*)\\)");
  if (!std::regex_search(text, order, of_order) || !std::regex_search(text, shape, of_shape))
    refuse_npy(path, "its header is no .npy header");
  if (!std::regex_search(text, type, of_type))
    refuse_npy(path, "holds records or objects; allowed: real numbers");
  header.kind = type[2].str().front();
  header.size = std::stoul(type[3]);
  header.swapped = type[1] == ">" && header.size > 1;
  header.fortran = order[1] == "True";
  const bool is_real = header.kind == 'f' && (header.size == 4 || header.size == 8);
  const bool is_whole = (header.kind == 'i' || header.kind == 'u') &&
                        (header.size == 1 || header.size == 2 || header.size == 4 || header.size == 8);
  const bool is_bool = header.kind == 'b' && header.size == 1;
  if (!is_real && !is_whole && !is_bool)
    refuse_npy(path,
               "holds '" + type[1].str() + type[2].str() + type[3].str() +
                   "'; allowed: float32, float64, integers and bool (complex, half and text are not read)");
  if (!shape[1].matched || shape[3].length() > 0)
    refuse_npy(path, "has the shape (" + shape[0].str().substr(shape[0].str().find('(') + 1) +
                         "; allowed: 1 or 2 dimensions");
  header.rows = std::stoll(shape[1]);
  header.cols = shape[2].matched ? std::stoll(shape[2]) : 1;
  if (header.rows < 1 || header.cols < 1) refuse_npy(path, "is empty");
  return header;
}

template <class T>
double value_of(const char* from, bool swapped) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swapped) std::reverse(bytes, bytes + sizeof(T));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

using NpyReader = double (*)(const char*, bool);

NpyReader reader_of(const NpyHeader& header) {
  if (header.kind == 'f') return header.size == 4 ? value_of<float> : value_of<double>;
  const bool is_signed = header.kind == 'i';
  switch (header.size) {
    case 1:
      return is_signed ? value_of<std::int8_t> : value_of<std::uint8_t>;
    case 2:
      return is_signed ? value_of<std::int16_t> : value_of<std::uint16_t>;
    case 4:
      return is_signed ? value_of<std::int32_t> : value_of<std::uint32_t>;
    default:
      return is_signed ? value_of<std::int64_t> : value_of<std::uint64_t>;
  }
}

}  // namespace

bool is_npy(const Descriptor& file) {
  char start[magic_bytes] = "";
  return ::pread(file.fd(), start, sizeof start, 0) == sizeof start &&
         std::memcmp(start, magic, sizeof start) == 0;
}

Dense<double> read_npy(const std::filesystem::path& path, const Descriptor& file, bool keep,
                       MatrixInfo& info) {
  const NpyHeader header = header_of(path, file);
  const std::string why = too_large(header.rows, header.cols);
  if (!why.empty()) refuse_npy(path, why);
  info.format = "npy";
  info.rows = header.rows;
  info.cols = header.cols;
  info.stored_entries = header.rows * header.cols;
  info.field = header.kind == 'f' ? "real" : "integer";
  info.symmetry = "general";
  Dense<double> matrix{header.rows, header.cols, {}};
  // Before memory is taken: whether the file is as long as it says.
  char last = 0;
  read_at(path, file, &last, 1, header.begin + info.stored_entries * static_cast<off_t>(header.size) - 1);
  if (!keep) return matrix;
  matrix.data.resize(static_cast<std::size_t>(info.stored_entries));
  const NpyReader read = reader_of(header);
  // A line of the file is a row, or, in Fortran's order, a column.
  const std::int64_t lines = header.fortran ? header.cols : header.rows,
                     length = header.fortran ? header.rows : header.cols;
  std::string line(static_cast<std::size_t>(length) * header.size, '\0');
  for (std::int64_t i = 0; i < lines; ++i) {
    read_at(path, file, line.data(), line.size(), header.begin + static_cast<off_t>(line.size()) * i);
    for (std::int64_t j = 0; j < length; ++j) {
      const double value = read(line.data() + static_cast<std::size_t>(j) * header.size, header.swapped);
      const bool is_held = header.kind == 'f' ? std::isfinite(value) : std::abs(value) < largest_exact;
      const std::int64_t row = header.fortran ? j : i, col = header.fortran ? i : j;
      if (!is_held) {
        refuse_npy(path, "element (" + std::to_string(row + 1) + ", " + std::to_string(col + 1) +
                             ") is no finite number, or an integer beyond 2^53");
      }
      matrix.data[static_cast<std::size_t>(row + col * header.rows)] = value;
    }
  }
  return matrix;
}

void export_npy(const std::filesystem::path& path, const Dense<double>& a) {
  std::string words = "{'descr': '<f8', 'fortran_order': True, 'shape': (" + std::to_string(a.rows) + ", " +
                      std::to_string(a.cols) + "), }";
  constexpr std::size_t before = 10, alignment = 64;
  words.append(alignment - (before + words.size() + 1) % alignment, ' ');
  words += '\n';
  std::string start(magic, magic_bytes);
  start += {'\x01', '\x00', static_cast<char>(words.size() % 256), static_cast<char>(words.size() / 256)};
  AtomicFile file(path);
  file.write((start + words).data(), before + words.size());
  file.write(a.data.data(), a.data.size() * sizeof(double));
  file.commit();
}

}  // namespace gaussweep::io
