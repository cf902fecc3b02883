/// Implements `gaussweep compare`: compares the times and statuses of runs, builds, or GPU or CPU models. The
/// old records are called base, the new ones new or `now`. A pair is a trial (one method on one matrix) that
/// is in both sets of records. A place is the hardware model that a trial ran on: a GPU model, or a CPU model
/// with its number of threads.

#include "driver/compare/compare.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fnmatch.h>
#include <iterator>
#include <memory>
#include <set>
#include <strings.h>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/command/cli.hpp"
#include "driver/command/options.hpp"
#include "driver/command/records_output.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/compare/models.hpp"
#include "driver/results/loading.hpp"
#include "driver/results/merge.hpp"
#include "driver/results/run_parts.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {
namespace {

constexpr int max_sets = 1000;
// Without --all, the table of ratios between two models has at most this number of rows and of sizes.
constexpr std::size_t max_ratio_rows = 60, max_ratio_sizes = 8;
// The smallest (measured scatter of times) / (usual scatter) that gets a note.
constexpr double notable_excess_scatter = 1.5;

struct CompareOptions {
  std::vector<std::string> sets;  ///< paths; the last one is the new set, the others are the base
  std::string threshold, fail_above = "0", format = "table", base_gpu, new_gpu, sort;
  Filter filter;
  std::vector<std::string> only;  ///< some of `kinds`
  std::size_t limit = 0;
  bool all = false, same_models = false, models = false;
  /// The start of the commands that the output suggests: "gaussweep compare A B "; empty: the user's command.
  std::string command;
};

/// The allowed values of --only. Most are names of verdicts on times (Verdict in compare.hpp). "worse" stands
/// for a worse status, "repaired" for a trial that failed before and passes now.
const std::vector<std::string> kinds{"same",       "faster", "slower",  "unclear",
                                     "host-bound", "worse",  "repaired"};

/// Returns the number by which --sort COLUMN orders the pair; any other column is "speedup".
double sort_value(const Pair& pair, const std::string& column) {
  if (column == "n") return static_cast<double>(pair.identity.n);
  if (column == "base") return pair.base.run.median;
  if (column == "new") return pair.now.run.median;
  return 1 / pair.change.ratio;
}

/// Returns true if --only KIND selects the pair.
bool is_of_kind(const Pair& pair, const std::string& kind) {
  if (kind == "worse") return pair.is_worse;
  if (kind == "repaired") return pair.is_repaired;
  return strcasecmp(to_string(pair.change.verdict), kind.c_str()) == 0;
}

/// Returns the comparison with only the pairs to list, in the requested order. The members other than `pairs`
/// still cover all trials.
/// @param all false: leaves out trials that did not change
/// @param hidden set to the number of trials that --limit hides
Comparison selected(Comparison comparison, const CompareOptions& options, bool all, std::size_t& hidden) {
  std::vector<Pair>& pairs = comparison.pairs;
  if (!all)
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(), [](const Pair& pair) { return !is_listed(pair); }),
                pairs.end());
  if (!options.only.empty()) {
    const auto is_left_out = [&](const Pair& pair) {
      return std::none_of(options.only.begin(), options.only.end(),
                          [&](const std::string& kind) { return is_of_kind(pair, kind); });
    };
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(), is_left_out), pairs.end());
  }
  if (options.sort.empty()) {
    put_regressions_first(pairs);
  } else {
    const bool is_descending = options.sort.front() == '-';
    const std::string column = options.sort.substr(is_descending ? 1 : 0);
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) {
      const double x = sort_value(a, column), y = sort_value(b, column);
      if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);  // unknown values come last
      return is_descending ? y < x : x < y;
    });
  }
  hidden = options.limit > 0 && pairs.size() > options.limit ? pairs.size() - options.limit : 0;
  pairs.resize(pairs.size() - hidden);
  return comparison;
}

