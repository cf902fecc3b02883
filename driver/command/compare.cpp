/// `gaussweep compare`: two runs, builds or GPUs side by side.

#include <fmt/format.h>
#include <fnmatch.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/words.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/option_checks.hpp"
#include "driver/records/compare.hpp"
#include "driver/records/loading.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {

namespace {

struct CompareOptions {
  std::string base, now, threshold = "3", format = "table", base_gpu, new_gpu;
  std::string sort;
  std::vector<std::string> only;
  std::size_t limit = 0;
  bool all = false;
};

const std::vector<std::string> kinds{"same", "faster", "slower", "unclear", "launches", "worse"};

/// What --sort can be, and the number it stands for.
double sort_value(const Pair& pair, const std::string& column) {
  if (column == "n") return static_cast<double>(pair.identity.n);
  if (column == "base") return pair.base.median;
  if (column == "new") return pair.now.median;
  return 1 / pair.change.ratio;
}

bool is_of_kind(const Pair& pair, const std::string& kind) {
  if (kind == "worse") return pair.is_worse;
  return (kind == "same" && pair.change.verdict == Verdict::same) ||
         (kind == "faster" && pair.change.verdict == Verdict::faster) ||
         (kind == "slower" && pair.change.verdict == Verdict::slower) ||
         (kind == "unclear" && pair.change.verdict == Verdict::unclear) ||
         (kind == "launches" && pair.change.verdict == Verdict::launches);
}

/// The trials that are shown, in the order that is asked for; what was found is that of all. `hidden` becomes
/// how many the limit keeps back.
Comparison chosen(Comparison comparison, const CompareOptions& options, std::size_t& hidden) {
  std::vector<Pair>& pairs = comparison.pairs;
  if (!options.only.empty()) {
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(),
                               [&](const Pair& pair) {
                                 return std::none_of(
                                     options.only.begin(), options.only.end(),
                                     [&](const std::string& kind) { return is_of_kind(pair, kind); });
                               }),
                pairs.end());
  }
  if (!options.sort.empty()) {
    const bool down = options.sort.front() == '-';
    const std::string column = options.sort.substr(down ? 1 : 0);
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
      const double x = sort_value(a, column), y = sort_value(b, column);
      if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);  // unknown ones last
      return down ? y < x : x < y;
    });
  }
  hidden = options.limit > 0 && pairs.size() > options.limit ? pairs.size() - options.limit : 0;
  pairs.resize(pairs.size() - hidden);
  return comparison;
}

/// Says where methods of the CPU ran on another CPU: no change of theirs is the program's alone.
void note_cpus(const io::Results& base, const io::Results& now) {
  const auto models = [](const io::Results& results) {
    std::set<std::string> cpus;
    for (const io::HostRow& host : results.hosts) {
      if (!host.cpu.empty()) cpus.insert(host.cpu);
    }
    return cpus;
  };
  const std::set<std::string> before = models(base), after = models(now);
  if (before.empty() || after.empty() || before == after) return;
  say(fmt::format(
      "note: the CPUs differ: {} in base, {} in new; times of methods of the CPU, and what launches cost, "
      "do not compare\n",
      printable(fmt::format("{}", fmt::join(before, ", "))),
      printable(fmt::format("{}", fmt::join(after, ", ")))));
}

io::Results load_side(const std::string& path, const std::string& gpu, const char* option) {
  Loaded loaded = load(path, true);
  for (const std::string& remark : loaded.remarks) say(fmt::format("note: {}\n", remark));
  if (gpu.empty()) return std::move(loaded.results);
  auto& records = loaded.results.records;
  const auto is_other = [&](const io::Record& r) { return fnmatch(gpu.c_str(), r.gpu_name.c_str(), 0) != 0; };
  records.erase(std::remove_if(records.begin(), records.end(), is_other), records.end());
  if (records.empty())
    throw UsageError(fmt::format("{} {}: no record of {} is of such a GPU", option, gpu, path));
  return std::move(loaded.results);
}

void print_notes(const Comparison& comparison) {
  const std::size_t width = prose_width();
  for (const RunNoise& noise : comparison.noise) {
    if (noise.sigma == 0) continue;
    fmt::print(
        "\n{}",
        paragraph(fmt::format("From run to run times scatter by {:.1f} % ({}{}{}, {} trials): no change "
                              "within three times that is clear.",
                              100 * std::expm1(noise.sigma), printable(noise.backend),
                              noise.place.empty() ? "" : " on ", printable(noise.place), noise.pairs),
                  width));
  }
  if (comparison.other_clocks > 0) {
    fmt::print(
        "\n{}",
        paragraph(fmt::format("Warning: the SM clock differs by more than {:.0f} % in {} of {} trials, at "
                              "most from {:.0f} to {:.0f} MHz: what changed there may be the clock.",
                              100 * notable_clock, comparison.other_clocks, comparison.pairs.size(),
                              comparison.furthest_base_clock, comparison.furthest_new_clock),
                  width));
  }
  std::int64_t counts[6] = {};
  for (const Pair& pair : comparison.pairs) ++counts[static_cast<int>(pair.change.verdict)];
  const std::string launches = counts[4] == 0 ? std::string()
                                              : fmt::format(
                                                    ", {} LAUNCHES (the host queued faster or slower; "
                                                    "the GPU's part is the same, or unknown)",
                                                    counts[4]);
  fmt::print(
      "\n{}{}",
      paragraph(fmt::format("{} trials in both: {} SAME, {} FASTER, {} SLOWER, {} UNCLEAR{}, {} without "
                            "times; {} only in base, {} only in new",
                            comparison.pairs.size(), counts[0], counts[1], counts[2], counts[3], launches,
                            counts[5], comparison.only_base, comparison.only_new),
                width),
      comparison.regression ? "There is a regression.\n" : "");
}

