/// Implements `gaussweep trend`: shows since when trials (one method on one matrix each) are slower or
/// faster. The runs of a series are called nights, because a series usually has one run per night.

#include "driver/compare/trend.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <unordered_set>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/results/loading.hpp"
#include "driver/summary/trial_columns.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::ordered_json;

struct TrendOptions {
  std::vector<std::string> sets;
  std::string threshold = "1", format = "table";
  std::size_t limit = 20;  ///< rows; 0: all
};

ordered_json json_of(const TrendSeries& series) {
  const io::Record& r = series.identity;
  ordered_json json{{"key", r.key},
                    {"problem", r.problem},
                    {"method", r.method},
                    {"precision", r.precision},
                    {"n", r.n},
                    {"parameters", r.parameters},
                    {"backend", r.backend},
                    {"place", series.place},
                    {"clock", to_string(series.kind)},
                    {"nights", series.nights},
                    {"seconds", series.seconds},
                    {"steps", ordered_json::array()}};
  for (const ChangePoint& step : series.change.steps) {
    json["steps"].push_back({{"night", series.nights[step.at]},
                             {"ratio", std::exp(step.log)},
                             {"low", std::exp(step.low)},
                             {"high", std::exp(step.high)},
                             {"other_gpu", step.is_other_gpu}});
  }
  if (series.change.is_drift) {
    json["drift"] = {{"ratio", std::exp(series.change.drift)},
                     {"low", std::exp(series.change.drift_low)},
                     {"high", std::exp(series.change.drift_high)}};
  }
  return json;
}

ordered_json json_of(const Trend& trend) {
  ordered_json json{{"rate", trend.false_alarm_rate},
                    {"changes", trend_sentences(trend)},
                    {"other_threads", trend.has_other_threads},
                    {"nights", ordered_json::array()},
                    {"series", ordered_json::array()}};
  for (const Night& night : trend.nights) {
    json["nights"].push_back({{"path", night.path},
                              {"began", night.began},
                              {"name", night.name},
                              {"commits", night.commits},
                              {"gpus", night.gpus},
                              {"driver", night.driver}});
  }
  for (const TrendSeries& series : trend.series) json["series"].push_back(json_of(series));
  return json;
}

/// Returns the reason why a trial has no more times: "missing", "wrong answers", "crashed", …
std::string ending_of(const TrendSeries& series) {
  if (series.ended_as.empty()) return "missing";
  const bool has_answer = series.ended_as == io::Status::failed || series.ended_as == io::Status::diverged;
  return has_answer ? "wrong answers" : series.ended_as;
}

/// Returns a table of each trial's times in its first and its last night, the largest change first. The table
/// is shown if there are too few nights to find changes.
/// @param limit maximum number of trials; 0: all
Table first_and_last(const Trend& trend, std::size_t limit) {
  std::vector<const io::Record*> records;
  std::vector<const TrendSeries*> order;
  for (const TrendSeries& series : trend.series) {
    records.push_back(&series.identity);
    order.push_back(&series);
  }
  const auto change = [](const TrendSeries& series) {
    return std::fabs(std::log(series.seconds.back() / series.seconds.front()));
  };
  const auto growth = [](const TrendSeries& series) {
    return series.seconds.back() / series.seconds.front() - 1;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const TrendSeries* a, const TrendSeries* b) { return change(*a) > change(*b); });
  if (limit > 0) order.resize(std::min(order.size(), limit));
  const TrialColumns trial(records, Reader::person);
  Table table = trial.table();
  extend(table.columns, {{"place", "DEVICE"},
                         {"first", "FIRST", Style::seconds},
                         {"last", "LAST", Style::seconds},
                         {"change", "CHANGE"}});
  for (const TrendSeries* series : order) {
    extend(table.rows.emplace_back(trial.cells(series->identity)),
           {series->place, series->seconds.front(), series->seconds.back(),
            fmt::format("{:+.1f}%", 100 * growth(*series))});
  }
  // If a trial has no time in the last night, its last time is from an earlier night.
  const std::size_t newest = trend.nights.size() - 1;
  if (std::any_of(order.begin(), order.end(),
                  [&](const TrendSeries* series) { return series->nights.back() != newest; })) {
    table.columns.push_back({"no_time_since", "NO TIME SINCE"});
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t last = order[i]->nights.back();
      table.rows[i].emplace_back(
          last == newest ? std::string()
                         : fmt::format("{}: {}", trend.nights[last + 1].name, ending_of(*order[i])));
    }
  }
  table.droppable = {"first last"};  // one entry, so that both have one unit
  return table;
}