/// Prints a note if the CPU models or their thread counts differ. Changed times of CPU methods may then be
/// due to the CPU instead of the program.
/// @param same_models whether records of models that only one side has were left out
void note_cpus(const io::Results& base, const io::Results& now, bool same_models) {
  const auto models_of = [](const io::Results& results) {
    std::set<std::string> hosts, cpus;  // only hosts of these records; a file of several runs lists more
    for (const io::Record& record : results.records) hosts.insert(record.host);
    for (const io::HostRow& host : results.hosts) {
      if (!host.cpu.empty() && hosts.count(host.host) > 0) cpus.insert(cpu_place_name(host));
    }
    return cpus;
  };
  const auto text_of = [](const std::set<std::string>& models) {
    return one_line_printable(fmt::format("{}", fmt::join(models, "; ")));
  };
  const std::set<std::string> before = models_of(base), after = models_of(now);
  if (before.empty() || after.empty() || before == after) return;
  const auto without = [](const std::set<std::string>& models, const std::set<std::string>& others) {
    std::set<std::string> rest;
    std::set_difference(models.begin(), models.end(), others.begin(), others.end(),
                        std::inserter(rest, rest.end()));
    return rest;
  };
  const std::set<std::string> only_before = without(before, after), only_after = without(after, before);
  if (same_models && only_before.size() < before.size()) {
    std::string text = "note: times on other CPU models or numbers of threads were left out:";
    if (!only_before.empty()) text += fmt::format(" in base {}", text_of(only_before));
    if (!only_after.empty())
      text += fmt::format("{} in new {}", only_before.empty() ? "" : ",", text_of(only_after));
    print_stderr(text + "\n");
    return;
  }
  print_stderr(
      fmt::format("note: the CPUs differ: {} in base, {} in new; times of CPU methods and launch overheads "
                  "cannot be compared\n",
                  text_of(before), text_of(after)));
}

/// Loads a set: merges its runs, and keeps the records that pass the filters.
/// @param gpu pattern of GPU models; empty: all @param option name of the option with the value `gpu`
io::Results load_set(const std::string& path, const Filter& filter, const std::string& gpu,
                     const char* option) {
  std::vector<Loaded> runs;
  for (const std::filesystem::path& run : runs_with_notes({path}))
    runs.push_back(load_and_warn(run, /*with_details=*/true));
  io::Results results =
      runs.size() == 1 ? std::move(runs.front().results) : merge(std::move(runs), /*force=*/true).results;
  auto& records = results.records;
  try {
    records = filter_records(std::move(records), filter, IfEmpty::throws);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", path, error.what()));
  }
  if (gpu.empty()) return results;
  const auto is_other = [&](const io::Record& r) {
    return fnmatch(gpu.c_str(), std::string(r.gpu_name).c_str(), 0) != 0;
  };
  records.erase(std::remove_if(records.begin(), records.end(), is_other), records.end());
  if (records.empty())
    throw UsageError(fmt::format("{} {}: {} has no record of such a GPU", option, gpu, path));
  return results;
}

/// Loads the sets. --new-gpu applies to the last one, which is the new set, --base-gpu to the others.
std::vector<io::Results> load_sets(const CompareOptions& options) {
  if (options.sets.size() == 1 && !options.base_gpu.empty())
    throw UsageError(
        "--base-gpu chooses from the sets before the last one, and there is one set: use --new-gpu");
  std::vector<io::Results> sets;
  for (std::size_t i = 0; i < options.sets.size(); ++i) {
    const bool is_new = i + 1 == options.sets.size();
    sets.push_back(load_set(options.sets[i], options.filter, is_new ? options.new_gpu : options.base_gpu,
                            is_new ? "--new-gpu" : "--base-gpu"));
  }
  return sets;
}

