/// Filters records (the stored results of trials), and sorts and renders the summary table. A row of the
/// table is a group: the records of one trial on one GPU model.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fnmatch.h>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/trial.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/summary.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/plan/plan.hpp"
#include "io/plan/settings.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

/// The outputs in which a column appears: the terminal's table, data (CSV, JSON), or both.
enum class Output { terminal, data, both };

/// A column of the summary: the outputs that show it, and the function that computes its cell.
struct SummaryColumn {
  Column column;
  Output output;
  std::function<Cell(const Group&)> cell;
};

/// Inserts one column per setting that distinguishes measurements (io/plan/settings.hpp), before the GPU's
/// column.
std::vector<SummaryColumn> with_settings(std::vector<SummaryColumn> columns) {
  auto position = std::find_if(columns.begin(), columns.end(),
                               [](const SummaryColumn& each) { return each.column.name == "gpu_name"; });
  for (const io::Setting& setting : io::conditions()) {
    const auto cell = [column = setting.condition->column](const Group& g) -> Cell {
      return g.first().*column;
    };
    position = columns.insert(position, {{setting.name, setting.condition->heading}, Output::both, cell}) + 1;
  }
  return columns;
}

/// Returns the columns of the summary, in order.
const std::vector<SummaryColumn>& summary_column_list() {
  using G = const Group&;
  static const std::vector<SummaryColumn> all = with_settings(
      {{{"problem", "PROBLEM"}, Output::data, [](G g) -> Cell { return g.first().problem; }},
       {{"method", "METHOD"}, Output::data, [](G g) -> Cell { return g.first().method; }},
       {{"id", "METHOD"},
        Output::terminal,
        [](G g) -> Cell { return g.first().problem + "/" + g.first().method; }},
       {{"backend", "BACKEND"}, Output::both, [](G g) -> Cell { return g.first().backend; }},
       {{"precision", "PRECISION"}, Output::both, [](G g) -> Cell { return g.first().precision; }},
       {{"m", "M"}, Output::data, [](G g) -> Cell { return g.first().m; }},
       {{"n", "N"}, Output::both, [](G g) -> Cell { return g.first().n; }},
       {{"k", "K"}, Output::data, [](G g) -> Cell { return g.first().k; }},
       // Only for problems with the size k, such as products.
       {{"shape", "M x K"},
        Output::terminal,
        [](G g) -> Cell {
          return has_axis(g.first().problem, "k") ? fmt::format("{} x {}", g.first().m, g.first().k)
                                                  : std::string();
        }},
       {{"nrhs", "NRHS"}, Output::both, [](G g) -> Cell { return g.first().nrhs; }},
       {{"batch", "BATCH"}, Output::both, [](G g) -> Cell { return g.first().batch; }},
       {{"uplo", "UPLO"}, Output::both, [](G g) -> Cell { return g.first().uplo; }},
       {{"parameters", "PARAMETERS"}, Output::data, [](G g) -> Cell { return g.first().parameters; }},
       {{"settings", "PARAMETERS"},
        Output::terminal,
        [](G g) -> Cell { return parameters_for_people(g.first().parameters); }},
       {{"matrix", "MATRIX"}, Output::data, [](G g) -> Cell { return matrix_label(g.first()); }},
       {{"matrix_name", "MATRIX"}, Output::terminal, [](G g) -> Cell { return g.matrix; }},
       {{"matrix_parameters", "MATRIX PARAMETERS"},
        Output::data,
        [](G g) -> Cell { return g.first().matrix_parameters; }},
       {{"matrix_kind", "KIND"}, Output::data, [](G g) -> Cell { return g.first().matrix_kind; }},
       {{"matrix_seed", "SEED"}, Output::both, [](G g) -> Cell { return g.first().matrix_seed; }},
       {{"gpu_name", "GPU"}, Output::both, [](G g) -> Cell { return g.first().gpu_name; }},
       {{"capability", "CAPABILITY"}, Output::data, [](G g) -> Cell { return g.first().capability; }},
       {{"trials", "TRIALS"},
        Output::both,
        [](G g) -> Cell { return static_cast<std::int64_t>(g.records.size()); }},
       {{"status", "STATUS"}, Output::both, [](G g) -> Cell { return g.status; }},
       {{"min", "MIN", Style::seconds}, Output::data, [](G g) -> Cell { return g.min; }},
       {{"q1", "Q1", Style::seconds}, Output::data, [](G g) -> Cell { return g.q1; }},
       {{"median", "MEDIAN", Style::seconds}, Output::both, [](G g) -> Cell { return g.median; }},
       {{"q3", "Q3", Style::seconds}, Output::data, [](G g) -> Cell { return g.q3; }},
       {{"max", "MAX", Style::seconds}, Output::data, [](G g) -> Cell { return g.max; }},
       {{"spread", "SPREAD", Style::percent},
        Output::both,
        [](G g) -> Cell { return (g.q3 - g.q1) / g.median; }},
       {{"systems_per_second", "SYSTEMS/S"},
        Output::both,
        [](G g) -> Cell { return static_cast<double>(g.first().batch) / g.median; }},
       {{"gflops", "GFLOP/S"}, Output::both, [](G g) -> Cell { return g.gflops; }},
       {{"peak_share", "OF PEAK", Style::percent}, Output::both, [](G g) -> Cell { return g.peak_share; }},
       {{"replay", "GPU ALONE", Style::seconds}, Output::both, [](G g) -> Cell { return g.replay; }},
       {{"launch_bound", "LAUNCH-BOUND"}, Output::data, [](G g) -> Cell { return g.first().launch_bound; }},
       {{"kernels", "KERNELS"}, Output::data, [](G g) -> Cell { return g.first().kernels; }},
       {{"waits", "WAITS"}, Output::data, [](G g) -> Cell { return g.first().waits; }},
       {{"joules", "J/RUN"}, Output::both, [](G g) -> Cell { return g.joules; }},
       {{"gflops_per_watt", "GFLOP/S/W"},
        Output::both,
        [](G g) -> Cell { return g.flops / g.joules * 1e-9; }},
       {{"ratio", "RATIO", Style::scientific}, Output::both, [](G g) -> Cell { return g.residual_ratio; }},
       {{"forward_error", "ERROR", Style::scientific},
        Output::both,
        [](G g) -> Cell { return g.forward_error; }},
       {{"speedup", "SPEEDUP", Style::factor}, Output::both, [](G g) -> Cell { return g.speedup; }},
       {{"speedup_over", "OVER"}, Output::data, [](G g) -> Cell { return g.speedup_over; }},
       {{"throttled", "THROTTLED"}, Output::data, [](G g) -> Cell { return g.throttled; }},
       {{"key", "KEY"}, Output::data, [](G g) -> Cell { return g.first().key; }}});
  return all;
}

