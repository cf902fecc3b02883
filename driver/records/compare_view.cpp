/// What `compare` prints.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "driver/base/errors.hpp"
#include "driver/records/compare.hpp"

namespace gaussweep::driver {

namespace {

TrialColumns columns_of(const Comparison& comparison, Reader reader) {
  std::vector<const io::Record*> records;
  records.reserve(comparison.pairs.size());
  for (const Pair& pair : comparison.pairs) records.push_back(&pair.identity);
  return {records, reader};
}

template <class T>
void extend(std::vector<T>& list, std::initializer_list<typename std::vector<T>::value_type> more) {
  list.insert(list.end(), more);
}

// Where all was measured on one place, its name in every row only fills the line.
void spare_places(Table& table, const Comparison& comparison, Reader reader) {
  if (reader == Reader::program || comparison.across) return;
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (table.columns[c].name != "base_place" && table.columns[c].name != "new_place") continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

}  // namespace

double parse_threshold(const std::string& text) {
  std::string number = text;
  if (!number.empty() && number.back() == '%') number.pop_back();
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size() || !(percent >= 0) || percent > 1000) {
    throw UsageError(
        fmt::format("--threshold {}: not a percentage; allowed is a number from 0 to 1000, e.g. 5", text));
  }
  return percent / 100;
}

Table pair_table(const Comparison& comparison, bool all, Reader reader) {
  Table table;
  const TrialColumns trial = columns_of(comparison, reader);
  table.columns = trial.columns();
  extend(table.columns, {{"base_place", "BASE ON"},
                         {"new_place", "NEW ON"},
                         {"base_median", "BASE", Style::seconds},
                         {"new_median", "NEW", Style::seconds},
                         {"verdict", "VERDICT"},
                         {"speedup", "SPEEDUP", Style::factor},
                         {"speedup_low", "FROM", Style::factor},
                         {"speedup_high", "TO", Style::factor},
                         {"base_status", "WAS"},
                         {"new_status", "IS"}});
  const auto any = [&](auto known) {
    return reader == Reader::program || std::any_of(comparison.pairs.begin(), comparison.pairs.end(), known);
  };
  const bool replays = any([](const Pair& p) { return p.has_replays(); });
  const bool energy = any([](const Pair& p) { return p.base_joules > 0 && p.new_joules > 0; });
  if (replays)
    extend(table.columns,
           {{"base_replay", "BASE GPU", Style::seconds}, {"new_replay", "NEW GPU", Style::seconds}});
  if (energy) extend(table.columns, {{"base_joules", "BASE J"}, {"new_joules", "NEW J"}});
  for (const Pair& pair : comparison.pairs) {
    const bool is_quiet = pair.change.verdict == Verdict::same || pair.change.verdict == Verdict::untimed;
    if (!all && is_quiet) continue;
    table.rows.push_back(trial.cells(pair.identity));
    extend(table.rows.back(), {pair.base_place, pair.new_place, pair.base.median, pair.now.median,
                               std::string(to_string(pair.change.verdict)), 1 / pair.change.ratio,
                               1 / pair.change.high, 1 / pair.change.low, pair.base_status, pair.new_status});
    if (replays) extend(table.rows.back(), {pair.base_replay.median, pair.new_replay.median});
    if (energy) extend(table.rows.back(), {pair.base_joules, pair.new_joules});
  }
  table.naming = trial.columns().size();
  table.common = trial.common();
  table.spare = {"base_joules new_joules", "base_replay new_replay", "speedup_low speedup_high",
                 "base_status new_status", "base_place new_place"};
  spare_places(table, comparison, reader);
  return table;
}

Table method_table(const Comparison& comparison, Reader reader) {
  Table table;
  table.columns = {{"method", "METHOD"},
                   {"backend", "BACKEND"},
                   {"base_place", "BASE ON"},
                   {"new_place", "NEW ON"},
                   {"trials", "TRIALS"},
                   {"same", "SAME"},
                   {"faster", "FASTER"},
                   {"slower", "SLOWER"},
                   {"unclear", "UNCLEAR"},
                   {"launches", "LAUNCHES"},
                   {"speedup", "SPEEDUP", Style::factor},
                   {"verdict", "ALTOGETHER"}};
  for (const MethodChange& method : comparison.methods) {
    table.rows.push_back({method.method, method.backend, method.base_place, method.new_place, method.pairs,
                          method.same, method.faster, method.slower, method.unclear, method.launches,
                          1 / method.change.ratio, std::string(to_string(method.change.verdict))});
  }
  table.naming = 2;
  table.spare = {"launches", "same unclear"};
  spare_places(table, comparison, reader);
  return table;
}

Table accuracy_table(const Comparison& comparison, Reader reader) {
  Table table;
  const TrialColumns trial = columns_of(comparison, reader);
  table.columns = trial.columns();
  extend(table.columns, {{"accuracy", "CHANGE"}, {"verdict", "VERDICT"}});
  for (const Pair& pair : comparison.pairs) {
    if (pair.accuracy.empty()) continue;
    table.rows.push_back(trial.cells(pair.identity));
    extend(table.rows.back(), {pair.accuracy, std::string(pair.is_worse ? "WORSE" : "")});
  }
  table.naming = trial.columns().size();
  table.common = trial.common();
  return table;
}

Table crossover_table(const Comparison& comparison) {
  Table table;
  table.columns = {{"series", "SERIES"},
                   {"base_place", "BASE ON"},
                   {"new_place", "NEW ON"},
                   {"n", "N"},
                   {"finding", "FINDING"}};
  for (const Crossover& crossover : comparison.crossovers) {
    table.rows.push_back(
        {crossover.series, crossover.base_place, crossover.new_place, crossover.n, crossover.finding});
  }
  return table;
}

}  // namespace gaussweep::driver
