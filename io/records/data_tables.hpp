#pragma once
/// The tables of results.h5 for other formats than HDF5: rows of cells under the names of io/SCHEMA.md.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::io {

/// Nothing, text, a whole number, or a number that may be NaN.
using DataCell = std::variant<std::monostate, std::string, std::int64_t, double>;

struct DataColumn {
  std::string name, unit;
};

struct DataTable {
  std::string name;
  std::vector<DataColumn> columns;
  /// Calls its argument with each row, one after the other.
  std::function<void(const std::function<void(const std::vector<DataCell>&)>&)> each_row;
};

/// records, samples, stages, iterations, devices, hosts
const std::vector<std::string>& data_table_names();

/// One of these tables. That of records ends with a column `parameter_NAME` for each parameter that some
/// method has.
/// @pre `results`, with details, outlives the table; `name` is one of data_table_names
DataTable data_table(const Results& results, const std::string& name);

/// The files that SQLite keeps next to a database and applies to whatever database has its name.
std::vector<std::string> sqlite_companions(const std::filesystem::path& path);

/// Writes all tables as a SQLite database, atomically, and removes the companions of an older one. It has
/// `records` by the number that `trial` of the others means, `units`, and the views best, speedups, failures,
/// sample_times and stage_times. Of columns whose names differ only in case the later ones get a number.
/// @throws StorageError, also where this build has no libsqlite3
void write_sqlite(const std::filesystem::path& path, const Results& results);

}  // namespace gaussweep::io
