/// Makes the tables and sentences that `gaussweep compare` prints. A pair is a trial that is in both sets of
/// records, base and new.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/compare/compare.hpp"

namespace gaussweep::driver {
namespace {

TrialColumns columns_of(const Comparison& comparison, Reader reader) {
  std::vector<const io::Record*> records;
  records.reserve(comparison.pairs.size());
  for (const Pair& pair : comparison.pairs) records.push_back(&pair.identity);
  return {records, reader};
}

/// Drops the columns of places (the GPU or CPU models) for persons if all pairs have the same place on both
/// sides.
void drop_places(Table& table, const Comparison& comparison, Reader reader) {
  if (reader == Reader::program || comparison.has_other_places) return;
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    if (table.columns[c].name != "base_place" && table.columns[c].name != "new_place") continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

/// Relative changes of this size or more are shown as "a factor of over 100".
constexpr double max_shown_change = 99;

/// Formats several relative changes in one unit. The unit is percent ("3.8 %", "15 %"), or a factor if
/// `largest` at least doubles the time ("a factor of 1.9", "a factor of 4.9").
class ChangeTexts {
 public:
  explicit ChangeTexts(double largest) : as_factors_(largest >= 1) {}
  std::string operator()(double relative_change) const {
    if (relative_change >= max_shown_change) return "a factor of over 100";
    if (as_factors_) return fmt::format("a factor of {:.1f}", 1 + relative_change);
    return fmt::format("{:.{}f} %", 100 * relative_change, relative_change < 0.1 ? 1 : 0);
  }

 private:
  bool as_factors_;
};

/// Returns an end of a speedup's interval as a cell. Persons get a bound ("> 1000x", "< 0.001x") for an end
/// beyond a factor of 1000, because its exact value is no information.
Cell bound_cell(double speedup, Reader reader) {
  constexpr double max_bound = 1000;
  if (reader == Reader::person && speedup > max_bound) return "> 1000x";
  if (reader == Reader::person && speedup < 1 / max_bound) return "< 0.001x";
  return speedup;
}

/// Returns Change::detectable, the smallest change that would get a verdict. For persons, changes of 100 % or
/// more are factors: "2.5x", "over 100x".
Cell detectable_cell(double detectable, Reader reader) {
  if (reader == Reader::person && detectable >= max_shown_change) return "over 100x";
  if (reader == Reader::person && detectable >= 1) return fmt::format("{:.1f}x", 1 + detectable);
  return detectable;
}

/// Returns up to five names, and the number of the remaining ones.
std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t max_listed = 5;
  const std::vector<std::string> first(names.begin(), names.begin() + std::min(names.size(), max_listed));
  return one_line_printable(fmt::format("{}", fmt::join(first, "; "))) +
         (names.size() > max_listed ? fmt::format("; and {} more", names.size() - max_listed) : "");
}

/// Returns the rank of a verdict in the output, most important first.
int importance(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
      return 0;
    case Verdict::faster:
      return 1;
    case Verdict::unclear:
      return 2;
    default:
      return 3;
  }
}

/// Returns the pair's verdict. Times are not compared if an answer is wrong; then the verdict is about the
/// answers, if they differ.
const char* verdict_name(const Pair& pair) {
  if (pair.change.verdict == Verdict::untimed && pair.is_worse) return "WORSE";
  if (pair.change.verdict == Verdict::untimed && pair.is_repaired) return "REPAIRED";
  return to_string(pair.change.verdict);
}

}  // namespace

double parse_percent(const std::string& option, const std::string& text) {
  std::string number = text;
  if (!number.empty() && number.back() == '%') number.pop_back();
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size() || !(percent >= 0) || percent > 1000) {
    throw UsageError(
        fmt::format("{} {}: not a percentage; allowed is a number from 0 to 1000, e.g. 5", option, text));
  }
  return percent / 100;
}

bool is_listed(const Pair& pair) {
  // Skipped trials never ran, so their devices and threads mean nothing.
  const bool ran = pair.base.status != io::Status::skipped || pair.now.status != io::Status::skipped;
  return (ran && !pair.has_same_place()) || importance(pair.change.verdict) <= importance(Verdict::faster);
}

