/// Loads the records (results of trials) of several runs, and prints tables of them.

#include "driver/command/records_output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/compare/models.hpp"
#include "driver/results/device_peaks.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/loading.hpp"
#include "driver/results/run_parts.hpp"
#include "driver/summary/summary.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "driver/system/console.hpp"
#include "driver/system/terminal.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t usual_width = 120;  // characters of a grid's line if the terminal's width is unknown

/// Moves the elements of `added` to the end of `all`.
template <class T>
void move_to(std::vector<T>& all, std::vector<T>& added) {
  if (all.empty()) return all.swap(added);
  all.insert(all.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
}

/// Prints one sentence per grid after the first: the comparison of the grid's GPU or CPU model with the first
/// grid's model.
void print_model_sentences(const std::vector<VerdictGrid>& grids) {
  for (const VerdictGrid& grid : grids) {
    const VerdictGrid& first = grids.front();
    // A compute capability of 0 means a CPU. GPUs are compared only with GPUs, CPUs only with CPUs.
    if (&grid == &first || (grid.capability > 0) != (first.capability > 0)) continue;
    const ModelComparison comparison = compare_models(first, grid);
    if (comparison.tasks.empty()) continue;
    fmt::print("\n{}", paragraph(headline(comparison) +
                                     " `compare --models` shows where, and which limit explains it.",
                                 prose_width()));
  }
}

/// Returns an explanation of the columns that a table of groups shows. @param table the rendered table
std::string column_legend(const std::vector<Group>& groups, const std::string& table) {
  const bool exceeds_peak =
      std::any_of(groups.begin(), groups.end(), [](const Group& g) { return g.peak_share > 1; });
  const std::pair<const char*, const char*> meanings[] = {
      {"RATIO",
       ": the residual in units of the error that rounding may cause, the worst of a row; its limit is the "
       "tolerance."},
      {"ERROR",
       ": the distance from the known solution, which a bad condition makes large; it has no limit."},
      {"SPEEDUP", ": over the vendor's method, unless --baseline names another."},
      {exceeds_peak ? "OF PEAK" : nullptr,
       " above 100%: operands in a cache, skipped zeros, a lower precision inside the method, or a peak that "
       "was measured too low."}};
  const std::string shown = table.substr(0, table.find("Not shown in "));
  std::string text;
  for (const auto& [title, meaning] : meanings) {
    if (title == nullptr || shown.find(title) == std::string::npos) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", title, meaning);
  }
  return text;
}

}  // namespace

void add_filter_options(CLI::App& command, Filter& filter) {
  // Each use of an option takes one word (or a list with commas), because the next argument may be a path.
  const auto add_list = [&command](const char* name, std::vector<std::string>& words, const char* help) {
    command.add_option(name, words, help)->delimiter(',')->allow_extra_args(false);
  };
  add_list("--problem", filter.problems, "Only these problems (patterns may contain * and ?)");
  add_list("--method", filter.methods, "Only these methods, e.g. cusolver, gesv/gauss_*");
  add_list("--precision", filter.precisions, "Only float or double");
  add_list("--backend", filter.backends, "Only cuda, emulated or host");
  add_list("--status", filter.statuses, "Only these statuses, e.g. failed,crashed");
  add_list("--gpu", filter.gpus, "Only these GPU models, e.g. *H200*");
  add_list("--matrix", filter.matrices, "Only these kinds of matrix, or files, e.g. 1138_bus.mtx");
  add_list("--n,-n", filter.sizes,
           "Only these sizes: 512, 1k, 256:1024, >=512, <64; with several, a size needs to meet only one");
}

std::vector<std::filesystem::path> runs_under(const std::vector<std::string>& paths, bool by_journal,
                                              std::vector<std::string>* repeated) {
  std::vector<std::filesystem::path> all;
  std::map<std::filesystem::path, std::filesystem::path> by_real_path;
  for (const std::string& path : paths) {
    for (const std::filesystem::path& run : runs_under(std::filesystem::path(path), by_journal)) {
      std::error_code error;
      const std::filesystem::path real = std::filesystem::canonical(run, error);
      const auto [first, is_new] = by_real_path.emplace(error ? run : real, run);
      if (is_new) all.push_back(run);
      if (!is_new && repeated != nullptr && first->second != run)
        repeated->push_back(one_line_printable(
            fmt::format("{} is {}, which counts once", run.string(), first->second.string())));
    }
  }
  return all;
}

std::vector<std::filesystem::path> runs_with_notes(const std::vector<std::string>& paths) {
  std::vector<std::string> notes;
  std::vector<std::filesystem::path> runs = runs_under(paths, /*by_journal=*/false, &notes);
  for (const std::vector<std::string>& more :
       {missing_shards(runs, paths), unread_results({paths.begin(), paths.end()})})
    notes.insert(notes.end(), more.begin(), more.end());
  for (const std::string& note : notes) print_stderr(fmt::format("note: {}\n", note));
  return runs;
}