bool matches(const std::string& pattern, const std::string& word) {
  return fnmatch(pattern.c_str(), word.c_str(), 0) == 0;
}

/// Returns true if a pattern matches the word, or if there are no patterns.
bool matches_any(const std::vector<std::string>& patterns, const std::string& word) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const std::string& pattern) { return matches(pattern, word); });
}

/// Returns true if the pattern matches one of the words.
template <class Words>
bool fits_any(const std::string& pattern, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return matches(pattern, word); });
}

/// An inclusive range of sizes.
struct Range {
  std::int64_t low = 0, high = std::numeric_limits<std::int64_t>::max();
};

/// Converts "512" or "1k" to a number. @param whole the option's whole value, for the error message @throws
/// UsageError
std::int64_t parse_size(const std::string& text, const std::string& whole) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest + 1 == end && *rest == 'k' && value < (std::int64_t{1} << 40)) {
    value *= 1024;
    ++rest;
  }
  if (error != std::errc() || rest != end || text.empty() || value < 0) {
    throw UsageError(fmt::format(
        "--n {}: not a size; allowed are a number (512, 1k), a range (256:1024), or a bound (>=512, <64)",
        whole));
  }
  return value;
}

/// Parses a value of --n: "512", "256:1024", ">=1k", "<64". @throws UsageError
Range parse_range(const std::string& text) {
  const auto colon = text.find(':');
  if (colon != std::string::npos) {
    const Range range{parse_size(text.substr(0, colon), text), parse_size(text.substr(colon + 1), text)};
    if (range.low <= range.high) return range;
    throw UsageError(fmt::format("--n {}: the range ends before it starts; allowed: low:high", text));
  }
  const std::size_t digits = text.find_first_not_of("<>=");
  const std::string comparison = text.substr(0, digits);
  const auto size = [&] { return parse_size(digits == std::string::npos ? "" : text.substr(digits), text); };
  if (comparison == ">=") return {size()};
  if (comparison == "<=") return {0, size()};
  if (comparison == ">") return {size() + 1};
  if (comparison == "<") return {0, size() - 1};
  const std::int64_t single = parse_size(text, text);
  return {single, single};
}