Table pair_table(const Comparison& comparison, Reader reader) {
  const TrialColumns trial = columns_of(comparison, reader);
  Table table = trial.table();
  extend(table.columns, {{"base_place", "BASE ON"},
                         {"new_place", "NEW ON"},
                         {"base_median", "BASE", Style::seconds},
                         {"new_median", "NEW", Style::seconds},
                         {"verdict", "VERDICT"},
                         {"reason", "REASON"},
                         {"speedup", "SPEEDUP", Style::factor},
                         {"speedup_low", "FROM", Style::factor},
                         {"speedup_high", "TO", Style::factor},
                         {"finds", "FINDS", Style::percent},
                         {"clock", "TIMED BY"},
                         {"base_status", "WAS"},
                         {"new_status", "IS"}});
  // A program gets all columns. A person gets only the columns for which some pair has a value.
  const auto is_shown = [&](auto has_value) {
    return reader == Reader::program ||
           std::any_of(comparison.pairs.begin(), comparison.pairs.end(), has_value);
  };
  const bool replays = is_shown([](const Pair& p) { return p.has_replays(); });
  const bool energy = is_shown([](const Pair& p) { return p.base.joules > 0 && p.now.joules > 0; });
  if (replays)
    extend(table.columns,
           {{"base_replay", "BASE GPU", Style::seconds}, {"new_replay", "NEW GPU", Style::seconds}});
  if (energy) extend(table.columns, {{"base_joules", "BASE J"}, {"new_joules", "NEW J"}});
  for (const Pair& pair : comparison.pairs) {
    const Change& change = pair.change;
    const bool is_timed = change.verdict != Verdict::untimed;
    table.rows.push_back(trial.cells(pair.identity));
    extend(
        table.rows.back(),
        {pair.base_place, pair.new_place, pair.base.run.median, pair.now.run.median,
         std::string(verdict_name(pair)), pair.reason, 1 / change.ratio, bound_cell(1 / change.high, reader),
         bound_cell(1 / change.low, reader), detectable_cell(change.detectable, reader),
         std::string(is_timed ? to_string(change.kind) : ""), pair.base.status, pair.now.status});
    if (replays) extend(table.rows.back(), {pair.base.gpu.median, pair.now.gpu.median});
    if (energy) extend(table.rows.back(), {pair.base.joules, pair.now.joules});
  }
  table.droppable = {"finds",
                     "base_joules new_joules",
                     "base_replay new_replay",
                     "base_status new_status",
                     "base_place new_place",
                     "speedup_low speedup_high",
                     "base_median new_median"};
  drop_places(table, comparison, reader);
  return table;
}

Table method_table(const Comparison& comparison, Reader reader) {
  Table table;
  table.columns = {
      {"method", "METHOD"},         {"backend", "BACKEND"},   {"base_place", "BASE ON"},
      {"new_place", "NEW ON"},      {"trials", "TRIALS"},     {"same", "SAME"},
      {"faster", "FASTER"},         {"slower", "SLOWER"},     {"unclear", "UNCLEAR"},
      {"host_bound", "HOST-BOUND"}, {"untimed", "UNTIMED"},   {"speedup", "SPEEDUP", Style::factor},
      {"clock", "TIMED BY"},        {"verdict", "ALTOGETHER"}};
  std::vector<const MethodChange*> methods;
  for (const MethodChange& method : comparison.methods) methods.push_back(&method);
  std::stable_sort(methods.begin(), methods.end(), [](const MethodChange* a, const MethodChange* b) {
    const auto rank = [](const MethodChange* method) {
      return method->counts.count(Verdict::slower) > 0 ? 0 : importance(method->change.verdict);
    };
    return rank(a) < rank(b);
  });
  for (const MethodChange* method : methods) {
    const auto count = [&](Verdict verdict) {
      const std::int64_t* number = find_in(method->counts, verdict);
      return number == nullptr ? std::int64_t{0} : *number;
    };
    const Change& change = method->change;
    const bool is_timed = change.verdict != Verdict::untimed;
    const bool is_counted = reader == Reader::program || method->has_same_place() || !is_timed;
    table.rows.push_back({method->method, method->backend, method->base_place, method->new_place,
                          method->pairs, count(Verdict::same), count(Verdict::faster), count(Verdict::slower),
                          count(Verdict::unclear), count(Verdict::host_bound), count(Verdict::untimed),
                          1 / change.ratio, std::string(is_timed ? to_string(change.kind) : ""),
                          std::string(is_counted ? to_string(change.verdict) : "not counted")});
  }
  table.key_columns = 2;
  table.kept = {"same", "faster", "slower", "unclear", "verdict"};
  table.droppable = {"host_bound untimed", "same unclear", "trials", "faster slower"};
  drop_places(table, comparison, reader);
  return table;
}

void put_regressions_first(std::vector<Pair>& pairs) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    const auto rank = [](const Pair& pair) { return pair.is_worse ? -1 : importance(pair.change.verdict); };
    const double x = std::log(a.change.ratio), y = std::log(b.change.ratio);
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    // Among pairs that are slower, and among those that are faster, larger changes come first.
    const bool is_change = rank(a) <= importance(Verdict::faster);
    return is_change && std::fabs(x) > std::fabs(y);
  });
}

