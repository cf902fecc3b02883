/// Writes and reads results.h5 with checksums of all tables and attributes.

#include "io/records/results.hpp"

#include <sys/stat.h>

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>
#include "io/files/atomic_file.hpp"
#include "io/files/digest.hpp"
#include "io/files/errors.hpp"
#include "io/files/hdf5_inside.hpp"
#include "io/files/hdf5_memory.hpp"
#include "io/files/hdf5_table.hpp"
#include "io/files/open_file.hpp"
#include "io/records/results_columns.hpp"

namespace gaussweep::io {
namespace {

constexpr long long schema_version = 1;
constexpr const char* version_attribute = "schema_version";
// An attribute of each table: a JSON object that maps columns to units.
constexpr const char* units_attribute = "units";
// An attribute of the table /records: the checksums of all tables and attributes of the file.
constexpr const char* checksums_attribute = "checksums";

// --- Checksums of every column of every table and of every attribute of the root. HDF5's own checksums do
// not cover these: a flipped bit in a column's name, type or data would silently change a number.

/// The checksums that a file contains, or those computed from its contents.
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
  /// Returns the checksums as JSON.
  std::string text() const;
  /// Parses the result of text(). @throws h5::Error if it has another form
  static FileChecksums parse(const std::string& text);
  /// Returns the first difference between these recorded checksums and the computed ones, e.g. "the column
  /// 'n' of /records"; empty if there is none. It compares only the tables and columns in `found`, because a
  /// reader may know fewer than the file has. Attributes and columns without a recorded checksum are allowed:
  /// users add them.
  std::string difference(const FileChecksums& found) const;
};

[[noreturn]] void fail_malformed() {
  throw h5::Error("its checksums are no JSON object of the form that io/SCHEMA.md gives");
}

std::map<std::string, std::string> texts_of(const nlohmann::json& json) {
  if (!json.is_object()) fail_malformed();
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_string()) fail_malformed();
    texts[name] = value.get<std::string>();
  }
  return texts;
}

