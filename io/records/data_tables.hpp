#pragma once
/// The tables of results.h5 for formats other than HDF5: rows of cells with the column names of io/SCHEMA.md.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::io {

/// An empty cell, a text, an integer, or a number that may be NaN.
using DataCell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// The name and the unit of a column; `unit` is empty if the column has none.
struct DataColumn {
  std::string name, unit;
};

/// A table whose rows are made on demand.
struct DataTable {
  std::string name;
  std::vector<DataColumn> columns;
  /// Calls its argument once per row, in order.
  std::function<void(const std::function<void(const std::vector<DataCell>&)>&)> each_row;
};

/// Returns records, samples, stages, iterations, devices, hosts.
const std::vector<std::string>& data_table_names();

/// Returns one of these tables. The table `records` begins with the row's number `trial`, to which the tables
/// of details refer. It ends with a column `parameter_NAME` for each method parameter that occurs.
/// @pre `results`, with details, outlives the table; `name` is one of data_table_names
DataTable data_table(const Results& results, const std::string& name);

/// Returns the auxiliary files that SQLite keeps next to a database and applies to any database of that name.
std::vector<std::string> sqlite_companions(const std::filesystem::path& path);

/// Writes all tables as a SQLite database, atomically, and removes the auxiliary files of an older database.
/// The other tables refer to rows of `records` by the number `trial`. The database also has a table `units`
/// and the views best, speedups, failures, sample_times and stage_times. If column names differ only in case,
/// the later ones get a number appended.
/// @param conditions columns for the view `best`, which compares only methods with equal values in them, e.g.
/// `cache` (warm or cold)
/// @throws StorageError, also if this build has no libsqlite3
void write_sqlite(const std::filesystem::path& path, const Results& results,
                  const std::vector<std::string>& conditions);

}  // namespace gaussweep::io
