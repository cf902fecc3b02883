/// Implements `gaussweep rule`: learns a rule from records (results of trials), checks rules on other runs,
/// and compares rules. A rule chooses a method for given sizes on a given device.

#include "driver/rule/rule.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <set>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/compare/compare.hpp"
#include "driver/results/loading.hpp"
#include "driver/rule/regret.hpp"
#include "driver/rule/rule_changes.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"
#include "version.hpp"

namespace gaussweep::driver {
namespace {

using Json = nlohmann::ordered_json;

struct RuleOptions {
  std::vector<std::string> paths;  ///< paths of runs; with --changes also of rules
  std::vector<std::string> other_rules;
  std::string output, checked_rule, format = "table", tolerance = "2";
  Filter filter;
  bool changes = false, force = false;
};

/// Returns the distinct values of a column of the records, sorted, without empty values.
std::set<std::string> values_of(const std::vector<io::Record>& records, io::Text io::Record::*member) {
  std::set<std::string> values;
  for (const io::Record& r : records) {
    if (!(r.*member).empty()) values.insert(r.*member);
  }
  return values;
}

/// Returns the origin of a rule: program, runs, commits, drivers, devices and time of measurement.
Json provenance_of(const io::Results& results, const RuleOptions& options,
                   const std::vector<std::string>& paths, double tolerance) {
  Json json{{"program", "gaussweep"},
            {"version", version_string},
            {"commit", version_commit},
            {"tolerance", tolerance},
            {"paths", paths},
            {"runs", values_of(results.records, &io::Record::run_id)},
            {"commits", values_of(results.records, &io::Record::commit)},
            {"drivers", Json::array()},
            {"devices", Json::array()}};
  const std::set<std::string> ends = values_of(results.records, &io::Record::end_time);
  if (!ends.empty()) json["measured"] = {{"from", *ends.begin()}, {"to", *ends.rbegin()}};
  json["methods"] = options.filter.methods;
  const std::string* drivers = find_in(results.attributes, "driver_version");
  if (drivers != nullptr) json["drivers"].push_back(*drivers);
  std::set<std::string> listed;
  for (const io::DeviceRow& row : results.devices) {
    const Json device{{"gpu_name", row.gpu_name},
                      {"host", row.host},
                      {"driver_version", row.driver_version},
                      {"runtime_version", row.runtime_version}};
    if (listed.insert(device.dump()).second) json["devices"].push_back(device);
  }
  return json;
}

/// Loads the records that pass the filter options. Prints notes on those that rules leave out, and on times
/// that other programs disturbed. @throws UsageError if no record passes
io::Results load_filtered(const RuleOptions& options, const std::vector<std::string>& paths) {
  io::Results results = load_all(paths);
  results.records = filter_records(std::move(results.records), options.filter, IfEmpty::throws);
  std::set<std::string> problems;
  std::size_t times = 0, disturbed = 0;
  for (const io::Record& r : results.records) {
    if (!is_of_one_order(r)) problems.insert(r.problem);
    if (r.seconds_median > 0) ++times;
    if (r.seconds_median > 2 * r.seconds_min) ++disturbed;
  }
  if (disturbed > 0)
    print_stderr(
        fmt::format("note: the median of {} of {} times is more than twice the least sample: other programs "
                    "slowed them down, and the rule may be wrong there\n",
                    disturbed, times));
  if (!problems.empty())
    print_stderr(
        one_line_printable(fmt::format("note: trials of {} with operands that are not square are left out",
                                       fmt::join(problems, ", "))) +
        "\n");
  return results;
}

/// Returns the other methods' times as multiples of the chosen method's time: "cusolver 1.31 to 2.84, …".
std::string alternatives_text(const Box& box) {
  std::vector<std::string> texts;
  for (const Alternative& other : box.alternatives)
    texts.push_back(fmt::format("{} {:.3g} to {:.3g}", other.choice.text(), other.least, other.most));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns a table with one row per box. A box has ranges of batch, nrhs and n with one chosen method. A part
/// of a rule has boxes of one problem on one device (rule.hpp).
Table rule_table(const Rule& rule) {
  Table table;
  table.columns = {{"device", "DEVICE"},
                   {"problem", "PROBLEM"},
                   {"names", "FOR"},
                   {"batch", "BATCH"},
                   {"nrhs", "NRHS"},
                   {"n", "N"},
                   {"method", "METHOD"},
                   {"mean", "MEAN REGRET", Style::percent},
                   {"worst", "WORST", Style::percent},
                   {"instead", "OTHERS: TIMES AS LONG"}};
  for (const RulePart& part : rule.parts) {
    std::vector<std::string> names;
    for (const RuleNames& each : part.names) {
      names.push_back(each.precision + (each.uplo == any_name ? "" : " " + each.uplo) + " " + each.matrix);
    }
    for (const Box& box : part.boxes) {
      table.rows.push_back({part.device, part.problem, fmt::format("{}", fmt::join(names, ", ")),
                            span_text(box.batch), span_text(box.nrhs), span_text(box.n), box.choice.text(),
                            box.measured_tasks > 0 ? Cell(box.mean) : Cell(),
                            box.measured_tasks > 0 ? Cell(box.worst) : Cell(), alternatives_text(box)});
    }
  }
  // On a narrow terminal, the first 6 columns are joined, and the `droppable` ones are left out.
  table.key_columns = 6;
  table.droppable = {"mean", "worst"};
  return table;
}

/// Learns a rule from the results of the runs at these paths.
/// @param where prefix of the notes about the runs, such as "runs/a: "
Rule learned_rule(const RuleOptions& options, const io::Results& results,
                  const std::vector<std::string>& paths, const std::string& where = {}) {
  const double tolerance = parse_percent("--tolerance", options.tolerance);
  note_conditions(results, where);
  Rule rule = learn_rule(results, tolerance);
  rule.provenance = provenance_of(results, options, paths, tolerance);
  return rule;
}

/// Learns a rule, writes it if -o is given, and prints it.
void learn(const RuleOptions& options, Format format) {
  if (!options.output.empty()) check_rule_directory(options.output, options.force);
  const Rule rule = learned_rule(options, load_filtered(options, options.paths), options.paths);
  if (!options.output.empty()) write_rule(options.output, rule);
  print_table(rule_table(rule), "boxes", format);
  if (format != Format::table) return;
  std::size_t boxes = 0;
  for (const RulePart& part : rule.parts) boxes += part.boxes.size();
  fmt::print("\n{}",
             paragraph(fmt::format("{} in {}{}. REGRET: time / least time - 1, in the tasks that were "
                                   "learned from; empty if a row has no measured task.",
                                   counted(boxes, "row"), counted(rule.parts.size(), "part"),
                                   options.output.empty()
                                       ? "; -o DIR writes the rule"
                                       : fmt::format(", written to {}", one_line_printable(options.output))),
                       prose_width()));
}

/// Prints the regret of the rules on the runs: the time of the chosen method / the least time - 1
/// (regret.hpp).
void check(const RuleOptions& options, Format format) {
  std::vector<NamedRule> rules;
  rules.push_back({options.checked_rule, read_rule(options.checked_rule)});
  for (const std::string& path : options.other_rules) rules.push_back({path, read_rule(path)});
  const io::Results results = load_filtered(options, options.paths);
  note_conditions(results);
  print_table(regret_table(regrets_of(rules, results)), "regrets", format);
  if (format != Format::table) return;
  fmt::print(
      "\n{}",
      paragraph("REGRET: the time of the chosen method / the least time - 1. NOT MEASURED: the rule has "
                "no answer. DID NOT RUN: the runs have no record of the chosen method. All rows have only "
                "tasks that the first rule knows.",
                prose_width()));
}

/// Returns true if the path is a rule: a .json file, or a directory with rule.json.
bool is_rule(const std::filesystem::path& path) {
  std::error_code error;
  return path.extension() == ".json" || std::filesystem::exists(path / "rule.json", error);
}

/// Compares consecutive rules in the order of the paths. A path is a rule, or a run from which a rule is
/// learned. A single path is a directory of runs, which are compared in the order of their names. The shards
/// of a sweep (parts of a plan that were run separately) count as one run.
void show_changes(const RuleOptions& options, Format format) {
  std::vector<std::string> paths = options.paths;
  if (paths.size() == 1 && !is_rule(paths.front())) {
    const std::filesystem::path folder = paths.front();
    paths.clear();
    for (const std::filesystem::path& run : runs_under(folder)) {
      const std::string sweep = sweep_of(run).string();
      if (std::find(paths.begin(), paths.end(), sweep) == paths.end()) paths.push_back(sweep);
    }
  }
  if (paths.size() < 2) throw UsageError("--changes: is for two or more rules or runs, the oldest first");
  std::vector<NamedRule> rules;
  std::set<std::int64_t> threads;
  for (const std::string& path : paths) {
    if (is_rule(path)) {
      rules.push_back({path, read_rule(path)});
      continue;
    }
    const io::Results results = load_filtered(options, {path});
    threads.merge(cpu_threads(results));
    rules.push_back({path, learned_rule(options, results, {path}, path + ": ")});
  }
  note_threads(threads, {}, "a changed choice may be due to that");
  const std::vector<RuleChange> changes = changes_of(rules);
  print_table(rule_change_table(changes), "changes", format);
  if (format != Format::table) return;
  fmt::print(
      "{}{}", changes.empty() ? "" : "\n",
      paragraph(
          changes.empty()
              ? "No choice has changed."
              : counted(changes.size(), "change") +
                    ". WORTH: the time of the old choice divided by the new one's, over all measured tasks "
                    "of the newer rule's row. The row may include other precisions and triangles.",
          prose_width()));
}

/// Learns, checks or compares rules, depending on the options. The option --beside names further rules to
/// check.
void run_rule(const RuleOptions& options) {
  const Format format = parse_format(options.format);
  if (options.changes && (!options.output.empty() || !options.checked_rule.empty()))
    throw UsageError("--changes: not with -o or --check");
  if (!options.checked_rule.empty() && !options.output.empty())
    throw UsageError("--check: not with -o, which writes a new rule");
  if (!options.other_rules.empty() && options.checked_rule.empty())
    throw UsageError("--beside: is for --check RULE only");
  if (options.changes) return show_changes(options, format);
  if (options.checked_rule.empty()) return learn(options, format);
  check(options, format);
}

}  // namespace

void add_rule_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<RuleOptions>();
  CLI::App* sub = app.add_subcommand(
      "rule", "Learn from records which method is the fastest at which sizes, and write a rule for programs");
  sub->add_option("runs", options->paths, "Run directories, directories of them, results files or journals")
      ->required();
  add_output(*sub, options->output, "Write the rule into this directory: rule.json, rule.h, rule.py");
  sub->add_flag("--force", options->force, "Replace the rule in the directory");
  sub->add_option("--methods", options->filter.methods, "The same as --method")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->each([options](const std::string&) { options->filter.method_option = "--methods"; });
  add_filter_options(*sub, options->filter);
  sub->add_option("--tolerance", options->tolerance, "Percent up to which two times count as equal")
      ->capture_default_str();
  refuse_empty(*sub->add_option("--check", options->checked_rule,
                                "Report the regret of this rule (a directory or rule.json) on the runs"));
  refuse_empty(
      *sub->add_option("--beside", options->other_rules, "With --check: also report the regret of this rule")
           ->allow_extra_args(false));
  sub->add_flag(
      "--changes", options->changes,
      "Report where a rule changed, since which commit or driver, and what that is worth; RUNS are runs or "
      "rules, the oldest first, or one directory of runs");
  add_format(*sub, options->format, {"table", "csv", "json"});
  sub->callback([options] { run_rule(*options); });
}

}  // namespace gaussweep::driver