/// Prints a note per backend and GPU or CPU model whose times scatter much more than usual.
void print_noise(const Comparison& comparison, std::size_t width) {
  for (const RunNoise& noise : comparison.noise) {
    const double excess_scatter = std::max(noise.excess_scatter_short, noise.excess_scatter_long);
    if (excess_scatter < notable_excess_scatter) continue;
    fmt::print("\n{}",
               paragraph(fmt::format("Times scatter {:.1f} times as much as usual ({}{}{}, {} trials). Only "
                                     "changes that are larger by this factor are found.",
                                     excess_scatter, one_line_printable(noise.backend),
                                     noise.place.empty() ? "" : " on ", one_line_printable(noise.place),
                                     noise.pairs),
                         width));
  }
}

/// Prints the sentences below the tables. @param command see CompareOptions::command
void print_notes(const Comparison& comparison, const std::string& command) {
  const std::size_t width = prose_width();
  print_noise(comparison, width);
  if (comparison.other_clocks > 0) {
    fmt::print(
        "\n{}",
        paragraph(
            fmt::format("Warning: the SM clock differs by more than {:.0f} % in {} of {} trials, at "
                        "most from {:.0f} to {:.0f} MHz. Changes in these trials may be due to the clock.",
                        100 * notable_clock, comparison.other_clocks, comparison.pairs.size(),
                        comparison.furthest_base_clock, comparison.furthest_new_clock),
            width));
  }
  if (!comparison.vanished.empty()) {
    fmt::print("\n{}",
               paragraph(fmt::format("Only in base: {}{}", fmt::join(comparison.vanished, "; "),
                                     comparison.is_same_plan ? ". The plan is the same: they are missing."
                                                             : ". The plans differ."),
                         width));
  }
  if (!comparison.appeared.empty())
    fmt::print(
        "\n{}",
        paragraph(one_line_printable(fmt::format("Only in new: {}.", fmt::join(comparison.appeared, "; "))),
                  width));
  if (const std::string changed = changed_sentence(comparison); !changed.empty())
    fmt::print("\n{}", paragraph(one_line_printable(changed), width));
  fmt::print("\n{}", paragraph(count_sentence(comparison, command), width));
  for (const std::string& sentence : unclear_sentences(comparison))
    fmt::print("{}", paragraph(one_line_printable(sentence), width));
  fmt::print("{}", paragraph(regression_text(comparison), width));
}

/// Prints the tables and notes of a comparison. @param shown the comparison with only the pairs to list
/// @param hidden number of pairs that --limit hides
void print_comparison(const Comparison& comparison, const Comparison& shown, std::size_t hidden,
                      const CompareOptions& options, Format format) {
  const std::vector<std::string>& only = options.only;
  const std::size_t width = output_width();
  if (!only.empty() && shown.pairs.empty()) {
    const auto undecided =
        std::count_if(comparison.pairs.begin(), comparison.pairs.end(),
                      [](const Pair& pair) { return pair.change.verdict == Verdict::unclear; });
    // A method may be slower by all its trials together although no single trial is significantly slower.
    const bool has_slower_method =
        std::count(only.begin(), only.end(), "slower") > 0 &&
        std::any_of(comparison.methods.begin(), comparison.methods.end(), [](const MethodChange& method) {
          return method.has_same_place() && method.change.verdict == Verdict::slower;
        });
    const std::string text =
        fmt::format("No {}trial is {}{} (--only){}.{}\n", has_slower_method ? "single " : "",
                    undecided > 0 ? "certainly " : "", fmt::join(only, " or "),
                    undecided > 0 ? fmt::format("; {} undecided (UNCLEAR)", undecided) : "",
                    has_slower_method ? " All trials of a method together are slower:" : "");
    fmt::print("{}", comment_lines_if_latex(text, format));
    if (has_slower_method)
      fmt::print("\n{}", render_shown(method_table(comparison, Reader::person), format, width));
    if (format != Format::latex) print_notes(comparison, options.command);
    return;
  }
  const Table methods = method_table(comparison, Reader::person);
  const Table pairs = pair_table(shown, Reader::person);
  fmt::print("{}", render_shown(methods, format, width));
  if (!pairs.rows.empty()) fmt::print("\n{}", render_shown(pairs, format, width));
  const auto print_hidden = [&](std::size_t rows, const char* noun) {
    if (rows > 0)
      fmt::print("{}",
                 comment_lines_if_latex(fmt::format("… and {} (--limit)\n", counted(rows, noun)), format));
  };
  print_hidden(hidden, "more trial");
  const auto print_limited = [&](const char* title, Table table) {
    if (table.rows.empty()) return;
    const std::size_t rows = table.rows.size();
    if (options.limit > 0) table.rows.resize(std::min(rows, options.limit));
    fmt::print("\n{}{}", comment_lines_if_latex(title, format), render_shown(table, format, width));
    print_hidden(rows - table.rows.size(), "more row");
  };
  // A crossover is a size at which one model overtakes the other. It depends on all sizes of a method, not
  // only on the trials that --only chooses.
  const std::vector<Crossover>& crossovers = comparison.crossovers;
  const bool have_one_finding = std::all_of(crossovers.begin(), crossovers.end(), [&](const Crossover& each) {
    return std::isnan(each.n) && each.finding == crossovers.front().finding;
  });
  if (only.empty() && !crossovers.empty() && have_one_finding)
    fmt::print("\n{}",
               comment_lines_if_latex(
                   paragraph(fmt::format("Crossovers: {} (in all {} series).",
                                         one_line_printable(crossovers.front().finding), crossovers.size()),
                             width),
                   format));
  else if (only.empty())
    print_limited("Crossovers:\n", crossover_table(comparison));
  print_limited("Status or accuracy changed:\n", accuracy_table(comparison, Reader::person));
  if (format != Format::latex) print_notes(comparison, options.command);
}

