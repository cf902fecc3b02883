/// `gaussweep summary`: what a night measured, a row a trial group.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>

#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/command/records_output.hpp"
#include "driver/summary/device_use.hpp"
#include "driver/summary/doubts.hpp"
#include "driver/summary/summary.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

namespace {

constexpr std::size_t usual_rows = 200;  // that a table shows; more are no reading

struct SummaryOptions {
  std::vector<std::string> paths;
  std::string format = "table", sort, baseline, by;
  Filter filter;
  bool best = false, only_failures = false, devices = false;
  std::optional<std::size_t> limit;
};

/// `--best --by gpu`.
void print_verdict(const SummaryOptions& options, Format format) {
  if (!options.best) throw UsageError("--by gpu: is for --best only");
  for (const auto& [name, is_given] :
       {std::pair("--sort", !options.sort.empty()), std::pair("--limit", options.limit.has_value()),
        std::pair("--failures", options.only_failures)}) {
    if (is_given) throw UsageError(fmt::format("{}: not with --by gpu, which shows every race", name));
  }
  io::Results all = load_all(options.paths);
  // --gpu chooses grids: the CPU's methods stay in their races.
  Filter filter = options.filter;
  Filter gpus;
  gpus.gpus = std::move(filter.gpus);
  filter.gpus.clear();
  std::vector<io::Record> records = filter_records(std::move(all.records), filter, Empty::is_refused);
  if (!gpus.gpus.empty()) {
    std::vector<io::Record> others;
    for (const io::Record& r : records) {
      if (r.backend != "cuda") others.push_back(r);
    }
    records = filter_records(std::move(records), gpus, Empty::is_refused);
    records.insert(records.end(), others.begin(), others.end());
  }
  if (!options.baseline.empty()) require_method(group_records(records), options.baseline);
  print_races(records, all, format, options.baseline);
}

/// `--devices`.
void print_devices(const SummaryOptions& options, Format format) {
  for (const auto& [name, is_given] :
       {std::pair("--sort", !options.sort.empty()), std::pair("--baseline", !options.baseline.empty()),
        std::pair("--limit", options.limit.has_value()), std::pair("--failures", options.only_failures),
        std::pair("--best", options.best)}) {
    if (is_given) throw UsageError(fmt::format("{}: not with --devices, which has a row a device", name));
  }
  const std::vector<io::Record> records = filter_records(load_all(options.paths).records, options.filter);
  std::vector<const io::Record*> all;
  for (const io::Record& record : records) all.push_back(&record);
  const Table table = device_use_table(use_of_devices(all));
  if (format == Format::csv) {
    fmt::print("{}", render_csv(table));
  } else if (format == Format::json) {
    nlohmann::ordered_json json;
    json["devices"] = render_json(table);
    fmt::print("{}\n", json_text(json));
  } else if (table.rows.empty()) {
    fmt::print("No record says when its phases began: it is of an earlier version, or its worker ended.\n");
  } else {
    fmt::print("{}", render_text(table, output_width()));
  }
}

void summarise_to_stdout(const SummaryOptions& options) {
  const Format format = parse_format(options.format);
  if (!options.by.empty()) return print_verdict(options, format);
  if (options.devices) return print_devices(options, format);
  std::vector<io::Record> records = load_all(options.paths).records;
  // A baseline is looked for before the filters, so that `--method mine --baseline cusolver` works.
  const bool is_filtered = !options.filter.asks_for_everything() && !options.baseline.empty();
  const std::vector<io::Record> all = is_filtered ? records : std::vector<io::Record>();
  records = filter_records(std::move(records), options.filter, Empty::is_refused);
  std::vector<Group> groups = group_records(records);
  if (is_filtered)
    set_speedups(groups, group_records(all), options.baseline);
  else
    set_speedups(groups, groups, options.baseline);
  if (options.best) groups = best_groups(groups);
  sort_groups(groups, options.sort);
  const std::size_t usual = format == Format::table ? usual_rows : 0, most = options.limit.value_or(usual);
  const std::size_t shown = most == 0 ? groups.size() : std::min(most, groups.size());
  const std::size_t hidden = groups.size() - shown;
  groups.resize(shown);

  const Table table = summary_table(groups, format != Format::table);
  if (format == Format::csv) {
    fmt::print("{}", render_csv(options.only_failures ? failure_table(records, Failures::all) : table));
  } else if (format == Format::json) {
    nlohmann::ordered_json json;
    if (!options.only_failures) json["groups"] = render_json(table);
    json["failures"] = render_json(failure_table(records, Failures::all));
    json["doubts"] = render_json(doubt_table(records));
    json["records"] = records.size();
    fmt::print("{}\n", json_text(json));
  } else {
    if (!options.only_failures) print_groups(groups, hidden);
    if (options.best && groups.empty() && !records.empty()) fmt::print("No trial passed: nothing is best.\n");
    print_failures(records, options.only_failures ? "" : "\n");
  }
}

}  // namespace

void add_summary_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<SummaryOptions>();
  CLI::App* sub =
      app.add_subcommand("summary", "Summarise records: a row a trial group, failures with their causes");
  sub->add_option("paths", options->paths,
                  "Run directories, directories of them (shards, nights), results files or journals")
      ->required();
  allow_words(*sub->add_option("--format", options->format, "How to show it")->capture_default_str(),
              {"table", "csv", "json"});
  add_filter_options(*sub, options->filter);
  sub->add_option("--sort", options->sort, "A column, e.g. n, median, gflops; -gflops: downwards");
  sub->add_option("--baseline", options->baseline, "Speedup over this method, e.g. cusolver [the vendor's]");
  allow_whole(*sub->add_option("--limit", options->limit,
                               fmt::format("Show this many rows; 0: all [{} of a table]", usual_rows)),
              0, most_rows);
  sub->add_flag("--best", options->best, "Only the fastest that passed of each problem, precision and size");
  allow_words(*sub->add_option("--by", options->by,
                               "gpu, with --best: a grid for each GPU, problems by sizes: who wins, by how "
                               "much, how near the limit"),
              {"gpu"});
  sub->add_flag("--failures", options->only_failures, "Only what did not pass, with causes");
  sub->add_flag("--devices", options->devices,
                "A row a device: how busy it was with measurements, and what else its trials went through");
  sub->callback([options] { summarise_to_stdout(*options); });
}

}  // namespace gaussweep::driver
