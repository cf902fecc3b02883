/// Implements `gaussweep export`: writes records (results of trials) as CSV, JSON, JSON lines, JUnit XML or
/// SQLite.

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/table.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/summary/junit.hpp"
#include "io/files/atomic_file.hpp"
#include "io/plan/settings.hpp"
#include "io/records/data_tables.hpp"

namespace gaussweep::driver {
namespace {

struct ExportOptions {
  std::vector<std::string> paths;
  std::string format, table = "records", output;
  Filter filter;
  bool force = false, table_is_given = false;
};

/// Returns the value of --format; if it is empty, the format that the ending of the output's name means.
std::string format_of(const ExportOptions& options) {
  const std::string ending = std::filesystem::path(options.output).extension().string();
  static const std::map<std::string, std::string> formats = {
      {"", "csv"},       {".csv", "csv"},       {".json", "json"},      {".jsonl", "jsonl"},
      {".xml", "junit"}, {".sqlite", "sqlite"}, {".sqlite3", "sqlite"}, {".db", "sqlite"}};
  const std::string* known = find_in(formats, ending);
  if (known == nullptr && options.format.empty()) {
    throw UsageError(fmt::format(
        "-o {}: no format has the ending {}; allowed: .csv, .json, .jsonl, .xml (JUnit), .sqlite, "
        ".sqlite3, .db, or give --format",
        options.output, ending));
  }
  std::string format = options.format.empty() ? *known : options.format;
  if (format == "junit" && options.table_is_given)
    throw UsageError(fmt::format("--table {}: JUnit has one test per record; leave it out", options.table));
  if (format != "sqlite") return format;
  if (options.output.empty()) throw UsageError("--format sqlite: needs -o FILE");
  if (options.table_is_given)
    throw UsageError(fmt::format("--table {}: a SQLite file holds all tables; leave it out", options.table));
  return format;
}

/// A file that is replaced atomically, or standard output. Text is written in blocks, so that a large table
/// is never in memory as a whole.
class ExportOutput {
 public:
  explicit ExportOutput(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  void write(const std::string& text) {
    pending_ += text;
    constexpr std::size_t block_bytes = 1 << 20;
    if (pending_.size() >= block_bytes) flush();
  }
  void finish() {
    flush();
    if (file_) file_->commit();
  }

 private:
  void flush() {
    if (file_) {
      file_->write(pending_.data(), pending_.size());
    } else {
      fmt::print("{}", pending_);
    }
    pending_.clear();
  }
  std::optional<io::AtomicFile> file_;
  std::string pending_;
};

void write_csv(const io::DataTable& table, ExportOutput& out) {
  std::vector<Cell> names;
  for (const io::DataColumn& column : table.columns) names.emplace_back(column.name);
  out.write(csv_line(names));
  table.each_row([&](const std::vector<Cell>& row) { out.write(csv_line(row)); });
}

/// Returns the columns of a table with their names as titles.
std::vector<Column> columns_of(const io::DataTable& table) {
  std::vector<Column> columns;
  for (const io::DataColumn& column : table.columns) columns.push_back({column.name, column.name});
  return columns;
}

/// Writes one JSON object per line.
void write_json_lines(const io::DataTable& table, ExportOutput& out) {
  const std::vector<Column> columns = columns_of(table);
  table.each_row([&](const std::vector<Cell>& row) { out.write(json_line(json_row(columns, row)) + '\n'); });
}

/// Writes the same text as json_text, but row by row, so that the whole table is never in memory.
void write_json(const io::DataTable& table, ExportOutput& out) {
  const std::vector<Column> columns = columns_of(table);
  const char* before = "[\n";
  table.each_row([&](const std::vector<Cell>& row) {
    std::string text = before;
    for (const char c : "  " + json_text(json_row(columns, row)))
      text += c == '\n' ? "\n  " : std::string(1, c);
    out.write(text);
    before = ",\n";
  });
  out.write(before[0] == '[' ? "[]\n" : "\n]\n");
}

/// Loads and filters the records, and writes one table, or all tables for SQLite.
void export_tables(const ExportOptions& options) {
  if (!options.output.empty()) check_output(options.output, options.force, options.paths);
  const std::string format = format_of(options);
  if (format == "sqlite") {
    for (const std::string& name : io::sqlite_companions(options.output))
      check_output(name, options.force, options.paths);
  }
  const bool with_details = format == "sqlite" || options.table == "samples" || options.table == "stages" ||
                            options.table == "iterations";
  std::vector<io::DeviceRow> devices;  // one row per run, because peak rates differ between runs
  io::Results results = load_all(options.paths, with_details, /*missing=*/nullptr, &devices);
  results.devices = std::move(devices);
  results.records = filter_records(std::move(results.records), options.filter, IfEmpty::throws);
  if (format == "sqlite") {
    // Settings such as `cache`: times of records with different values cannot be compared.
    std::vector<std::string> conditions;
    for (const io::Setting& setting : io::conditions()) {
      if (setting.condition->separates_tasks) conditions.emplace_back(setting.name);
    }
    return io::write_sqlite(options.output, results, conditions);
  }
  ExportOutput out(options.output);
  if (format == "junit") {
    write_junit(results.records, [&out](const std::string& text) { out.write(text); });
    return out.finish();
  }
  const io::DataTable table = io::data_table(results, options.table);
  if (format == "json") {
    write_json(table, out);
  } else if (format == "jsonl") {
    write_json_lines(table, out);
  } else {
    write_csv(table, out);
  }
  out.finish();
}

}  // namespace

void add_export_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* sub = app.add_subcommand("export", "Write records with all their columns, for other programs");
  sub->add_option("paths", options->paths,
                  "Run directories, directories of run directories, results files or journals")
      ->required();
  allow_values(*sub->add_option("--format", options->format, "Format [by the ending of -o, otherwise csv]"),
               {"csv", "json", "jsonl", "junit", "sqlite"});
  CLI::Option* table = sub->add_option(
      "--table", options->table,
      "The table to write; its column `trial` is a row number in the table `records` with the same filters");
  allow_values(*table->capture_default_str(), io::data_table_names());
  add_filter_options(*sub, options->filter);
  add_output(*sub, options->output, "The file [standard output]");
  sub->add_flag("--force", options->force, "Replace the file if it exists");
  sub->callback([options, table] {
    options->table_is_given = table->count() > 0;
    export_tables(*options);
  });
}

}  // namespace gaussweep::driver
