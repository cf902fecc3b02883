#pragma once
/// Tables in HDF5: one-dimensional datasets of a compound type. A list of columns maps each row to a struct.
/// A packed row is a row's bytes in a buffer, without padding between the columns. For the .cpp files of
/// `io/` only.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/files/hdf5_handles.hpp"
#include "io/files/text.hpp"

namespace gaussweep::io::h5 {

/// A column: its name and the member of Row that holds it. (io::Field is the same for Row = Record.)
template <class Row>
struct Column {
  std::string_view name;
  std::variant<Text Row::*, std::int64_t Row::*, double Row::*> member;
  std::string_view unit{};  ///< the quantity's unit, if any
};

/// The type of a column's cells. The order is that of the alternatives of Column::member, so that
/// `member.index()` converts to a Kind.
enum class Kind { text, integer, real };

/// A column's position in a packed row. `bytes` is 0 if the file has no such column.
struct Member {
  std::string name;
  Kind kind = Kind::text;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  H5T_cset_t character_set = H5T_CSET_UTF8;  // the file's set, because HDF5 does not convert between sets
};

/// The layout of a packed row: null-padded text of fixed length, and numbers of 8 bytes.
struct Layout {
  std::vector<Member> members;
  std::size_t row_bytes = 0;
  void add(std::string name, Kind kind, std::size_t bytes) {
    members.push_back({std::move(name), kind, row_bytes, bytes, H5T_CSET_UTF8});
    row_bytes += bytes;
  }
};

/// Computes the checksum of each column while rows are added. A checksum covers, per row, the text without
/// padding plus one NUL, or the 8 little-endian bytes of the number.
class TableChecksums {
 public:
  /// @param layout of the packed rows
  explicit TableChecksums(const Layout& layout);
  /// Adds `count` rows.
  void add(const char* packed, std::size_t count);
  std::size_t rows() const { return rows_; }
  /// Returns the checksum of each column; empty for a missing column.
  std::map<std::string, std::string> columns() const;

 private:
  Layout layout_;
  std::vector<std::uint32_t> crcs_;
  std::string gathered_;  ///< the bytes of one column, reused
  std::size_t rows_ = 0;
};

/// Writes a new table of `rows` rows. Its columns are strings, and int64 and float64 in little-endian order.
/// The dataset is chunked, shuffled, deflated and extensible.
class TableWriter {
 public:
  /// @throws Error
  TableWriter(hid_t file, const std::string& name, const Layout& layout, std::size_t rows);
  /// Returns the number of rows per chunk; writes of whole chunks are fastest.
  std::size_t chunk_rows() const { return chunk_rows_; }
  /// Writes packed rows `first` … `first + count - 1`. @throws Error
  void write(std::size_t first, std::size_t count, const char* packed);

 private:
  std::string action_;  ///< for error messages: "write the table 'NAME'"
  std::size_t chunk_rows_;
  Type memory_;  ///< the type of packed rows in memory
  Space space_;
  Dataset dataset_;
};

/// Reads a table with any columns in any order. Converts numbers of other widths to 8 bytes.
class TableReader {
 public:
  /// @param wanted the columns to look for; missing columns get `bytes` 0 in `layout()`
  /// @throws Error if it is not a table, if a column has another kind, or if it claims more rows than its
  /// bytes can hold
  TableReader(hid_t file, const std::string& name, const std::vector<std::pair<std::string, Kind>>& wanted);
  const Layout& layout() const { return layout_; }
  std::size_t rows() const { return rows_; }
  /// Returns the number of rows to read at a time for speed: a multiple of the chunk's rows if possible.
  std::size_t chunk_rows() const { return chunk_rows_; }
  /// Reads rows `first` … `first + count - 1`, packed. @throws Error
  void read(std::size_t first, std::size_t count, char* packed) const;