/// Returns true if a range contains n, or if there are no ranges.
bool contains(const std::vector<Range>& ranges, std::int64_t n) {
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(),
                                       [n](const Range& range) { return range.low <= n && n <= range.high; });
}

/// Throws if a pattern matches no record, because it is probably mistyped.
void check_patterns(const char* option, const std::vector<std::string>& patterns,
                    const std::set<std::string>& present) {
  for (const std::string& pattern : patterns) {
    if (fits_any(pattern, present)) continue;
    std::vector<std::string> words(present.begin(), present.end());
    // Records without a GPU have an empty name.
    words.erase(std::remove(words.begin(), words.end(), ""), words.end());
    if (words.empty())
      throw UsageError(
          fmt::format("{} {}: no record names a GPU; --backend chooses other records", option, pattern));
    throw UsageError(fmt::format("{} {}: no record matches; {}present are {}", option, pattern,
                                 io::nearest_hint(pattern, words), fmt::join(words, ", ")));
  }
}

/// Throws if a pattern matches no status that gaussweep has. A status without records is allowed.
void check_statuses(const std::vector<std::string>& patterns) {
  const std::vector<std::string>& words = io::status_names();
  for (const std::string& pattern : patterns) {
    if (fits_any(pattern, words)) continue;
    throw UsageError(fmt::format("--status {}: no such status; {}allowed are {}", pattern,
                                 io::nearest_hint(pattern, words), fmt::join(words, ", ")));
  }
}

/// Throws if no record has a size in one of the ranges.
void check_sizes(const std::vector<std::string>& texts, const std::vector<Range>& ranges,
                 const std::vector<Record>& records) {
  std::set<std::int64_t> present;
  for (const Record& record : records) present.insert(record.n);
  for (const std::int64_t n : present) {
    if (contains(ranges, n)) return;
  }
  throw UsageError(fmt::format("--n {}: no record matches; present are {}", fmt::join(texts, ","),
                               fmt::join(present, ", ")));
}