io::Results load_all(const std::vector<std::string>& paths, bool with_details, MissingTrials* missing,
                     std::vector<io::DeviceRow>* measured, const std::vector<std::string>& peaks_of) {
  io::Results all;
  MissingTrials found;
  HostNames names;  // distinguishes machines with the same host name
  RunParts parts;   // the shards and run directories
  std::set<std::string> drivers;
  // Hashes of the trials' executions that were loaded: several runs may contain the same execution.
  std::unordered_set<std::size_t> executions;
  std::size_t repeated = 0;
  const std::vector<std::filesystem::path> runs = runs_with_notes(paths);
  for (const std::filesystem::path& path : runs) {
    io::Results results = load_and_warn(path, with_details).results;
    const std::size_t known = runs.size() > 1 ? drop_known_executions(results.records, executions) : 0;
    repeated += known;
    if (known > 0 && results.records.empty()) continue;
    names.make_names_unique(results);
    const std::int64_t expected = expected_records(results);
    const auto count = static_cast<std::int64_t>(results.records.size() + known);
    found.is_known = found.is_known || expected >= 0;
    found.count += static_cast<std::size_t>(std::max<std::int64_t>(expected - count, 0));
    found.total += static_cast<std::size_t>(std::max(expected, count));
    parts.add(path, results);
    if (runs.size() == 1) found.without_records = listed_without_records(results);
    drivers.insert(attribute(results, "driver_version"));
    move_to(all.records, results.records);
    move_to(all.devices, results.devices);
    move_to(all.hosts, results.hosts);
  }
  if (runs.size() > 1) {
    const auto unstarted = static_cast<std::size_t>(std::max<std::int64_t>(parts.unstarted(), 0));
    found.count += unstarted;
    found.total += unstarted;
    found.without_records = parts.without_records();
  }
  note_repeated(repeated);
  if (missing != nullptr) *missing = found;
  if (measured != nullptr) *measured = all.devices;
  const std::size_t own_devices = all.devices.size();
  for (const std::filesystem::path& path : runs_under(peaks_of)) {
    io::Results other = load(path, /*with_details=*/false).results;
    names.make_names_unique(other);
    move_to(all.devices, other.devices);
  }
  if (runs.size() > 1 || !peaks_of.empty()) unify_peaks(all);
  all.devices.resize(own_devices);
  drivers.erase("");
  if (!drivers.empty()) all.attributes["driver_version"] = fmt::format("{}", fmt::join(drivers, ", "));
  return all;
}

void print_table(const Table& table, const char* name, Format format) {
  if (format == Format::csv) {
    fmt::print("{}", render_csv(table));
  } else if (format == Format::json) {
    fmt::print("{}\n", json_text(nlohmann::ordered_json{{name, render_json(table)}}));
  } else {
    fmt::print("{}", render_shown(table, format, output_width()));
  }
}

void print_groups(const std::vector<Group>& groups, std::size_t hidden, Format format) {
  const std::string table = render_shown(summary_table(groups, /*full=*/false), format, output_width());
  fmt::print("{}", table);
  if (hidden > 0) {
    const std::string words = fmt::format(
        "… and {}: --limit 0 shows all; filters such as --problem, --method, --n and --best show fewer\n",
        counted(hidden, "more row"));
    fmt::print("{}", comment_lines_if_latex(words, format));
    // In LaTeX the remark is a comment, so the document does not show it.
    if (format == Format::latex) print_stderr("note: " + words);
  }
  const std::string legend = column_legend(groups, table);
  if (legend.empty()) return;
  if (format == Format::markdown) fmt::print("\n");
  fmt::print("{}", comment_lines_if_latex(paragraph(legend, prose_width()), format));
}

std::string MissingTrials::text() const {
  std::string text;
  if (count > 0)
    text = fmt::format("{} of {} missing (run --resume runs them; a shard needs its --shard)", count,
                       counted(total, "trial"));
  append_text(text, without_records_text(without_records));
  return text;
}

void add_missing(nlohmann::ordered_json& json, const MissingTrials& missing) {
  if (missing.is_known) json["missing"] = missing.count;
  if (!missing.without_records.empty()) json["without_records"] = missing.without_records;
}

void print_failures(const std::vector<io::Record>& records, const char* separator,
                    const MissingTrials& missing, Format format) {
  const auto print_section = [&](const char* heading, const Table& table) {
    if (table.rows.empty()) return;
    fmt::print("{}{}{}", separator, comment_lines_if_latex(fmt::format("{}:\n", heading), format),
               render_shown(table, format, output_width()));
    separator = "\n";
  };
  print_section("Not as expected", failure_table(records, Failures::unexpected));
  print_section("Expected failures, and skipped", failure_table(records, Failures::findings));
  print_section("Doubtful times or digits of trials with the status pass or suspect", doubt_table(records));
  fmt::print("\n{}", comment_lines_if_latex(fmt::format("{}: {}{}{}\n", counted(records.size(), "record"),
                                                        status_counts_text(records),
                                                        missing.text().empty() ? "" : "; ", missing.text()),
                                            format));
}

void print_verdict_grids(const std::vector<io::Record>& records, const io::Results& all, Format format,
                         const std::string& baseline, const MissingTrials& missing, bool brief) {
  const std::vector<VerdictGrid> grids = verdict_grids(records, all.devices, all.hosts, baseline);
  if (format == Format::csv) {
    fmt::print("{}", render_csv(verdict_table(grids)));
  } else if (format == Format::json) {
    nlohmann::ordered_json json;
    json["races"] = render_json(verdict_table(grids));
    json["failures"] = render_json(failure_table(records, Failures::all));
    json["doubts"] = render_json(doubt_table(records));
    json["records"] = records.size();
    add_missing(json, missing);
    fmt::print("{}\n", json_text(json));
  } else if (format == Format::markdown || format == Format::latex) {
    if (format == Format::latex && !brief && !grids.empty())
      fmt::print("{}\n", comment_lines_if_latex(verdict_legend(grids), format));
    fmt::print("{}", format == Format::latex ? verdict_latex(grids) : verdict_markdown(grids));
    if (!brief) print_failures(records, "\n", missing, format);
  } else {
    fmt::print("{}", verdict_text(grids, {output_width(usual_width), output_has_colours(), !brief}));
    if (!brief) {
      print_model_sentences(grids);
      print_failures(records, "\n", missing, format);
    }
  }
  if (brief && !missing.text().empty())
    fmt::print("\n{}", comment_lines_if_latex(missing.text() + "\n", format));
}

}  // namespace gaussweep::driver