void print_comparison(const Comparison& comparison, const Comparison& shown, std::size_t hidden, bool all) {
  const std::size_t width = output_width();
  const Table methods = method_table(comparison, Reader::person);
  const Table pairs = pair_table(shown, all || comparison.across, Reader::person);
  const Table accuracy = accuracy_table(comparison, Reader::person), crossovers = crossover_table(comparison);
  fmt::print("{}", render_text(methods, width));
  if (!pairs.rows.empty()) fmt::print("\n{}", render_text(pairs, width));
  if (hidden > 0) fmt::print("… and {} more trials (--limit)\n", hidden);
  if (!crossovers.rows.empty())
    fmt::print("\nWhere one overtakes the other:\n{}", render_text(crossovers, width));
  if (!accuracy.rows.empty()) fmt::print("\nRight or wrong changed:\n{}", render_text(accuracy, width));
  print_notes(comparison);
}

void compare_to_stdout(const CompareOptions& options, Commands& commands) {
  const Format format = parse_format(options.format);
  const double threshold = parse_threshold(options.threshold);
  const io::Results base = load_side(options.base, options.base_gpu, "--base-gpu");
  const io::Results now = load_side(options.now, options.new_gpu, "--new-gpu");
  const Comparison comparison = compare(base, now, threshold);
  if (comparison.pairs.empty()) {
    throw UsageError(
        fmt::format("{} and {} have no trial in common: nothing can be compared. Both must come of plans "
                    "that share methods, backends, sizes, parameters and matrices",
                    options.base, options.now));
  }
  note_cpus(base, now);
  std::size_t hidden = 0;
  const Comparison shown = chosen(comparison, options, hidden);
  if (format == Format::csv) {
    fmt::print("{}", render_csv(pair_table(shown, true, Reader::program)));
  } else if (format == Format::json) {
    nlohmann::ordered_json json;
    json["threshold"] = threshold;
    json["regression"] = comparison.regression;
    json["only_base"] = comparison.only_base;
    json["only_new"] = comparison.only_new;
    json["other_clocks"] = comparison.other_clocks;
    json["noise"] = nlohmann::ordered_json::array();
    for (const RunNoise& noise : comparison.noise) {
      json["noise"].push_back({{"backend", noise.backend},
                               {"place", noise.place},
                               {"trials", noise.pairs},
                               {"sigma", noise.sigma}});
    }
    json["methods"] = render_json(method_table(comparison, Reader::program));
    json["trials"] = render_json(pair_table(shown, true, Reader::program));
    json["accuracy"] = render_json(accuracy_table(comparison, Reader::program));
    json["crossovers"] = render_json(crossover_table(comparison));
    fmt::print("{}\n", json_text(json));
  } else {
    print_comparison(comparison, shown, hidden, options.all || !options.only.empty());
  }
  if (comparison.regression) commands.exit_code = exit_regression;
}

}  // namespace

void add_compare_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* sub = app.add_subcommand("compare",
                                     "Compare two sets of records: FASTER, SLOWER, SAME, UNCLEAR or LAUNCHES "
                                     "by trial; exit code 4 on a regression");
  sub->add_option("base", options->base, "Run directory, results file or journal to compare with")
      ->required();
  sub->add_option("new", options->now, "Run directory, results file or journal to judge")->required();
  sub->add_option("--threshold", options->threshold, "Percent by which a median must change to count")
      ->capture_default_str();
  allow_words(*sub->add_option("--format", options->format, "How to show it")->capture_default_str(),
              {"table", "csv", "json"});
  sub->add_option("--base-gpu", options->base_gpu, "Of base, only this GPU model (may hold * and ?)");
  sub->add_option("--new-gpu", options->new_gpu, "Of new, only this GPU model (may hold * and ?)");
  sub->add_flag("--all", options->all, "Show every trial, not only those that changed");
  auto* only = sub->add_option("--only", options->only, "Show only these trials")
                   ->delimiter(',')
                   ->allow_extra_args(false);
  allow_words(*only, kinds);
  allow_words(*sub->add_option("--sort", options->sort, "Order of the trials; with -, downwards"),
              {"speedup", "-speedup", "n", "-n", "base", "-base", "new", "-new"});
  allow_whole(
      *sub->add_option("--limit", options->limit, "Show so many trials; 0: all")->capture_default_str(), 0,
      most_rows);
  sub->callback([options, &commands] { compare_to_stdout(*options, commands); });
}

}  // namespace gaussweep::driver
