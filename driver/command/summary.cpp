/// Implements `gaussweep summary`: shows the records of runs, one row per trial and GPU model. A trial is
/// one method on one matrix.

#include "driver/summary/summary.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/results/identity.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/device_use.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t usual_rows = 200;  // default limit on a table's rows

struct SummaryOptions {
  std::vector<std::string> paths, peaks;
  std::string format = "table", sort, baseline, by;
  Filter filter;
  bool best = false, only_failures = false, devices = false, brief = false;
  std::optional<std::size_t> limit;
};

/// Throws if an option was given that another option excludes.
/// @param other the other option, with the reason @param options pairs of an option's name and true if given
void refuse_options(const char* other, const std::vector<std::pair<const char*, bool>>& options) {
  for (const auto& [name, is_given] : options) {
    if (is_given) throw UsageError(fmt::format("{}: not with {}", name, other));
  }
}

/// Prints notes on conditions that make the times of the shown groups doubtful. Some groups may pool times
/// with different numbers of threads or different versions of a method's shared library.
/// @param records the filtered records, which the groups refer to
void note_pooling(const std::vector<Group>& groups, const std::vector<io::Record>& records,
                  const std::vector<io::HostRow>& hosts) {
  note_conditions(records);
  note_libraries(records);
  const std::map<std::string, std::int64_t> threads_of_host = threads_by_host(hosts);
  std::map<std::string, std::set<std::int64_t>> threads_of_task;
  // Numbers of threads that differ between the groups of one task, and within one group.
  std::set<std::int64_t> compared, pooled;
  for (const Group& group : groups) {
    const std::set<std::int64_t> threads = cpu_threads(group.records, threads_of_host);
    if (threads.size() > 1) pooled.insert(threads.begin(), threads.end());
    std::set<std::int64_t>& all = threads_of_task[task_identity(*group.records.front())];
    all.insert(threads.begin(), threads.end());
    if (all.size() > 1) compared.insert(all.begin(), all.end());
  }
  pooled.empty() ? note_threads(compared, {}, "their times are compared")
                 : note_threads(pooled, {}, "their times are pooled");
}

/// Prints the output of `--best --by gpu`: one grid per GPU model with the fastest method per problem and
/// size.
void print_grids(const SummaryOptions& options, Format format) {
  if (!options.best) throw UsageError("--by gpu: is for --best only");
  refuse_options("--by gpu, which shows every race", {{"--sort", !options.sort.empty()},
                                                      {"--limit", options.limit.has_value()},
                                                      {"--failures", options.only_failures}});
  MissingTrials missing;
  io::Results all =
      load_all(options.paths, /*with_details=*/false, &missing, /*measured=*/nullptr, options.peaks);
  if (!options.baseline.empty()) require_method(group_records(all.records), options.baseline);
  // --gpu selects the grids of these GPUs. Records of CPU methods are kept, because these compete in every
  // grid.
  Filter filter = options.filter;
  Filter gpus;
  gpus.gpus = std::move(filter.gpus);
  filter.gpus.clear();
  std::vector<io::Record> records = filter_records(std::move(all.records), filter, IfEmpty::throws);
  if (!gpus.gpus.empty()) {
    std::vector<io::Record> others;
    for (const io::Record& r : records) {
      if (r.backend != "cuda") others.push_back(r);
    }
    records = filter_records(std::move(records), gpus, IfEmpty::throws);
    records.insert(records.end(), others.begin(), others.end());
  }
  const std::vector<Group> groups = group_records(records);
  note_pooling(groups, records, all.hosts);
  if (!options.baseline.empty())
    require_method(groups, options.baseline, "the filters leave it out, but with --by gpu it must compete");
  print_verdict_grids(records, all, format, options.baseline, missing, options.brief);
}

/// Prints the output of `--devices`: the fraction of time that each device was busy with measurements.
void print_devices(const SummaryOptions& options, Format format) {
  refuse_options("--devices, which has one row per device", {{"--sort", !options.sort.empty()},
                                                             {"--baseline", !options.baseline.empty()},
                                                             {"--limit", options.limit.has_value()},
                                                             {"--failures", options.only_failures},
                                                             {"--best", options.best}});
  const std::vector<io::Record> records = filter_records(load_all(options.paths).records, options.filter);
  const Table table = device_use_table(use_of_devices(pointers_to(records)));
  if (table.rows.empty() && format != Format::csv && format != Format::json) {
    fmt::print("No record has the start times of its phases: all are skipped or of an earlier version.\n");
  } else {
    print_table(table, "devices", format);
  }
}