 private:
  std::string action_;  ///< for error messages: "read the table 'NAME'"
  std::size_t rows_ = 0, chunk_rows_ = 0;
  Layout layout_;
  Type memory_;  ///< the type of packed rows in memory
  Space space_;
  Dataset dataset_;
};

/// Returns text as a table stores it: invalid UTF-8 becomes U+FFFD. Text beyond 4096 bytes is cut and ends
/// with an ellipsis, because every row is as wide as the longest value. A changed text is stored in
/// `scratch`.
std::string_view stored_text(std::string_view text, std::string& scratch);

/// Copy one cell into a packed row (pack) or out of it (unpack). `member` is the member of Row that holds the
/// cell, and `cell` describes its column. Rows with equal texts share the text's storage through `pool`.
template <class Row>
void pack(const Row& row, Text Row::*member, const Member& cell, char* out) {
  std::string scratch;
  const std::string_view text = stored_text(row.*member, scratch);
  text.copy(out + cell.offset, text.size());
  std::memset(out + cell.offset + text.size(), 0, cell.bytes - text.size());
}
template <class Row, class Number>
void pack(const Row& row, Number Row::*member, const Member& cell, char* out) {
  std::memcpy(out + cell.offset, &(row.*member), sizeof(Number));
}

template <class Row>
void unpack(const char* in, const Member& cell, Text Row::*member, Row& row, TextPool& pool) {
  std::size_t length = cell.bytes;
  while (length > 0 && in[cell.offset + length - 1] == '\0') --length;
  row.*member = pool.of({in + cell.offset, length});
}
template <class Row, class Number>
void unpack(const char* in, const Member& cell, Number Row::*member, Row& row, TextPool&) {
  std::memcpy(&(row.*member), in + cell.offset, sizeof(Number));
}

/// Writes `rows` as the table `name`; each text column is as wide as its longest value, at least 1.
/// @return the checksums of the written columns. @throws Error
template <class Columns, class Row>
TableChecksums write_table(hid_t file, const std::string& name, const Columns& columns,
                           const std::vector<Row>& rows) {
  Layout layout;
  for (const auto& column : columns) {
    std::size_t bytes = 8;
    if (const auto* text = std::get_if<Text Row::*>(&column.member)) {
      bytes = 1;
      std::string scratch;
      // `*text` is the pointer to member, and `row.**text` the row's text.
      for (const Row& row : rows) bytes = std::max(bytes, stored_text(row.**text, scratch).size());
    }
    layout.add(std::string(column.name), static_cast<Kind>(column.member.index()), bytes);
  }
  TableWriter table(file, name, layout, rows.size());
  TableChecksums checksums(layout);
  std::vector<char> packed(std::min(table.chunk_rows(), rows.size()) * layout.row_bytes);
  for (std::size_t first = 0; first < rows.size(); first += table.chunk_rows()) {
    const std::size_t count = std::min(table.chunk_rows(), rows.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        char* out = packed.data() + i * layout.row_bytes;
        std::visit([&](auto member) { pack(rows[first + i], member, layout.members[c], out); },
                   columns[c].member);
      }
    }
    checksums.add(packed.data(), count);
    table.write(first, count, packed.data());
  }
  return checksums;
}

/// Reads the table `name`. Missing columns keep Row's defaults; other columns of the table are ignored.
/// @param required columns that must exist
/// @param checksums if given, receives the checksums of the columns that were read
/// @throws Error
template <class Row, class Columns>
std::vector<Row> read_table(hid_t file, const std::string& name, const Columns& columns,
                            std::initializer_list<std::string_view> required,
                            TableChecksums* checksums = nullptr) {
  std::vector<std::pair<std::string, Kind>> wanted;
  for (const auto& column : columns) {
    wanted.emplace_back(std::string(column.name), static_cast<Kind>(column.member.index()));
  }
  const TableReader table(file, name, wanted);
  const Layout& layout = table.layout();
  for (const Member& member : layout.members) {
    if (member.bytes == 0 && std::find(required.begin(), required.end(), member.name) != required.end()) {
      throw Error("the table '" + name + "' lacks the column '" + member.name + "'");
    }
  }
  TableChecksums found(layout);
  TextPool pool;
  std::vector<Row> rows(table.rows());
  std::vector<char> packed(std::min(table.chunk_rows(), rows.size()) * layout.row_bytes);
  for (std::size_t first = 0; first < rows.size(); first += table.chunk_rows()) {
    const std::size_t count = std::min(table.chunk_rows(), rows.size() - first);
    table.read(first, count, packed.data());
    if (checksums != nullptr) found.add(packed.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const char* in = packed.data() + i * layout.row_bytes;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (layout.members[c].bytes == 0) continue;
        std::visit([&](auto member) { unpack(in, layout.members[c], member, rows[first + i], pool); },
                   columns[c].member);
      }
    }
  }
  if (checksums != nullptr) *checksums = std::move(found);
  return rows;
}

}  // namespace gaussweep::io::h5