std::string FileChecksums::text() const {
  nlohmann::json json = {{"attributes", attributes}, {"tables", nlohmann::json::object()}};
  for (const auto& [name, table] : tables)
    json["tables"][name] = {{"rows", table.rows}, {"columns", table.columns}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

FileChecksums FileChecksums::parse(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("attributes") || !json.contains("tables")) fail_malformed();
  FileChecksums result;
  result.attributes = texts_of(json["attributes"]);
  if (!json["tables"].is_object()) fail_malformed();
  for (const auto& [name, table] : json["tables"].items()) {
    if (!table.is_object() || !table.contains("rows") || !table.contains("columns")) fail_malformed();
    if (!table["rows"].is_number_unsigned()) fail_malformed();
    result.tables[name] = {table["rows"].get<std::size_t>(), texts_of(table["columns"])};
  }
  return result;
}

std::string FileChecksums::difference(const FileChecksums& found) const {
  for (const auto& [name, crc] : attributes) {
    const auto other = found.attributes.find(name);
    if (other == found.attributes.end() || other->second != crc) return "the attribute '" + name + "'";
  }
  for (const auto& [name, table] : found.tables) {
    const auto recorded = tables.find(name);
    if (recorded == tables.end()) continue;
    if (recorded->second.rows != table.rows) return "the number of rows of " + name;
    for (const auto& [column, crc] : table.columns) {
      const auto expected = recorded->second.columns.find(column);
      if (expected != recorded->second.columns.end() && expected->second != crc)
        return "the column '" + column + "' of " + name;
    }
  }
  return "";
}

// --- Writing

/// Writes a table with its attribute `units`, and adds its checksums.
template <class Columns, class Row>
void write_checked(const h5::File& file, const char* name, const Columns& columns,
                   const std::vector<Row>& rows, FileChecksums& checksums) {
  checksums.add_table(name, h5::write_table(file, name, columns, rows));
  nlohmann::json units = nlohmann::json::object();
  for (const auto& column : columns) {
    if (!column.unit.empty()) units[std::string(column.name)] = column.unit;
  }
  h5::write_attribute(h5::open_dataset(file, name), units_attribute, units.dump());
}

/// Writes a table of details (samples, stages or iterations). Its rows can take hundreds of megabytes, so
/// only one such table is in memory at a time. @param for_each_row calls its argument with every row
template <class Row, class ForEachRow>
void write_rows(const h5::File& file, const char* name, const std::vector<h5::Column<Row>>& columns,
                const ForEachRow& for_each_row, FileChecksums& checksums) {
  std::size_t count = 0;
  for_each_row([&](const Row&) { ++count; });
  std::vector<Row> rows;
  rows.reserve(count);
  for_each_row([&](const Row& row) { rows.push_back(row); });
  write_checked(file, name, columns, rows, checksums);
}

/// Writes the tables of samples, stages and iterations.
void write_details(const h5::File& file, const std::vector<Record>& records, FileChecksums& checksums) {
  write_rows(
      file, "/samples", sample_columns(), [&](const auto& visit) { each_sample(records, visit); }, checksums);
  write_rows(
      file, "/stages", stage_columns(), [&](const auto& visit) { each_stage(records, visit); }, checksums);
  write_rows(
      file, "/iterations", iteration_columns(), [&](const auto& visit) { each_iteration(records, visit); },
      checksums);
}

// --- Reading

bool has_table(const h5::File& file, const char* name) {
  return h5::check(H5Lexists(file, name, H5P_DEFAULT), "look for " + std::string(name)) > 0;
}

/// Reads the tables of a file. If the file has checksums, also computes the checksums of the data.
class CheckedTables {
 public:
  explicit CheckedTables(const h5::File& file) : file_(file) {
    const h5::Dataset records = h5::open_dataset(file, "/records");
    if (h5::check(H5Aexists(records, checksums_attribute), "look for the checksums") == 0) return;
    const h5::Attribute attribute(H5Aopen(records, checksums_attribute, H5P_DEFAULT), "open the checksums");
    recorded_ = FileChecksums::parse(h5::read_text(attribute, checksums_attribute));
  }
  bool has_checksums() const { return recorded_.has_value(); }
  template <class Row, class Columns>
  std::vector<Row> read(const char* name, const Columns& columns,
                        std::initializer_list<std::string_view> required) {
    if (!recorded_) return h5::read_table<Row>(file_, name, columns, required);
    h5::TableChecksums found{h5::Layout()};  // empty; read_table replaces it
    std::vector<Row> rows = h5::read_table<Row>(file_, name, columns, required, &found);
    computed_.add_table(name, found);
    return rows;
  }
  template <class Row, class Columns>
  std::vector<Row> read_optional(const char* name, const Columns& columns,
                                 std::initializer_list<std::string_view> required = {"trial"}) {
    if (has_table(file_, name)) return read<Row>(name, columns, required);
    computed_.tables[name] = {};  // no rows, so the check fails if the file recorded some
    return {};
  }
  /// Compares all checksums. @pre all tables that the caller needs were read
  /// @throws h5::Error if a checksum of `attributes`, `version` or a table differs from the recorded one
  void check(const std::map<std::string, std::string>& attributes, long long version) {
    if (!recorded_) return;
    for (const auto& [name, value] : attributes) computed_.add_attribute(name, value);
    computed_.add_attribute(version_attribute, std::to_string(version));
    const std::string different = recorded_->difference(computed_);
    if (!different.empty())
      throw h5::Error("it is damaged: the checksum of " + different + " does not agree");
  }

 private:
  const h5::File& file_;
  std::optional<FileChecksums> recorded_;
  FileChecksums computed_;
};

DetailRows read_details(CheckedTables& tables) {
  DetailRows rows;
  rows.samples = tables.read_optional<SampleRow>("/samples", sample_columns());
  rows.stages = tables.read_optional<StageRow>("/stages", stage_columns());
  rows.iterations = tables.read_optional<IterationRow>("/iterations", iteration_columns());
  return rows;
}

/// Returns true if an open file no longer has a name, for example because another file was renamed to it.
bool is_removed(const Descriptor& file) {
  struct stat file_status {};
  return fstat(file.fd(), &file_status) == 0 && file_status.st_nlink == 0;
}

/// Opens the file that has this name now. HDF5 opens files only by name, here by the descriptor's name in
/// /proc. Opening by that name fails if a running sweep has replaced the file, so it is repeated.
h5::File open_current(const std::filesystem::path& path) {
  constexpr int max_attempts = 20;
  for (int attempt = 1;; ++attempt) {
    const Opened opened = open_regular(path);
    if (!opened) throw h5::Error(opened.why);
    try {
      // Opens the file of the descriptor, even if `path` now names another file; errors show `path`.
      return h5::open_read_only(opened.file.path(), path);
    } catch (const h5::Error&) {
      if (attempt == max_attempts || !is_removed(opened.file)) throw;
    }
  }
}

long long read_version(const h5::File& file) {
  const h5::Attribute attribute(H5Aopen(file, "schema_version", H5P_DEFAULT), "open schema_version");
  const h5::Type type(H5Aget_type(attribute), "read the type of schema_version");
  const h5::Space space(H5Aget_space(attribute), "read the shape of schema_version");
  if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
    throw h5::Error("the attribute schema_version is not a whole number");
  long long version = 0;
  h5::check(H5Aread(attribute, H5T_NATIVE_LLONG, &version), "read schema_version");
  return version;
}

}  // namespace