Table accuracy_table(const Comparison& comparison, Reader reader) {
  const TrialColumns trial = columns_of(comparison, reader);
  Table table = trial.table();
  extend(table.columns, {{"new_place", "NEW ON"}, {"accuracy", "CHANGE"}, {"verdict", "VERDICT"}});
  for (const Pair& pair : comparison.pairs) {
    if (pair.accuracy.empty()) continue;
    table.rows.push_back(trial.cells(pair.identity));
    extend(table.rows.back(), {pair.new_place, pair.accuracy, std::string(pair.is_worse ? "WORSE" : "")});
  }
  drop_places(table, comparison, reader);
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

std::vector<std::string> repaired_trials(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const Pair& pair : comparison.pairs) {
    if (pair.is_repaired) names.push_back(pair.name);
  }
  return names;
}

std::string count_sentence(const Comparison& comparison, const std::string& command) {
  std::map<Verdict, std::int64_t> counts;
  std::int64_t failed = 0, worse = 0, repaired = 0, on_other_places = 0;
  for (const Pair& pair : comparison.pairs) {
    const Verdict verdict = pair.change.verdict;
    const bool is_change = verdict == Verdict::slower || verdict == Verdict::faster;
    const bool is_untimed = verdict == Verdict::untimed;
    std::int64_t& count = pair.has_failed_in_both()             ? failed
                          : is_untimed && pair.is_worse         ? worse
                          : is_untimed && pair.is_repaired      ? repaired
                          : is_change && !pair.has_same_place() ? on_other_places
                                                                : counts[verdict];
    ++count;
  }
  std::string text = counted(comparison.pairs.size(), "trial") + " in both";
  const char* comma = ": ";
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count == 0) return;
    text += fmt::format("{}{} {}", comma, count, what);
    comma = ", ";
  };
  for (const Verdict verdict : {Verdict::same, Verdict::faster, Verdict::slower})
    add(counts[verdict], to_string(verdict));
  add(worse, "WORSE (no right answer now)");
  add(repaired, "repaired");
  add(counts[Verdict::unclear],
      fmt::format("UNCLEAR (neither a change nor its absence is sure; {}--only unclear)", command));
  add(counts[Verdict::host_bound],
      fmt::format("HOST-BOUND (only the host's part changed; {}--only host-bound)", command));
  add(on_other_places, "not counted (other devices or threads)");
  add(counts[Verdict::untimed], "without comparable times");
  add(failed, "failed in both (not rated)");
  add(comparison.left_out, "left out (other devices or threads)");
  add(comparison.only_base, "only in base");
  add(comparison.only_new, "only in new");
  return text;
}

