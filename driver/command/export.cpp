#include "driver/command/export.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/option_words.hpp"
#include "driver/command/records_output.hpp"
#include "io/files/atomic_file.hpp"

namespace gaussweep::driver {
namespace {

struct ExportOptions {
  std::vector<std::string> paths;
  std::string format = "csv", output;
  bool force = false;
};

/// Every column of /records, a row a record.
Table record_table(const std::vector<io::Record>& records) {
  Table table;
  for (const io::Field& field : io::record_fields())
    table.columns.push_back({std::string(field.name), std::string(field.name)});
  for (const io::Record& record : records) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const io::Field& field : io::record_fields())
      row.push_back(std::visit([&](auto member) -> Cell { return record.*member; }, field.member));
  }
  return table;
}

void export_records(const ExportOptions& options) {
  if (!options.output.empty()) check_output(options.output, options.force);
  const Table table = record_table(load_all(options.paths).records);
  const std::string text =
      options.format == "json" ? json_text(render_json(table)) + "\n" : render_csv(table);
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    io::write_atomically(options.output, text.data(), text.size());
  }
}

}  // namespace

void add_export_command(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* sub = app.add_subcommand("export", "Write records with all their columns, for other programs");
  sub->add_option("paths", options->paths,
                  "Run directories, directories of them (shards, nights), results files or journals")
      ->required();
  allow_words(*sub->add_option("--format", options->format, "Format of the output")->capture_default_str(),
              {"csv", "json"});
  refuse_empty(*sub->add_option("-o,--output", options->output, "The file [standard output]"));
  sub->add_flag("--force", options->force, "Replace the file where it exists");
  sub->callback([options] { export_records(*options); });
}

}  // namespace gaussweep::driver