/// Returns the comparison as JSON.
nlohmann::ordered_json json_of(const Comparison& comparison, const Comparison& shown,
                               const CompareRules& rules) {
  nlohmann::ordered_json json;
  json["threshold"] = comparison.threshold;
  json["duet"] = comparison.is_duet;
  json["rate"] = rules.false_alarm_rate;
  json["regression"] = !comparison.regressions.empty();
  json["regressions"] = comparison.regressions;
  json["disturbed"] = comparison.disturbed;
  json["repaired"] = repaired_trials(comparison);
  json["only_base"] = comparison.only_base;
  json["only_new"] = comparison.only_new;
  json["same_plan"] = comparison.is_same_plan;
  json["vanished"] = comparison.vanished;
  json["appeared"] = comparison.appeared;
  json["changed_files"] = comparison.changed_files;
  json["changed_parameters"] = comparison.changed_parameters;
  json["changed_tolerances"] = comparison.changed_tolerances;
  json["other_clocks"] = comparison.other_clocks;
  json["noise"] = nlohmann::ordered_json::array();
  for (const RunNoise& noise : comparison.noise) {
    json["noise"].push_back({{"backend", noise.backend},
                             {"place", noise.place},
                             {"trials", noise.pairs},
                             {"drift", noise.drift},
                             {"raise_short", noise.excess_scatter_short},
                             {"raise_long", noise.excess_scatter_long},
                             {"of_methods", noise.method_sigma},
                             {"of_host", noise.host_drift},
                             {"raise_host", noise.excess_scatter_host}});
  }
  json["unclear"] = nlohmann::ordered_json::array();
  for (const Unclear& unclear : comparison.unclear) {
    json["unclear"].push_back({{"backend", unclear.backend},
                               {"trials", unclear.trials},
                               {"finds", unclear.detectable},
                               {"least", unclear.least},
                               {"most", unclear.most},
                               {"with_rounds", unclear.with_rounds},
                               {"with_samples", unclear.with_samples},
                               {"with_duet", unclear.with_duet}});
  }
  json["advice"] = unclear_sentences(comparison);
  json["methods"] = render_json(method_table(comparison, Reader::program));
  json["trials"] = render_json(pair_table(shown, Reader::program));
  json["accuracy"] = render_json(accuracy_table(comparison, Reader::program));
  json["crossovers"] = render_json(crossover_table(comparison));
  return json;
}

