/// Reads and writes NumPy's .npy files.

#include "io/matrix/npy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <regex>
#include <sstream>

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/file_elements.hpp"
#include "io/matrix/matrix_limits.hpp"

namespace gaussweep::io {
namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_bytes = 6, max_header_bytes = 1 << 16;

[[noreturn]] void refuse_npy(const std::filesystem::path& path, const std::string& message) {
  throw InputError(path.string() + ": " + message);
}

/// Reads exactly `bytes` bytes at an offset. @throws InputError if the file is shorter
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

/// The parsed header of a file.
struct NpyHeader {
  ElementType element;
  bool fortran = false;  ///< column-major
  MatrixShape shape;
  off_t begin = 0;  ///< offset of the first element
};

/// Parses NumPy's name of a type: "<f8", "|b1", "?", "float64". @return kind 0 for an unsupported type
ElementType element_of_numpy(const std::string& text) {
  struct Name {
    const char* text;
    ElementType element;
  };
  static constexpr Name names[] = {
      {"?", {'b', 1}},      {"bool", {'b', 1}},    {"b", {'i', 1}},      {"int8", {'i', 1}},
      {"h", {'i', 2}},      {"int16", {'i', 2}},   {"i", {'i', 4}},      {"int32", {'i', 4}},
      {"q", {'i', 8}},      {"l", {'i', 8}},       {"int64", {'i', 8}},  {"B", {'u', 1}},
      {"uint8", {'u', 1}},  {"H", {'u', 2}},       {"uint16", {'u', 2}}, {"I", {'u', 4}},
      {"uint32", {'u', 4}}, {"Q", {'u', 8}},       {"L", {'u', 8}},      {"uint64", {'u', 8}},
      {"e", {'f', 2}},      {"float16", {'f', 2}}, {"f", {'f', 4}},      {"float32", {'f', 4}},
      {"d", {'f', 8}},      {"float64", {'f', 8}}};
  // The groups are the byte order, the letters of the name and its digits.
  static const std::regex type_pattern("([<>|=]?)([a-zA-Z?]+)([0-9]*)");
  std::smatch parts;
  if (!std::regex_match(text, parts, type_pattern)) return {};
  ElementType element;
  const std::string name = parts[2].str() + parts[3].str();
  const auto* const named =
      std::find_if(std::begin(names), std::end(names), [&](const Name& row) { return name == row.text; });
  if (named != std::end(names)) {
    element = named->element;
  } else if (parts[2].length() == 1 && parts[3].matched && parts[3].length() == 1) {
    element = {name[0], static_cast<std::size_t>(name[1] - '0')};
  }
  element.swapped = parts[1] == ">" && element.bytes > 1;
  // Rejects long double, whose format depends on the writing machine.
  return is_readable(element) ? element : ElementType{};
}

/// Parses the dimensions in "(3, 4)", "(3,)", "()", "(3L, 4L)".
MatrixShape shape_of_numpy(const std::filesystem::path& path, const std::string& text) {
  std::vector<std::uint64_t> dims;
  static const std::regex size_pattern("([0-9]{1,18})L?");
  std::stringstream sizes(text);
  for (std::string size; std::getline(sizes, size, ',');) {
    std::smatch digits;
    size.erase(std::remove(size.begin(), size.end(), ' '), size.end());
    if (size.empty()) continue;  // nothing follows the last comma
    if (!std::regex_match(size, digits, size_pattern))
      refuse_npy(path, "has the shape (" + text + "); allowed: whole numbers");
    dims.push_back(std::stoull(digits[1]));
  }
  MatrixShape shape = shape_of(dims);
  if (!shape.why.empty() && dims.size() > 2)
    shape.why = "has the shape (" + text + "); allowed: 2 dimensions, or 1 (a column)";
  return shape;
}

/// Reads and checks the header.
NpyHeader header_of(const std::filesystem::path& path, const Descriptor& file) {
  unsigned char start[12] = {};
  read_at(path, file, start, sizeof start, 0);
  // A file begins with the magic text (6 bytes), the version (2), the length of the header and the header.
  // The length is little-endian and has 2 bytes in version 1, else 4.
  const int version = start[6];
  if (version < 1 || version > 3)
    refuse_npy(path, ".npy of version " + std::to_string(version) + "; allowed: 1 to 3");
  const std::size_t prefix_bytes = version == 1 ? 10 : 12;
  std::size_t length = start[8] + std::size_t{start[9]} * 256;
  if (version > 1) length += (std::size_t{start[10]} << 16) + (std::size_t{start[11]} << 24);
  if (length > max_header_bytes) refuse_npy(path, "its header is no .npy header");
  std::string text(length, '\0');
  read_at(path, file, text.data(), length, static_cast<off_t>(prefix_bytes));
  // The header is a Python dictionary. Strings have single or double quotes, and those of Python 2 may begin
  // with u.
  std::smatch type, order, shape;
  static const std::regex type_pattern("['\"]descr['\"]\\s*:\\s*u?['\"]([^'\"]{1,30})['\"]"),
      order_pattern("['\"]fortran_order['\"]\\s*:\\s*([Tt]rue|[Ff]alse|1|0)"),
      shape_pattern("['\"]shape['\"]\\s*:\\s*[(\\[]([^)\\]]{0,100})[)\\]]");
  if (!std::regex_search(text, order, order_pattern) || !std::regex_search(text, shape, shape_pattern))
    refuse_npy(path, "its header is no .npy header");
  if (!std::regex_search(text, type, type_pattern))
    refuse_npy(path, std::string("holds records or objects; allowed: ") + readable_types);
  NpyHeader header;
  header.begin = static_cast<off_t>(prefix_bytes + length);
  header.element = element_of_numpy(type[1]);
  if (header.element.kind == 0) {
    const bool is_complex = type[1].str().find('c') != std::string::npos;
    refuse_npy(path, "holds '" + type[1].str() + "'" + (is_complex ? " (complex)" : "") +
                         "; allowed: " + readable_types);
  }
  header.fortran = order[1].str().find_first_of("tT1") == 0;
  header.shape = shape_of_numpy(path, shape[1]);
  if (!header.shape.why.empty()) refuse_npy(path, header.shape.why);
  return header;
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
  Dense<double> matrix{header.shape.rows, header.shape.cols, {}};
  const std::string why = too_large(matrix.rows, matrix.cols);
  if (!why.empty()) refuse_npy(path, why);
  info.format = "npy";
  info.rows = matrix.rows;
  info.cols = matrix.cols;
  info.stored_entries = matrix.rows * matrix.cols;
  info.field = header.element.kind == 'f' ? "real" : "integer";
  info.symmetry = "general";
  // Checks that the file is long enough before memory is allocated.
  char last = 0;
  read_at(path, file, &last, 1,
          header.begin + info.stored_entries * static_cast<off_t>(header.element.bytes) - 1);
  if (!keep) return matrix;
  matrix.data.resize(static_cast<std::size_t>(info.stored_entries));
  off_t at = header.begin;
  ElementSink sink(matrix, header.element, !header.fortran, path.string() + ": ");
  sink.put_all([&](char* to, std::size_t bytes) {
    read_at(path, file, to, bytes, at);
    at += static_cast<off_t>(bytes);
  });
  return matrix;
}

void export_npy(const std::filesystem::path& path, const Dense<double>& a) {
  std::string header = "{'descr': '<f8', 'fortran_order': True, 'shape': (" + std::to_string(a.rows) + ", " +
                       std::to_string(a.cols) + "), }";
  // The format requires that the elements begin at a multiple of 64; the header is padded with blanks.
  constexpr std::size_t prefix_bytes = 10, alignment = 64;
  header.append(alignment - (prefix_bytes + header.size() + 1) % alignment, ' ');
  header += '\n';
  std::string start(magic, magic_bytes);
  start += {'\x01', '\x00', static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  AtomicFile file(path);
  file.write((start + header).data(), prefix_bytes + header.size());
  file.write(a.data.data(), a.data.size() * sizeof(double));
  file.commit();
}

}  // namespace gaussweep::io