std::string changed_sentence(const Comparison& comparison) {
  const std::set<std::string>& files = comparison.changed_files;
  std::vector<std::string> sentences;
  if (!files.empty())
    sentences.push_back(fmt::format(
        "The matrix {} {} changed between the runs; trials of {} are not compared.",
        files.size() == 1 ? "file" : "files", fmt::join(files, ", "), files.size() == 1 ? "it" : "them"));
  if (!comparison.changed_parameters.empty())
    sentences.push_back(fmt::format("Parameters differ{}: {}: not compared.",
                                    comparison.is_same_plan ? ", although the plan is the same" : "",
                                    fmt::join(comparison.changed_parameters, "; ")));
  if (!comparison.changed_tolerances.empty())
    sentences.push_back(
        fmt::format("The tolerance changed ({}): a status that differs only because of it is neither a "
                    "regression nor a repair.",
                    fmt::join(comparison.changed_tolerances, ", ")));
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::vector<std::string> unclear_sentences(const Comparison& comparison) {
  // More samples are suggested only if they find changes below this fraction of the change that is found now.
  constexpr double useful_ratio = 0.8;
  std::vector<std::string> sentences;
  for (const Unclear& unclear : comparison.unclear) {
    if (unclear.backend == "emulated") continue;  // emulated times say nothing about a GPU
    const ChangeTexts change_text(unclear.detectable);
    const auto trials = counted(static_cast<std::size_t>(unclear.trials), "UNCLEAR trial");
    std::vector<std::string> remedies;
    const auto add_remedy = [&](const std::string& remedy, double finds) {
      if (finds < max_shown_change) remedies.push_back(fmt::format("{} ({})", remedy, change_text(finds)));
    };
    if (comparison.is_duet) {
      add_remedy(fmt::format("duet --rounds {}", 3 * unclear.rounds), unclear.with_duet);
    } else {
      if (comparison.is_same_plan && unclear.lacks_rounds)
        remedies.emplace_back("the missing rounds of the run that has fewer (run --resume)");
      else
        add_remedy(fmt::format("\"rounds: {}\" in the plan of both runs", 3 * unclear.rounds),
                   unclear.with_rounds);
      if (!comparison.has_other_places) add_remedy("a duet of two builds", unclear.with_duet);
      if (unclear.with_samples < useful_ratio * unclear.detectable)
        add_remedy("four times the samples", unclear.with_samples);
    }
    std::string help = fmt::format("To find less: {}", fmt::join(remedies, ", "));
    if (remedies.empty())
      help = unclear.is_too_short
                 ? fmt::format(
                       "These times are too short: times on the CPU may differ by {} between processes, "
                       "so only larger sizes help",
                       seconds_text(cpu_scatter.seconds))
                 : "The scatter is too large for more rounds or a duet: quieten the machine, or take larger "
                   "sizes";
    sentences.push_back(fmt::format("{} on {}: these runs find a change of a trial if it is at least {}{}.",
                                    trials, unclear.backend, change_text(unclear.detectable),
                                    unclear.least < unclear.most ? " (median)" : ""));
    sentences.push_back(help + ".");
  }
  return sentences;
}

std::string regression_text(const Comparison& comparison) {
  std::size_t decided = 0, unclear = 0, untimed = 0;
  std::size_t faster_on_other_places = 0, slower_on_other_places = 0, worse_on_other_places = 0;
  std::vector<std::string> failed;
  for (const Pair& pair : comparison.pairs) {
    const Verdict verdict = pair.change.verdict;
    worse_on_other_places += pair.is_worse && !pair.has_same_place() ? 1 : 0;
    if (pair.has_failed_in_both()) {
      failed.push_back(pair.name);
    } else if (verdict == Verdict::unclear) {
      ++unclear;
    } else if (verdict == Verdict::untimed) {
      untimed += pair.is_worse || pair.is_repaired ? 0 : 1;  // worse and repaired trials are reported below
    } else if (pair.has_same_place()) {
      ++decided;
    } else {
      faster_on_other_places += verdict == Verdict::faster ? 1 : 0;
      slower_on_other_places += verdict == Verdict::slower ? 1 : 0;
    }
  }
  const std::vector<std::string>& all = comparison.regressions;
  std::string text;
  const bool is_same_run =
      !comparison.pairs.empty() && std::all_of(comparison.pairs.begin(), comparison.pairs.end(),
                                               [](const Pair& pair) { return pair.has_same_executions; });
  if (is_same_run && all.empty()) {
    text = "Nothing was compared: base and new are the same run.";
  } else if (all.empty()) {
    text = decided > 0 ? fmt::format("No regression among {}.", counted(decided, "decided trial"))
                       : "No trial was decided.";
  } else {
    text = fmt::format("{}: {}.", counted(all.size(), "regression"), first_names(all));
    if (comparison.disturbed > 0)
      text += fmt::format(" Other programs used the CPUs during {} of these trials: measure again.",
                          comparison.disturbed);
  }
  const std::vector<std::string> repaired = repaired_trials(comparison);
  if (!repaired.empty())
    text += fmt::format(" Repaired: {} that failed before and {} now: {}.", counted(repaired.size(), "trial"),
                        repaired.size() == 1 ? "passes" : "pass", first_names(repaired));
  if (!failed.empty())
    text += fmt::format(" Failed in both, not rated: {}: {}.", counted(failed.size(), "trial"),
                        first_names(failed));
  if (unclear > 0) text += fmt::format(" Undecided: {}.", counted(unclear, "UNCLEAR trial"));
  std::vector<std::string> as_a_whole;  // methods that are SLOWER are among the regressions
  for (const MethodChange& method : comparison.methods) {
    const Verdict verdict = method.change.verdict;
    if (method.has_same_place() && method.counts.count(Verdict::unclear) > 0 &&
        (verdict == Verdict::faster || verdict == Verdict::same))
      as_a_whole.push_back(method.method + " " + to_string(verdict));
  }
  if (!as_a_whole.empty()) text += fmt::format(" Decided as a whole: {}.", first_names(as_a_whole));
  if (untimed > 0) text += fmt::format(" Without comparable times: {}.", counted(untimed, "trial"));
  std::vector<std::string> others;
  const auto add_others = [&](std::size_t count, const char* name) {
    if (count > 0) others.push_back(fmt::format("{} {}", count, name));
  };
  add_others(worse_on_other_places, "WORSE");
  add_others(slower_on_other_places, "SLOWER");
  add_others(faster_on_other_places, "FASTER");
  if (!others.empty())
    text += fmt::format(" Not counted: {}, because both runs have other devices or other threads per rank.",
                        fmt::join(others, ", "));
  return text;
}

}  // namespace gaussweep::driver