nlohmann::ordered_json model_json(const ModelFacts& model) {
  nlohmann::ordered_json json;
  json["name"] = model.name;
  json["runs"] = model.runs;
  json["devices"] = model.devices;
  json["scatter"] = number_json(model.scatter);
  json["copy_bytes_per_second"] = number_json(model.rates.copy);
  json["gemm_flops_float"] = number_json(model.rates.flops_float);
  json["gemm_flops_double"] = number_json(model.rates.flops_double);
  json["launch_seconds"] = number_json(model.launch);
  return json;
}

nlohmann::ordered_json models_json(const ModelComparison& comparison) {
  nlohmann::ordered_json json;
  json["base"] = model_json(comparison.base);
  json["new"] = model_json(comparison.now);
  json["only_base"] = comparison.only_base;
  json["only_new"] = comparison.only_new;
  json["cells"] = render_json(cell_table(comparison));
  json["tasks"] = render_json(task_table(comparison));
  json["winners"] = render_json(winner_table(comparison));
  return json;
}

/// Prints the tables and sentences of a comparison of two models.
void print_models(const ModelComparison& comparison, const CompareOptions& options) {
  const std::size_t width = output_width(), prose = prose_width();
  std::size_t rows = 0;
  // Each task (problem with sizes and matrix) has two further rows: the fastest method, and the predicted
  // ratio.
  for (const ModelTask& task : comparison.tasks) rows += 2 + task.methods.size();
  const bool is_filtered = !options.filter.problems.empty() || !options.filter.methods.empty();
  const bool with_methods = options.all || is_filtered || rows <= max_ratio_rows;
  fmt::print("{} compared with {}\n\n", one_line_printable(comparison.now.name),
             one_line_printable(comparison.base.name));
  fmt::print(
      "{}{}{}\n",
      render_text(ratio_table(comparison, with_methods, options.all ? 0 : max_ratio_sizes), width),
      paragraph("1.28±6%: 1.28 times as fast, with the 95 % interval. fastest: the fastest method of each "
                "model. (predicted): the ratio of the measured limits.",
                prose),
      with_methods ? "" : paragraph("--all, --problem or --method show every method.", prose));
  fmt::print("{}", render_text(task_table(comparison), width));
  if (const Table winners = winner_table(comparison); !winners.rows.empty()) {
    fmt::print("\nThe fastest method differs:\n{}{}", render_text(winners, width),
               paragraph("COST: the time of the other model's fastest method on this model, divided by that "
                         "of its own fastest method.",
                         prose));
  }
  fmt::print("\n{}\n", render_text(limits_table(comparison), width));
  for (const std::string& sentence : sample_sentences(comparison))
    fmt::print("{}", paragraph(sentence, prose));
  if (comparison.only_base + comparison.only_new > 0) {
    fmt::print("{}",
               paragraph(fmt::format("Not compared: {} that passed only on {}, {} only on {}.",
                                     counted(static_cast<std::size_t>(comparison.only_base), "task"),
                                     one_line_printable(comparison.base.short_name), comparison.only_new,
                                     one_line_printable(comparison.now.short_name)),
                         prose));
  }
  fmt::print("{}", paragraph(headline(comparison) + " The models differ, so this is no test for regressions.",
                             prose));
}

