/// Implements `gaussweep verify`: determines the status (pass, suspect, failed, …) of stored records again
/// with other tolerances.

#include "driver/judge/verify.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/summary.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

struct VerifyOptions {
  std::string path, format = "table", output;
  std::vector<std::string> tolerances;
  bool force = false;
};

/// Prints the records whose status changes, and writes all records if -o is given.
void verify_to_stdout(const VerifyOptions& options, Commands& commands) {
  const Format format = parse_format(options.format);
  const Tolerances tolerances = parse_tolerances(options.tolerances);
  if (!options.output.empty()) check_output(options.output, options.force, {options.path});
  io::Results results = load_and_warn(options.path, !options.output.empty()).results;
  std::optional<io::Plan> plan;
  if (const std::string* text = find_in(results.attributes, "plan")) {
    try {
      plan = io::parse_plan(*text, options.path + " (plan)", enum_names<Problem>());
    } catch (const io::InputError& e) {
      // Verification continues without the plan, which is needed only for its list of expected failures.
      print_stderr(
          fmt::format("note: the stored plan cannot be read, so every trial is expected to pass ({})\n",
                      printable_lines(e.what())));
    }
  }
  Verification result = judge_all_again(std::move(results.records), tolerances, plan ? &*plan : nullptr);
  const Table changes = change_table(result, format == Format::table ? Reader::person : Reader::program);
  if (format == Format::csv) {
    fmt::print("{}", render_csv(changes));
  } else if (format == Format::json) {
    nlohmann::ordered_json json;
    json["changes"] = render_json(changes);
    json["records"] = result.records.size();
    json["not_judged"] = result.not_judged;
    json["exit_code"] = result.exit_code;
    fmt::print("{}\n", json_text(json));
  } else {
    fmt::print("{}{}{} of {} changed: now {}\n", render_text(changes, output_width()),
               changes.rows.empty() ? "" : "\n", changes.rows.size(),
               counted(result.records.size(), "record"), status_counts_text(result.records));
    if (result.not_judged > 0) {
      fmt::print("{} kept their status: their residual or tolerance was not stored\n", result.not_judged);
    }
  }
  commands.exit_code = result.exit_code;
  if (options.output.empty()) return;
  results.records = std::move(result.records);
  io::write_results(options.output, results);
}

}  // namespace

void add_verify_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* sub =
      app.add_subcommand("verify", "Judge stored records again with other tolerances; runs nothing");
  sub->add_option("path", options->path, "Run directory, results file or journal")->required();
  sub->add_option(
         "--tolerance", options->tolerances,
         "PROBLEM=TOLERANCE, e.g. gesv=32, or a factor for every default, e.g. 2.0; several with commas, or "
         "repeated")
      ->allow_extra_args(false);
  add_format(*sub, options->format, {"table", "csv", "json"});
  add_output(*sub, options->output, "Write the records with their new statuses to this results file");
  sub->add_flag("--force", options->force, "Replace the output file if it exists");
  sub->callback([options, &commands] { verify_to_stdout(*options, commands); });
}

}  // namespace gaussweep::driver