/// Prints the tables that the options select.
void summarise_to_stdout(const SummaryOptions& options) {
  const Format format = parse_format(options.format);
  if (options.brief && (options.by.empty() || format == Format::csv || format == Format::json))
    throw UsageError("--brief: is for the text, Markdown or LaTeX of --best --by gpu");
  if (!options.by.empty()) return print_grids(options, format);
  if (options.devices) return print_devices(options, format);
  if (options.only_failures)
    refuse_options("--failures, which shows no times", {{"--best", options.best},
                                                        {"--sort", !options.sort.empty()},
                                                        {"--baseline", !options.baseline.empty()},
                                                        {"--limit", options.limit.has_value()}});
  MissingTrials missing;
  io::Results results =
      load_all(options.paths, /*with_details=*/false, &missing, /*measured=*/nullptr, options.peaks);
  std::vector<io::Record> records = std::move(results.records);
  // The baseline is searched in the unfiltered records, so that `--method mine --baseline cusolver` works.
  const bool is_filtered = !options.filter.accepts_everything() && !options.baseline.empty();
  const std::vector<io::Record> all = is_filtered ? records : std::vector<io::Record>();
  records = filter_records(std::move(records), options.filter, IfEmpty::throws);
  std::vector<Group> groups = group_records(records);
  if (is_filtered)
    set_speedups(groups, group_records(all), options.baseline);
  else
    set_speedups(groups, groups, options.baseline);
  if (options.best) groups = best_groups(groups);
  sort_groups(groups, options.sort);
  const bool is_for_persons = format != Format::csv && format != Format::json;
  const std::size_t limit = options.limit.value_or(is_for_persons ? usual_rows : 0);
  const std::size_t shown = limit == 0 ? groups.size() : std::min(limit, groups.size());
  const std::size_t hidden = groups.size() - shown;
  groups.resize(shown);
  note_pooling(groups, records, results.hosts);

  if (format == Format::csv) {
    fmt::print("{}", render_csv(options.only_failures ? failure_table(records, Failures::all)
                                                      : summary_table(groups, /*full=*/true)));
  } else if (format == Format::json) {
    nlohmann::ordered_json json;
    if (!options.only_failures) json["groups"] = render_json(summary_table(groups, /*full=*/true));
    json["failures"] = render_json(failure_table(records, Failures::all));
    json["doubts"] = render_json(doubt_table(records));
    json["records"] = records.size();
    add_missing(json, missing);
    fmt::print("{}\n", json_text(json));
  } else {
    if (!options.only_failures) print_groups(groups, hidden, format);
    if (options.best && groups.empty() && !records.empty())
      fmt::print("{}", comment_lines_if_latex("No trial passed: nothing is best.\n", format));
    print_failures(records, options.only_failures ? "" : "\n", missing, format);
  }
}

}  // namespace

void add_summary_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<SummaryOptions>();
  CLI::App* sub = app.add_subcommand(
      "summary",
      "Summarise records: a row is one trial on one GPU model, pooled over rounds and runs; "
      "failures with their causes");
  sub->add_option("paths", options->paths,
                  "Run directories, directories of run directories, results files or journals")
      ->required();
  sub->add_option("--peaks", options->peaks,
                  "Also use the peak rates measured in this run, e.g. of the night before (repeatable)")
      ->allow_extra_args(false);
  add_format(*sub, options->format, {"table", "csv", "json", "markdown", "latex"});
  add_filter_options(*sub, options->filter);
  sub->add_option("--sort", options->sort, "A column, e.g. n, median, gflops; -gflops: descending");
  sub->add_option("--baseline", options->baseline, "Speedup over this method, e.g. cusolver [the vendor's]");
  allow_integers(*sub->add_option("--limit", options->limit,
                                  fmt::format("Show this many rows; 0: all [{} for a table]", usual_rows)),
                 0, max_rows);
  sub->add_flag("--best", options->best,
                "Only the fastest method that passed, per problem, precision and size");
  allow_values(
      *sub->add_option("--by", options->by,
                       "gpu, with --best: one grid per GPU, problems by sizes: the fastest method, its "
                       "lead, and its fraction of the limit"),
      {"gpu"});
  sub->add_flag("--brief", options->brief, "With --by gpu: only the grids, without explanation and failures");
  sub->add_flag("--failures", options->only_failures, "Only trials that did not pass, with causes");
  sub->add_flag("--devices", options->devices,
                "One row per device: how busy it was with measurements, and the other phases of its trials");
  sub->callback([options] { summarise_to_stdout(*options); });
}

}  // namespace gaussweep::driver