/// Compares each GPU or CPU model in `bases` with each other model, and prints the results. @return exit_ok
int print_model_comparisons(std::vector<io::Results> sets, const std::set<std::string>& bases,
                            const CompareOptions& options, Format format) {
  if (!options.only.empty() || !options.sort.empty() || options.limit > 0 || !options.threshold.empty())
    print_stderr(
        "note: --only, --sort, --limit and --threshold apply to runs on one model; these models differ\n");
  io::Results all;
  const std::vector<VerdictGrid> grids = model_grids(std::move(sets), all);
  std::vector<ModelComparison> comparisons;
  for (const VerdictGrid& base : grids) {
    if (bases.count(base.device) == 0) continue;
    for (const VerdictGrid& now : grids) {
      // A compute capability of 0 means a CPU. GPUs are compared only with GPUs, CPUs only with CPUs.
      if (bases.count(now.device) > 0 || (base.capability > 0) != (now.capability > 0)) continue;
      ModelComparison comparison = compare_models(base, now);
      if (!comparison.tasks.empty()) comparisons.push_back(std::move(comparison));
    }
  }
  note_conditions(all.records);
  if (comparisons.empty()) {
    throw UsageError(
        fmt::format("{}: no task passed on two models, so nothing can be compared. The runs must "
                    "come from plans that share problems, sizes and matrices",
                    fmt::join(options.sets, " and ")));
  }
  nlohmann::ordered_json json;
  json["different_models"] = true;
  json["regression"] = false;
  json["comparisons"] = nlohmann::ordered_json::array();
  Table cells;
  for (const ModelComparison& comparison : comparisons) {
    Table pair_cells = cell_table(comparison);
    cells.columns = pair_cells.columns;
    std::move(pair_cells.rows.begin(), pair_cells.rows.end(), std::back_inserter(cells.rows));
    if (format == Format::json) json["comparisons"].push_back(models_json(comparison));
    if (format != Format::table) continue;
    if (&comparison != &comparisons.front()) fmt::print("\n");
    print_models(comparison, options);
  }
  if (format == Format::csv) fmt::print("{}", render_csv(cells));
  if (format == Format::json) fmt::print("{}\n", json_text(json));
  return exit_ok;
}

/// Returns the reason why two sets have no pair: different GPU or CPU models or threads, or different trials.
/// Programs that read JSON, such as the report, get no hint about options.
std::string no_pair_text(const Sides& sides, const Comparison& comparison, Format format) {
  const Comparison on_all_places = compare(sides.base, sides.now, /*rules=*/{});
  if (!on_all_places.pairs.empty()) {
    const Pair& pair = on_all_places.pairs.front();
    return fmt::format(
        "have {} in common, but base ran on {} and new on {}. Times of different models or numbers of "
        "threads "
        "show no changes over time{}",
        counted(on_all_places.pairs.size(), "trial"), one_line_printable(pair.base_place),
        one_line_printable(pair.new_place),
        format == Format::json ? "" : "; without --same-models they are shown next to each other");
  }
  if (sides.repeated > 0)
    return fmt::format(
        "have {} in common, which count for new only: base has no other run of them on the models of new",
        counted(sides.repeated, "record"));
  return fmt::format(
      "have no trial in common: nothing can be compared. All must come from plans that share methods, "
      "backends, sizes, parameters and matrices. {}",
      changed_sentence(comparison));
}

