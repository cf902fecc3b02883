#pragma once
/// The checksums of results.h5 (io/SCHEMA.md): of every column of every table, and of every attribute of the
/// root. HDF5 has none of its own around what we write: a flipped bit in a column's name, type or data reads
/// as another figure. For the .cpp files of `io/` only.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "io/files/digest.hpp"
#include "io/files/hdf5_table.hpp"

namespace gaussweep::io {

/// What a file's checksums say, or what was found in it.
struct FileChecksums {
  struct Table {
    std::size_t rows = 0;
    std::map<std::string, std::string> columns;
  };
  std::map<std::string, Table> tables;
  std::map<std::string, std::string> attributes;

  void add_table(const std::string& name, const h5::TableChecksums& table) {
    tables[name] = {table.rows(), table.columns()};
  }
  void add_attribute(const std::string& name, const std::string& value) {
    attributes[name] = crc32_text(crc32_of(value));
  }
  /// As JSON.
  std::string text() const;
  /// @throws h5::Error where it is not of that form
  static FileChecksums parse(const std::string& text);
  /// Where `found` differs from what this says: "the column 'n' of /records". Empty: nowhere. Of tables and
  /// columns, those that `found` has are compared: a reader may know less than the file holds. What this says
  /// nothing of may be there: people add attributes and columns.
  std::string difference(const FileChecksums& found) const;
};

}  // namespace gaussweep::io