std::vector<char> results_image(const std::filesystem::path& path, const Results& results) {
  const h5::Quiet quiet;
  try {
    const h5::File file = h5::create_in_memory("results.h5");
    FileChecksums checksums;
    h5::write_attribute(file, version_attribute, schema_version);
    checksums.add_attribute(version_attribute, std::to_string(schema_version));
    for (const auto& [name, value] : results.attributes) {
      if (name == version_attribute) continue;
      h5::write_attribute(file, name, value);
      checksums.add_attribute(name, value.c_str());  // HDF5 stores the text up to the first NUL
    }
    write_checked(file, "/records", record_fields(), results.records, checksums);
    write_details(file, results.records, checksums);
    write_checked(file, "/devices", device_columns(), results.devices, checksums);
    write_checked(file, "/hosts", host_columns(), results.hosts, checksums);
    // The checksums are an attribute of a table. Programs that copy parts of a file to a new one copy the
    // attributes of the root, but not those of tables. Checksums in the root would be wrong in such a copy.
    h5::write_attribute(h5::open_dataset(file, "/records"), checksums_attribute, checksums.text());
    return h5::image_of(file);
  } catch (const h5::Error& error) {
    throw StorageError("Cannot write '" + path.string() + "': " + error.what() +
                       ". An earlier file of this name is unchanged.");
  }
}

void write_results_image(const std::filesystem::path& path, const std::vector<char>& image) {
  write_atomically(path, image.data(), image.size());
}

void write_results(const std::filesystem::path& path, const Results& results) {
  write_results_image(path, results_image(path, results));
}

Results read_results(const std::filesystem::path& path, bool with_details) {
  const h5::Quiet quiet;
  const std::string expected = "; expected a results.h5 of gaussweep (io/SCHEMA.md)";
  try {
    const h5::File file = open_current(path);
    if (H5Aexists(file, version_attribute) <= 0 || !has_table(file, "/records")) {
      throw InputError("'" + path.string() +
                       "' is an HDF5 file, but not one of gaussweep's results: it lacks " +
                       "the attribute schema_version or the table /records" + expected + ".");
    }
    const long long version = read_version(file);
    if (version > schema_version) {
      throw InputError("'" + path.string() + "' was written by a newer gaussweep (schema version " +
                       std::to_string(version) + "; this one reads versions up to " +
                       std::to_string(schema_version) + "): read it with that version or a later one.");
    }
    Results results;
    CheckedTables tables(file);
    results.checked = tables.has_checksums();
    results.attributes = h5::read_texts(file);
    results.records =
        tables.read<Record>("/records", record_fields(), {"key", "problem", "method", "status"});
    if (with_details) take_details(results.records, read_details(tables));
    results.devices = tables.read_optional<DeviceRow>("/devices", device_columns(), {});
    results.hosts = tables.read_optional<HostRow>("/hosts", host_columns(), {});
    tables.check(results.attributes, version);
    return results;
  } catch (const h5::Error& failure) {
    throw InputError("Cannot read '" + path.string() + "': " + failure.what() + expected + ".");
  }
}

}  // namespace gaussweep::io