/// Compares the sets and prints the result. @return exit_ok, or exit_regression
int compare_to_stdout(const CompareOptions& options) {
  const Format format = parse_format(options.format);
  CompareRules rules;
  if (!options.threshold.empty()) rules.threshold = parse_percent("--threshold", options.threshold);
  rules.fail_above = parse_percent("--fail-above", options.fail_above);
  rules.same_places = options.same_models;
  std::vector<io::Results> sets = load_sets(options);
  const std::set<std::string> bases =
      options.same_models ? std::set<std::string>() : base_models(sets, options.models);
  if (!bases.empty()) return print_model_comparisons(std::move(sets), bases, options, format);
  const Sides sides = sides_of(std::move(sets), options.same_models || options.sets.size() == 1);
  for (const std::string& remark : sides.remarks) print_stderr(fmt::format("note: {}\n", remark));
  const Comparison comparison = compare(sides.base, sides.now, rules);
  if (comparison.pairs.empty()) {
    throw UsageError(
        fmt::format("{} {}", fmt::join(options.sets, " and "), no_pair_text(sides, comparison, format)));
  }
  if (comparison.is_same_plan && comparison.only_base > 0) {
    RunParts parts;
    parts.add(options.sets.back(), sides.now);
    const std::string text = without_records_text(parts.without_records());
    if (!text.empty()) print_stderr(fmt::format("note: new: {}\n", text));
  }
  note_cpus(sides.base, sides.now, rules.same_places || options.sets.size() == 1);
  for (const auto& [side, where] : {std::pair(&sides.base, "base: "), std::pair(&sides.now, "new: ")}) {
    note_conditions(side->records, where);
    note_libraries(side->records, where);
  }
  std::size_t hidden = 0;
  const bool is_for_persons = format == Format::table || format == Format::markdown;
  const bool all = options.all || !options.only.empty() || !is_for_persons;
  const Comparison shown = selected(comparison, options, all, hidden);
  if (format == Format::csv) {
    fmt::print("{}", render_csv(pair_table(shown, Reader::program)));
  } else if (format == Format::json) {
    fmt::print("{}\n", json_text(json_of(comparison, shown, rules)));
  } else {
    print_comparison(comparison, shown, hidden, options, format);
  }
  return comparison.regressions.empty() ? exit_ok : exit_regression;
}

}  // namespace

int show_comparison(const std::string& base, const std::string& now, const std::string& threshold,
                    const std::string& format) {
  CompareOptions options;
  options.sets = {base, now};
  options.command = fmt::format("gaussweep compare {} {} ", shell_quoted(base), shell_quoted(now));
  options.threshold = threshold;
  options.format = format;
  return compare_to_stdout(options);
}

void add_compare_command(CLI::App& app, Commands& commands) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* sub = app.add_subcommand("compare",
                                     "Compare sets of records: FASTER, SLOWER, SAME, UNCLEAR or HOST-BOUND "
                                     "by trial, with exit code 4 on a regression. For different GPU or CPU "
                                     "models: which one is faster at which sizes, and why");
  sub->add_option(
         "runs", options->sets,
         "Run directories, directories of run directories, results files or journals: one or more to "
         "compare with, then the one to judge. A single file with several "
         "runs is enough: its last run is judged")
      ->required()
      ->expected(1, max_sets);
  sub->add_option("--threshold", options->threshold,
                  "Percent by which a median must change to count, 0 to 1000 (default: 2; of a duet 0.5)");
  sub->add_option("--fail-above", options->fail_above,
                  "A SLOWER trial is a regression if its time grew by more than this many percent, 0 to 1000")
      ->capture_default_str();
  add_format(*sub, options->format, {"table", "csv", "json", "markdown", "latex"});
  add_filter_options(*sub, options->filter);
  sub->add_option("--base-gpu", options->base_gpu,
                  "Take only this GPU model from base (may contain * and ?)");
  sub->add_option("--new-gpu", options->new_gpu, "Take only this GPU model from new (may contain * and ?)");
  sub->add_flag("--same-models", options->same_models, "Compare only trials on the same GPU and CPU models");
  sub->add_flag(
         "--models", options->models,
         "Compare the GPU or CPU models in all runs, pooled; the default if the runs have no model in common")
      ->excludes("--same-models");
  sub->add_flag("--all", options->all, "Show every trial, not only those that changed");
  auto* only = sub->add_option("--only", options->only, "Show only these trials")
                   ->delimiter(',')
                   ->allow_extra_args(false);
  allow_values(*only, kinds);
  allow_values(*sub->add_option("--sort", options->sort, "Order of the trials; -COLUMN: descending"),
               {"speedup", "-speedup", "n", "-n", "base", "-base", "new", "-new"});
  allow_integers(*sub->add_option("--limit", options->limit, "Show this many rows of each table; 0: all")
                      ->capture_default_str(),
                 0, max_rows);
  sub->callback([options, &commands] { commands.exit_code = compare_to_stdout(*options); });
}

}  // namespace gaussweep::driver
