/// Reads MATLAB's files of version 4: a sequence of variables, each a header followed by numbers.

#include <unistd.h>

#include <cctype>
#include <cmath>
#include <optional>

#include "io/matrix/mat_layers.hpp"

namespace gaussweep::io {
namespace {

/// The header of a variable. The decimal digits of `type` are MOPT in MATLAB's documentation: M is the byte
/// order, O is 0, P the number type, and T the class (0 full, 1 text, 2 sparse).
struct Header4 {
  std::uint32_t type = 0, rows = 0, cols = 0, imaginary = 0, name_bytes = 0;
  bool swapped = false;
  /// Returns the decimal digit of `type` at a place: 1, 10 or 100.
  std::uint32_t digit(std::uint32_t place) const { return type / place % 10; }
  bool is_sparse() const { return digit(1) == 2; }
  /// Returns the number type, which the tens digit of `type` encodes.
  ElementType element() const {
    constexpr ElementType types[] = {{'f', 8}, {'f', 4}, {'i', 4}, {'i', 2}, {'u', 2}, {'u', 1}};
    ElementType element = types[digit(10)];
    element.swapped = swapped;
    return element;
  }
};

/// The bytes of a header without the name.
constexpr off_t header_bytes = 5 * sizeof(std::uint32_t);

/// Reads a variable's header; nothing if there is none at this offset.
std::optional<Header4> header_at(const Descriptor& file, off_t at) {
  std::uint32_t words[6] = {};  // the sixth word begins the name, which has at least one character
  if (::pread(file.fd(), words, sizeof words, at) <= header_bytes) return {};
  const bool swapped = words[0] > 0xffff;  // in the right byte order, the type is below 2000
  for (int i = 0; swapped && i < 5; ++i) words[i] = __builtin_bswap32(words[i]);
  const Header4 header{words[0], words[1], words[2], words[3], words[4], swapped};
  const bool is_type =
      header.type < 2000 && header.digit(100) == 0 && header.digit(10) <= 5 && header.digit(1) <= 2;
  const auto letter = reinterpret_cast<const unsigned char*>(words)[header_bytes];
  const bool is_header = is_type && header.rows <= INT32_MAX && header.cols <= INT32_MAX &&
                         header.imaginary <= 1 && header.name_bytes > 1 && header.name_bytes <= 256 &&
                         (std::isalpha(letter) != 0 || letter == '_' || letter > 0x7f);
  return is_header ? std::optional(header) : std::nullopt;
}

/// A variable's numbers as the file stores them: a column-major table from offset `begin`. For a sparse
/// matrix the table has one row per entry, and a last row with the matrix's dimensions.
class Table {
 public:
  Table(const Descriptor& file, off_t begin, const Header4& header)
      : file_(file), begin_(begin), header_(header) {}
  /// Returns `count` numbers of a column, starting with row `first`.
  MatNumbers column(std::uint32_t which, std::uint32_t first, std::uint32_t count) const {
    const ElementType type = header_.element();
    const off_t at = begin_ + (off_t{which} * header_.rows + first) * static_cast<off_t>(type.bytes);
    MatBytes bytes(file_, at, at + off_t{count} * static_cast<off_t>(type.bytes), false);
    return read_numbers(bytes, type, count);
  }

 private:
  const Descriptor& file_;
  off_t begin_;
  const Header4& header_;
};

/// Returns the number of rows (`which` 0) or columns (1) of a sparse matrix, from the last row of its table.
std::uint64_t size_of_sparse(const Table& table, const Header4& header, std::uint32_t which) {
  const double size = table.column(which, header.rows - 1, 1).values.front();
  if (!(size >= 0 && size <= INT32_MAX && size == std::floor(size)))
    throw BrokenMat("a sparse matrix has no size");
  return static_cast<std::uint64_t>(size);
}

/// Reads the entries of a sparse matrix from a table with the columns row, column and value. The file counts
/// rows and columns from 1.
void read_entries4(const Table& table, const Header4& header, MatVariables& variables) {
  const std::uint32_t count = header.rows - 1;
  const MatNumbers rows = table.column(0, 0, count), cols = table.column(1, 0, count);
  variables.add_sparse_entries(table.column(2, 0, count), true, [&](std::size_t i) {
    return std::pair(rows.values[i] - 1, cols.values[i] - 1);
  });
}

/// Adds a variable, and reads its elements if they are wanted.
void walk_variable4(const Descriptor& file, off_t begin, const Header4& header, const std::string& name,
                    MatVariables& variables) {
  const Table table(file, begin, header);
  Candidate candidate{name, 0, 0, {}};
  MatrixShape shape = shape_of({header.rows, header.cols});
  const bool is_complex = header.imaginary != 0 || (header.is_sparse() && header.cols == 4);
  if (is_complex) {
    candidate.why =
        std::string(header.is_sparse() ? "is sparse and complex" : "is complex") + "; allowed: real numbers";
    candidate.is_unread_matrix = header.rows > 1 && header.cols > 1;
  } else if (header.is_sparse()) {
    if (header.cols != 3 || header.rows < 1) throw BrokenMat("a sparse matrix is no table of three columns");
    shape = shape_of({size_of_sparse(table, header, 0), size_of_sparse(table, header, 1)});
  } else if (header.digit(1) == 1) {
    candidate.why = "is a text; allowed: numbers";
  }
  if (candidate.why.empty()) candidate.why = shape.why;
  candidate.rows = shape.rows;
  candidate.cols = shape.cols;
  if (!variables.add(candidate)) return;
  if (header.is_sparse()) return read_entries4(table, header, variables);
  const std::uint64_t bytes = header.element().bytes * header.rows * std::uint64_t{header.cols};
  MatBytes source(file, begin, begin + static_cast<off_t>(bytes), false);
  variables.read_full(source, header.element(), header.element().kind == 'f');
}

}  // namespace

bool is_mat4(const Descriptor& file) {
  return header_at(file, 0).has_value();
}

void walk_mat4(const Descriptor& file, MatVariables& variables) {
  const off_t end = ::lseek(file.fd(), 0, SEEK_END);
  for (off_t at = 0; at < end;) {
    const std::optional<Header4> header = header_at(file, at);
    if (!header) throw BrokenMat("a variable has no header");
    std::string name(header->name_bytes, '\0');
    MatBytes(file, at + header_bytes, end, false).read(name.data(), name.size());
    name.resize(std::min(name.find('\0'), name.size()));
    at += header_bytes + header->name_bytes;
    // The imaginary parts, if any, follow the real parts.
    const std::uint64_t count = std::uint64_t{header->rows} * header->cols * (header->imaginary + 1);
    const std::uint64_t bytes = header->element().bytes;
    if (count > static_cast<std::uint64_t>(end - at) / bytes) throw BrokenMat(mat_cut_off);
    walk_variable4(file, at, *header, name, variables);
    at += static_cast<off_t>(count * bytes);
  }
}

}  // namespace gaussweep::io