/// Describes the records that match the filter's problems and methods: their methods, precisions, backends,
/// GPUs, sizes and matrices.
std::string present_text(const std::vector<Record>& records, const Filter& filter) {
  constexpr std::size_t max_named = 12;
  const auto listed = [](const auto& values) {
    std::vector<std::string> words;
    for (const auto& value : values) words.push_back(fmt::format("{}", value));
    const std::size_t more = words.size() > max_named ? words.size() - max_named : 0;
    words.resize(words.size() - more);
    return fmt::format("{}{}", fmt::join(words, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
  };
  std::set<std::string> methods, precisions, backends, matrices, gpus;
  std::set<std::int64_t> sizes;
  for (const Record& record : records) {
    if (!matches_any(filter.problems, record.problem)) continue;
    if (!matches_any(filter.methods, record.method) &&
        !matches_any(filter.methods, record.problem + "/" + record.method))
      continue;
    methods.insert(record.problem + "/" + record.method);
    precisions.insert(record.precision);
    backends.insert(record.backend);
    matrices.insert(matrix_label(record));
    if (!record.gpu_name.empty()) gpus.insert(record.gpu_name);
    sizes.insert(record.n);
  }
  if (methods.empty()) return present_text(records, Filter());
  std::string text = fmt::format("{} in {} on {}", listed(methods), listed(precisions), listed(backends));
  if (!gpus.empty()) text += fmt::format(" ({})", listed(gpus));
  return text + fmt::format(", n {}, matrices {}", listed(sizes), listed(matrices));
}

}  // namespace

std::vector<Record> filter_records(std::vector<Record> records, const Filter& filter, IfEmpty if_empty) {
  struct Choice {
    const char* option;
    const std::vector<std::string>* patterns;
    io::Text Record::*member;
  };
  const Choice choices[] = {{"--problem", &filter.problems, &Record::problem},
                            {filter.method_option, &filter.methods, &Record::method},
                            {"--precision", &filter.precisions, &Record::precision},
                            {"--backend", &filter.backends, &Record::backend},
                            {"--status", &filter.statuses, &Record::status},
                            {"--gpu", &filter.gpus, &Record::gpu_name},
                            {"--matrix", &filter.matrices, &Record::matrix_kind}};
  std::vector<Range> ranges;
  for (const std::string& text : filter.sizes) ranges.push_back(parse_range(text));
  check_statuses(filter.statuses);
  for (const Choice& choice : choices) {
    if (choice.patterns->empty() || records.empty()) continue;
    std::set<std::string> present;
    for (const Record& record : records) {
      present.insert(record.*choice.member);
      if (choice.member == &Record::method) present.insert(record.problem + "/" + record.method);
      if (choice.member == &Record::matrix_kind) present.insert(matrix_label(record));
    }
    if (choice.member != &Record::status) check_patterns(choice.option, *choice.patterns, present);
  }
  const auto is_excluded = [&](const Record& record) {
    for (const Choice& choice : choices) {
      const bool fits =
          matches_any(*choice.patterns, record.*choice.member) ||
          (choice.member == &Record::method &&
           matches_any(*choice.patterns, record.problem + "/" + record.method)) ||
          (choice.member == &Record::matrix_kind && matches_any(*choice.patterns, matrix_label(record)));
      if (!fits) return true;
    }
    return !contains(ranges, record.n);
  };
  if (if_empty == IfEmpty::throws && !records.empty()) check_sizes(filter.sizes, ranges, records);
  if (if_empty == IfEmpty::throws && !records.empty() &&
      std::all_of(records.begin(), records.end(), is_excluded))
    throw UsageError(fmt::format("none of the {} passes all filters; there are {}",
                                 counted(records.size(), "record"), present_text(records, filter)));
  records.erase(std::remove_if(records.begin(), records.end(), is_excluded), records.end());
  return records;
}

std::vector<std::string> summary_columns() {
  std::vector<std::string> names;
  for (const SummaryColumn& view : summary_column_list()) names.push_back(view.column.name);
  return names;
}

namespace {

/// Sorts groups stably by a comparison of their indices. Swaps groups in place, because copying a million
/// groups would take too much memory.
template <class ComesBefore>
void sort_by(std::vector<Group>& groups, const ComesBefore& comes_before) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), comes_before);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::size_t index = order[i];
    // Step k moved the group at position k to position order[k]. The loop follows these moves.
    while (index < i) index = order[index];
    std::swap(groups[i], groups[index]);
  }
}

}  // namespace