/// Prints the changes; if no trial has enough nights, prints the first and last times.
/// @param limit maximum number of changes or trials; 0: all
void print(const Trend& trend, std::size_t limit) {
  const std::size_t width = prose_width();
  if (trend.has_other_threads)
    fmt::print("{}", paragraph("Methods of the CPU ran with different numbers of threads. Their times are "
                               "compared only between nights with the same number.",
                               width));
  const std::string size =
      fmt::format("{}, {}", counted(trend.nights.size(), "night"), counted(trend.series.size(), "trial"));
  const bool is_enough = std::any_of(trend.series.begin(), trend.series.end(), [](const TrendSeries& series) {
    return series.nights.size() >= 2 * min_nights;
  });
  if (!is_enough) {
    const Table table = first_and_last(trend, limit);
    const std::size_t hidden = trend.series.size() - table.rows.size();
    fmt::print(
        "{}{}{}",
        paragraph(
            fmt::format(
                "{}: changes can be found from {} nights per trial on. The table has the first and last "
                "times of {}, whose differences may be noise.",
                size, 2 * min_nights,
                hidden > 0 ? fmt::format("the {} trials that differ most", table.rows.size()) : "all trials"),
            width),
        render_text(table, output_width()),
        hidden > 0 ? fmt::format("… and {}: --limit 0 shows all\n", counted(hidden, "more trial")) : "");
    return;
  }
  const std::vector<std::string> changes = trend_sentences(trend);
  const std::size_t shown = limit > 0 ? std::min(limit, changes.size()) : changes.size();
  for (std::size_t i = 0; i < shown; ++i) fmt::print("{}", paragraph(one_line_printable(changes[i]), width));
  if (shown < changes.size())
    fmt::print("… and {}: --limit 0 shows all\n", counted(changes.size() - shown, "more change"));
  fmt::print("{}", paragraph(fmt::format("{}: {}", size,
                                         changes.empty() ? "no change" : counted(changes.size(), "change")),
                             width));
}

/// Loads the nights, searches for changes, and prints them.
void show_trend(const TrendOptions& options) {
  const Format format = parse_format(options.format);
  TrendRules rules;
  rules.threshold = parse_percent("--threshold", options.threshold);
  std::vector<std::pair<std::string, io::Results>> sets;
  // Hashes of the trials' executions that were loaded: several runs may contain the same execution.
  std::unordered_set<std::size_t> executions;
  std::size_t repeated = 0;
  for (const std::filesystem::path& path : runs_with_notes(options.sets)) {
    io::Results results = load_and_warn(path, /*with_details=*/false).results;
    const std::size_t known = drop_known_executions(results.records, executions);
    repeated += known;
    if (known > 0 && results.records.empty()) continue;
    note_conditions(results.records, path.string() + ": ");
    sets.emplace_back(path.string(), std::move(results));
  }
  note_repeated(repeated);
  const Trend trend = trend_of(std::move(sets), rules);
  if (trend.series.empty())
    throw UsageError(trend.has_other_threads
                         ? "no trial has a time in two of these nights with the same number of threads"
                         : "no trial has a time in two of these nights: give several runs of one plan");
  if (format == Format::json) {
    fmt::print("{}\n", json_text(json_of(trend)));
  } else {
    print(trend, options.limit);
  }
}

}  // namespace

void add_trend_command(CLI::App& app, Commands&) {
  auto options = std::make_shared<TrendOptions>();
  CLI::App* sub = app.add_subcommand(
      "trend", "Compare nights: which trials became slower or faster, since when, by how much");
  sub->add_option("runs", options->sets,
                  "Run directories, folders of them, or results files: nights, their shards, or a file that "
                  "holds several runs")
      ->required();
  sub->add_option("--threshold", options->threshold, "Percent by which a time must change to count")
      ->capture_default_str();
  add_format(*sub, options->format, {"table", "json"});
  allow_integers(*sub->add_option("--limit", options->limit, "Show this many changes, or trials; 0: all")
                      ->capture_default_str(),
                 0, max_rows);
  sub->callback([options] { show_trend(*options); });
}

}  // namespace gaussweep::driver