void sort_groups(std::vector<Group>& groups, const std::string& column) {
  if (column.empty()) {
    const auto sort_key = [&](std::size_t i) {
      const Record& r = groups[i].first();
      return std::tie(r.problem, r.precision, r.n, r.m, r.k, r.nrhs, r.batch, r.uplo, r.method, r.parameters,
                      matrix_label(r), r.matrix_parameters, r.matrix_seed);
    };
    return sort_by(groups, [&](std::size_t a, std::size_t b) { return sort_key(a) < sort_key(b); });
  }
  const bool down = column.front() == '-';
  const std::string name = down ? column.substr(1) : column;
  const auto view = std::find_if(summary_column_list().begin(), summary_column_list().end(),
                                 [&](const SummaryColumn& v) { return v.column.name == name; });
  if (view == summary_column_list().end()) {
    const std::vector<std::string> names = summary_columns();
    throw UsageError(fmt::format("--sort {}: unknown column; {}allowed are {}, and each with a - before it",
                                 name, io::nearest_hint(name, names), fmt::join(names, ", ")));
  }
  std::vector<Cell> cells;
  for (const Group& group : groups) cells.push_back(view->cell(group));
  const auto is_unknown = [](const Cell& cell) {
    const auto* number = std::get_if<double>(&cell);
    return number != nullptr && std::isnan(*number);
  };
  sort_by(groups, [&](std::size_t a, std::size_t b) {
    if (is_unknown(cells[a]) || is_unknown(cells[b])) return !is_unknown(cells[a]) && is_unknown(cells[b]);
    return down ? cells[b] < cells[a] : cells[a] < cells[b];
  });
}

Table summary_table(const std::vector<Group>& groups, bool full) {
  Table table;
  std::vector<const SummaryColumn*> chosen;
  // On a terminal, columns with the default value in all rows are left out.
  std::vector<const Record*> records;
  for (const Group& group : groups) records.push_back(&group.first());
  const NeededColumns needed(records);
  const ParameterNames settings(records);
  const auto is_condition = [](const std::string& name) {
    const auto& all = io::conditions();
    return std::any_of(all.begin(), all.end(), [&](const io::Setting& each) { return each.name == name; });
  };
  // Returns true if the column has the default value in all rows (NeededColumns).
  const auto is_default = [&](const std::string& name) {
    return (name == "nrhs" && !needed.nrhs) ||
           ((name == "batch" || name == "systems_per_second") && !needed.batch) ||
           (name == "uplo" && needed.uplo.empty()) || (name == "matrix_seed" && !needed.seed) ||
           (is_condition(name) && needed.conditions.count(name) == 0);
  };
  const bool repeated =
      std::any_of(groups.begin(), groups.end(), [](const Group& g) { return g.records.size() > 1; });
  for (const SummaryColumn& view : summary_column_list()) {
    const std::string& name = view.column.name;
    if (view.output == (full ? Output::terminal : Output::data)) continue;
    if (!full && (is_default(name) || (name == "trials" && !repeated))) continue;
    chosen.push_back(&view);
    table.columns.push_back(view.column);
  }
  for (const Group& group : groups) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const SummaryColumn* view : chosen) {
      const std::string& name = view->column.name;
      if (name == "settings") {
        row.push_back(settings.of(group.first().parameters));
      } else if (!full && name == "uplo" && needed.uplo.count(group.first().problem) == 0) {
        row.emplace_back();  // the problem has no triangle, or only one
      } else {
        row.push_back(view->cell(group));
      }
    }
  }
  // The columns before the status identify a row.
  const auto status = std::find_if(chosen.begin(), chosen.end(),
                                   [](const SummaryColumn* view) { return view->column.name == "status"; });
  if (!full) table.common = settings.common();
  table.key_columns = static_cast<std::size_t>(status - chosen.begin());
  table.droppable = {"gflops_per_watt", "joules", "replay",     "forward_error",
                     "gflops",          "spread", "peak_share", "trials"};
  return table;
}

}  // namespace gaussweep::driver
