/// Pairs the trials of two sets of records: `base`, and the new set `now`. A trial is one method on one
/// matrix; a record is its stored result. A place is the GPU model, or the CPU model with its number of
/// threads, that a trial ran on. compare_judge.cpp decides which pairs are slower or faster.

#include "driver/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

#include "driver/base/lookup.hpp"
#include "driver/base/text_format.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/judge/judge.hpp"
#include "driver/results/identity.hpp"
#include "driver/results/journal_results.hpp"
#include "driver/results/loading.hpp"
#include "driver/results/run_parts.hpp"
#include "driver/summary/summary.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

constexpr double run_threshold = 0.02, duet_threshold = 0.005;  // defaults of CompareRules::threshold
/// Changes of the residual ratio by less than this factor are not shown.
constexpr double notable_accuracy = 10;

using RecordList = std::vector<const Record*>;
using Places = std::map<std::string, RecordList>;  // place → records of a trial
using Trials = std::map<std::string, Places>;      // trial identity → places

/// Returns the median of the finite values.
double median_of_known(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }),
               values.end());
  return summarise(std::move(values)).median;
}

/// Returns the statistics of a record's samples. Older files have no samples; then only the quartiles are
/// known.
Statistics samples_of(const Record& record) {
  std::vector<double> seconds;
  for (const io::Sample& sample : record.sample_list) seconds.push_back(sample.seconds);
  if (!seconds.empty()) return summarise(std::move(seconds));
  return quartiles_of(record);
}

/// Returns true for a trial that ran and has no correct answer.
bool is_failure(const std::string& status) {
  return status != io::Status::pass && status != io::Status::suspect && status != io::Status::skipped;
}

/// Summarises all records of one trial on one place in one set. The status and the residual ratio are those
/// of the set's last run. Everything else leaves out records without a correct answer: a kernel that computes
/// nothing is fast.
Side side_of(const RecordList& records, bool is_duet) {
  Side side;
  std::vector<Statistics> samples, replays;
  // Medians per record: of the run, and of its replay (the same work as a CUDA graph).
  std::vector<std::pair<double, double>> medians;
  std::vector<double> clocks, joules, queues;
  std::set<std::string> runs;
  const Record& last =
      **std::max_element(records.begin(), records.end(),
                         [](const Record* a, const Record* b) { return a->start_time < b->start_time; });
  RecordList right;  // the records with a correct answer, in the order of `medians`
  for (const Record* record : records) {
    if (record->run_id == last.run_id) {
      side.residual_ratio = std::fmax(side.residual_ratio, record->residual_ratio);
      if (side.status.empty() || status_severity(record->status) > status_severity(side.status))
        side.status = record->status;
    }
    if (is_failure(record->status)) continue;
    right.push_back(record);
    samples.push_back(samples_of(*record));
    replays.push_back(replay_quartiles_of(*record));
    medians.emplace_back(samples.back().median, replays.back().median);
    for (const io::Sample& sample : record->sample_list) clocks.push_back(sample.clock_mhz);
    if (record->sample_list.empty()) clocks.push_back(record->sm_clock_mhz);
    joules.push_back(record->energy_joules);
    queues.push_back(record->queue_seconds);
    runs.insert(record->run_id);
    side.was_disturbed = side.was_disturbed || is_disturbed(*record);
    side.kernels = std::max(side.kernels, record->kernels);
    side.waits = std::max(side.waits, record->waits);
    side.iterations = std::max(side.iterations, record->iterations);
    side.launch_bound = std::max(side.launch_bound, record->launch_bound);
    if (!record->gpu_uuid.empty()) side.gpus.push_back(record->gpu_uuid);
  }
  side.run = timing_of(samples, static_cast<std::int64_t>(runs.size()));
  side.gpu = timing_of(replays, static_cast<std::int64_t>(runs.size()));
  for (std::size_t i = 0; is_duet && i < right.size(); ++i) {
    const std::int64_t round = right[i]->round;
    if (medians[i].first > 0) side.run.rounds[round] = std::log(medians[i].first);
    if (medians[i].second > 0) side.gpu.rounds[round] = std::log(medians[i].second);
  }
  side.clock = median_of_known(std::move(clocks));
  side.joules = median_of_known(std::move(joules));
  side.queue_seconds = median_of_known(std::move(queues));
  return side;
}

/// Groups the records by trial and place.
Trials trials_of(const io::Results& results) {
  std::map<std::string, std::string> cpus;  // by host
  for (const io::HostRow& row : results.hosts) cpus[row.host] = cpu_place_name(row);
  Trials trials;
  for (const Record& record : results.records) {
    std::string place = record.gpu_name;
    if (place.empty() && record.backend != "cuda") {
      if (const std::string* cpu = find_in(cpus, record.host)) place = *cpu;
    }
    trials[trial_identity(record)][place].push_back(&record);
  }
  return trials;
}

/// Returns the status that the new answer would have with base's tolerance. Without this correction an equal
/// answer would change its status if the new plan has another tolerance.
std::string status_with(double base_tolerance, const Pair& pair) {
  std::optional<Evidence> evidence = evidence_of(pair.identity);
  const bool is_other =
      base_tolerance > 0 && pair.identity.tolerance > 0 && base_tolerance != pair.identity.tolerance;
  if (!is_other || !evidence || !is_judged(pair.now.status)) return pair.now.status;
  evidence->ratio = pair.now.residual_ratio;
  evidence->tolerance = base_tolerance;
  return io::name_of(judge(*evidence));
}

/// Sets the pair's `accuracy`, `is_worse` and `is_repaired`.
void compare_accuracy(Pair& pair, double base_tolerance) {
  if (pair.base.status != pair.now.status) {
    pair.accuracy = fmt::format("{} -> {}", pair.base.status, pair.now.status);
    const std::string status = status_with(base_tolerance, pair);
    if (status != pair.now.status)
      pair.accuracy += fmt::format(" (tolerance {:g} -> {:g})", base_tolerance, pair.identity.tolerance);
    const bool was_good = pair.base.status == io::Status::pass || pair.base.status == io::Status::suspect;
    pair.is_worse = was_good && status != io::Status::skipped &&
                    status_severity(status) > status_severity(pair.base.status);
    pair.is_repaired =
        is_failure(pair.base.status) && pair.now.status == io::Status::pass && status == io::Status::pass;
    return;
  }
  const double factor = pair.now.residual_ratio / pair.base.residual_ratio;
  // Ratios far below the tolerance vary at random with rounding.
  const bool is_relevant =
      std::fmax(pair.now.residual_ratio, pair.base.residual_ratio) > 0.01 * pair.identity.tolerance;
  if (is_relevant && (factor > notable_accuracy || factor < 1 / notable_accuracy)) {
    pair.accuracy =
        fmt::format("residual ratio {:.3g} -> {:.3g}", pair.base.residual_ratio, pair.now.residual_ratio);
  }
}

/// Returns true if both lists are the same executions of one run.
bool are_same_executions(const RecordList& base, const RecordList& now) {
  if (base.front()->run_id != now.front()->run_id || base.size() != now.size()) return false;
  std::set<std::string> before, after;
  for (const Record* record : base) before.insert(execution_of(*record));
  for (const Record* record : now) after.insert(execution_of(*record));
  return before == after && before.count("") == 0;
}

/// Returns true if two places may be the same. A trial that never reached a device (skipped, crashed at its
/// start) has no place, and matches any. In older files a place on the CPU lacks the number of threads.
bool is_same_place(const std::string& a, const std::string& b) {
  const auto is_extension = [](const std::string& longer, const std::string& shorter) {
    return longer.compare(0, shorter.size() + 2, shorter + ", ") == 0;
  };
  return a == b || a.empty() || b.empty() || is_extension(a, b) || is_extension(b, a);
}

/// Makes the pair from a trial's records on two places. decide_verdicts() sets its verdict later.
Pair make_pair(const std::string& base_place, const RecordList& base, const std::string& new_place,
               const RecordList& now, bool is_duet) {
  Pair pair;
  pair.identity = *now.front();
  pair.identity.sample_list.clear();
  pair.identity.stages.clear();
  pair.identity.history.clear();
  pair.base_place = base_place;
  pair.new_place = new_place;
  pair.base = side_of(base, is_duet);
  pair.now = side_of(now, is_duet);
  compare_accuracy(pair, base.back()->tolerance);
  pair.has_same_executions = are_same_executions(base, now);
  return pair;
}

/// Adds the pairs of one trial: on common places if there are any, else all combinations of places, unless
/// `same_places` is true.
void add_pairs(Comparison& result, const Places& base, const Places& now, bool same_places) {
  const bool has_common = std::any_of(base.begin(), base.end(), [&](const auto& in_base) {
    return std::any_of(now.begin(), now.end(),
                       [&](const auto& in_new) { return is_same_place(in_base.first, in_new.first); });
  });
  for (const auto& [base_place, base_records] : base) {
    for (const auto& [new_place, new_records] : now) {
      if ((has_common || same_places) && !is_same_place(base_place, new_place)) continue;
      result.pairs.push_back(make_pair(base_place, base_records, new_place, new_records, result.is_duet));
    }
  }
}

/// Counts the pairs whose SM clocks differ, and keeps the clocks that differ most.
void find_other_clocks(Comparison& result) {
  double largest = 0;
  for (const Pair& pair : result.pairs) {
    const double difference = std::fabs(std::log(pair.now.clock / pair.base.clock));
    if (!pair.has_same_place() || !(difference > std::log1p(notable_clock))) continue;
    ++result.other_clocks;
    if (difference <= largest) continue;
    largest = difference;
    result.furthest_base_clock = pair.base.clock;
    result.furthest_new_clock = pair.now.clock;
  }
}

/// Returns a text that identifies a trial on a matrix file by everything except the matrix's elements and
/// size.
std::string identity_without_elements(const Record& r) {
  nlohmann::json parameters = nlohmann::json::parse(r.matrix_parameters, nullptr, /*allow_exceptions=*/false);
  if (parameters.is_object()) parameters.erase("sha256");
  return fmt::format("{} {} {} {} {} {} {}\n{} {}", r.problem, r.method, r.backend, r.precision, r.nrhs,
                     r.parameters, r.uplo, matrix_label(r), parameters.dump());
}

/// Returns the parameters by name; empty if the text is no object.
std::map<std::string, std::string> parameters_of(const Record& r) {
  std::map<std::string, std::string> values;
  const nlohmann::json parameters = nlohmann::json::parse(r.parameters, nullptr, /*allow_exceptions=*/false);
  if (!parameters.is_object()) return values;
  for (const auto& [name, value] : parameters.items())
    values[name] = value.is_string() ? value.get<std::string>() : value.dump();
  return values;
}

/// Returns "block=64 before, block=16 now" for the parameters in which two trials differ, and their number.
std::pair<std::size_t, std::string> differing_parameters(const Record& base, const Record& now) {
  const auto before = parameters_of(base), after = parameters_of(now);
  std::set<std::string> names;
  for (const auto* values : {&before, &after}) {
    for (const auto& [name, value] : *values) names.insert(name);
  }
  std::vector<std::string> base_texts, new_texts;
  std::size_t count = 0;
  for (const std::string& name : names) {
    const std::string *old_value = find_in(before, name), *new_value = find_in(after, name);
    if (old_value != nullptr && new_value != nullptr && *old_value == *new_value) continue;
    ++count;
    base_texts.push_back(old_value == nullptr ? "no " + name : name + "=" + *old_value);
    new_texts.push_back(new_value == nullptr ? "no " + name : name + "=" + *new_value);
  }
  return {count, fmt::format("{} before, {} now", fmt::join(base_texts, " "), fmt::join(new_texts, " "))};
}

/// Returns a text that identifies a trial by everything except the parameters of its method.
std::string identity_without_parameters(const Record& r) {
  return fmt::format("{}\n{} {}", task_identity(r), r.method, r.backend);
}

using BackendMethod = std::pair<std::string, std::string>;      // method, backend
using Sizes = std::map<BackendMethod, std::set<std::int64_t>>;  // of the trials that one set lacks

BackendMethod method_key(const Record& r) {
  return {r.problem + "/" + r.method, r.backend};
}

/// Returns one text per method: only its name if the other set has no trial of the method, otherwise its name
/// and the missing sizes.
std::vector<std::string> missing_texts(const Sizes& sizes, const std::set<BackendMethod>& other_methods) {
  std::vector<std::string> texts;
  for (const auto& [key, missing_sizes] : sizes) {
    const std::string method = key.second == "cuda" ? key.first : key.first + " " + key.second;
    texts.push_back(other_methods.count(key) == 0
                        ? method + " (the method)"
                        : fmt::format("{} at n = {}", method, fmt::join(missing_sizes, ", ")));
  }
  return texts;
}

/// Lists the trials that only base or only new has.
/// - Trials of a matrix file that changed are listed by the file's name.
/// - If new has the trial only with other parameters, the plan or a default changed. The method is then
///   listed with both sets of parameters. With the same plan, it is listed only if new has no trial of the
///   method with base's parameters.
/// - If the plan is the same, trials that base's plan had already dropped are counted, but not listed.
void find_unmatched_trials(Comparison& result, const Trials& base, const Trials& now,
                           const TrialNames& names) {
  const auto with_parameters = [](const Record& r) { return std::pair(method_key(r), r.parameters); };
  std::set<BackendMethod> base_methods, new_methods;
  std::set<std::pair<BackendMethod, std::string>> new_parameters;
  // Trials that only new has: those of matrix files (without elements), and all (without parameters).
  std::set<std::string> new_file_trials;
  std::map<std::string, RecordList> new_trials;
  for (const auto& [key, places] : now) {
    const Record& first = *places.begin()->second.front();
    new_methods.insert(method_key(first));
    new_parameters.insert(with_parameters(first));
    if (base.count(key) > 0) continue;
    ++result.only_new;
    new_trials[identity_without_parameters(first)].push_back(&first);
    if (first.matrix_kind == "file") new_file_trials.insert(identity_without_elements(first));
  }
  Sizes sizes, new_sizes;
  for (const auto& [key, places] : base) {
    const Record& first = *places.begin()->second.front();
    base_methods.insert(method_key(first));
    if (now.count(key) > 0) continue;
    ++result.only_base;
    if (result.is_same_plan && is_unplanned(first)) continue;
    if (first.matrix_kind == "file" && new_file_trials.count(identity_without_elements(first)) > 0) {
      result.changed_files.insert(matrix_label(first));
      continue;
    }
    const RecordList* const others = find_in(new_trials, identity_without_parameters(first));
    const bool is_changed = !result.is_same_plan || new_parameters.count(with_parameters(first)) == 0;
    if (others != nullptr && is_changed) {
      // Names the trial of new that differs in the fewest parameters.
      auto nearest = differing_parameters(first, *others->front());
      for (const Record* other : *others) nearest = std::min(nearest, differing_parameters(first, *other));
      result.changed_parameters.insert(fmt::format("{}/{}: {}", first.problem, first.method, nearest.second));
      continue;
    }
    sizes[method_key(first)].insert(first.n);
    if (result.is_same_plan) result.regressions.push_back(names.of(first) + " (missing)");
  }
  for (const auto& [key, places] : now) {
    const Record& first = *places.begin()->second.front();
    if (base.count(key) == 0) new_sizes[method_key(first)].insert(first.n);
  }
  result.vanished = missing_texts(sizes, new_methods);
  result.appeared = missing_texts(new_sizes, base_methods);
}

/// Lists the tolerances that changed.
void find_changed_tolerances(Comparison& result, const Trials& base) {
  for (const Pair& pair : result.pairs) {
    const double before = base.at(trial_identity(pair.identity)).at(pair.base_place).back()->tolerance;
    if (before > 0 && pair.identity.tolerance > 0 && before != pair.identity.tolerance)
      result.changed_tolerances.insert(fmt::format("{:g} -> {:g}", before, pair.identity.tolerance));
  }
}

/// Names the trials of both sets so that no two have the same name.
TrialNames names_of(const Trials& base, const Trials& now) {
  RecordList records;
  for (const Trials* trials : {&base, &now}) {
    for (const auto& [key, places] : *trials) records.push_back(places.begin()->second.front());
  }
  return TrialNames(records);
}

/// Sets Comparison::regressions for trials and methods.
void find_regressions(Comparison& result, const CompareRules& rules) {
  for (const Pair& pair : result.pairs) {
    result.has_other_places = result.has_other_places || !pair.has_same_place();
    if (!pair.has_same_place()) continue;
    // More waits or kernels are a regression whatever the time, unless --fail-above sets a smallest change.
    const bool is_counted = !pair.reason.empty() && rules.fail_above == 0;
    const bool is_slower =
        pair.change.verdict == Verdict::slower && (is_counted || pair.change.ratio > 1 + rules.fail_above);
    if (!is_slower && !pair.is_worse) continue;
    if (!pair.is_worse && pair.now.was_disturbed) ++result.disturbed;
    const std::string growth = fmt::format("{:+.1f} %", 100 * (pair.change.ratio - 1));
    const std::string time_text = pair.reason.empty() ? growth : pair.reason;
    result.regressions.push_back(
        fmt::format("{} ({})", pair.name, pair.is_worse ? pair.accuracy : time_text));
  }
  for (const MethodChange& method : result.methods) {
    if (method.has_same_place() && method.change.verdict == Verdict::slower &&
        method.change.ratio > 1 + rules.fail_above) {
      result.regressions.push_back(
          fmt::format("{} as a whole ({:+.1f} %)", method.method, 100 * (method.change.ratio - 1)));
    }
  }
}

/// Returns true if both sets have the attribute with the same value.
bool agree_in(const io::Results& base, const io::Results& now, const char* name) {
  const std::string value = attribute(base, name);
  return !value.empty() && value == attribute(now, name);
}

/// Returns true if a trial that only `base` has counts as missing in `now`. A shard is a part of the plan
/// that a separate run measures. Trials count as missing if `base` has all shards of `now`, or the whole
/// plan.
bool counts_missing_trials(const io::Results& base, const io::Results& now) {
  using Shards = std::set<std::pair<std::int64_t, std::int64_t>>;  // pairs of count and number
  const auto shards_of = [](const io::Results& results) {
    Shards shards;
    for (const Shard& shard : shards_in(results)) shards.emplace(shard.count, shard.number);
    return shards;
  };
  const Shards before = shards_of(base), after = shards_of(now);
  if (before.empty() || after.empty()) return false;
  // Number of the plan's shards → number of these shards that base has.
  std::map<std::int64_t, std::int64_t> present;
  for (const auto& shard : before) ++present[shard.first];
  const bool is_whole = std::any_of(present.begin(), present.end(),
                                    [](const auto& sweep) { return sweep.first == sweep.second; });
  return is_whole || std::includes(before.begin(), before.end(), after.begin(), after.end());
}

}  // namespace

bool Pair::is_host_paced() const {
  constexpr double min_queue_share = 0.5;  // fraction of the run's time
  return !has_replays() && base.queue_seconds >= min_queue_share * base.run.median &&
         now.queue_seconds >= min_queue_share * now.run.median;
}

bool Pair::is_host_bound() const {
  constexpr double notable = 1.1;  // as for a record's launch_bound (worker/measurement.cpp)
  if (!has_replays()) return is_host_paced();
  return base.run.median > notable * base.gpu.median || now.run.median > notable * now.gpu.median;
}

bool Pair::became_wrong() const {
  return is_worse && is_failure(now.status);
}

bool Pair::has_failed_in_both() const {
  return change.verdict == Verdict::untimed && is_failure(base.status) && is_failure(now.status);
}

bool Pair::has_same_place() const {
  return is_same_place(base_place, new_place);
}

bool MethodChange::has_same_place() const {
  return is_same_place(base_place, new_place);
}

std::string cpu_place_name(const io::HostRow& host) {
  if (host.cpu.empty() || host.blas_threads <= 0) return host.cpu;
  return host.cpu + ", " + counted(static_cast<std::size_t>(host.blas_threads), "thread");
}

const char* to_string(TimeKind kind) {
  return kind == TimeKind::gpu ? "GPU" : "run";
}

const char* to_string(Verdict verdict) {
  static constexpr const char* names[] = {"SAME", "FASTER", "SLOWER", "UNCLEAR", "HOST-BOUND", "UNTIMED"};
  return names[static_cast<std::size_t>(verdict)];
}

Comparison compare(const io::Results& base, const io::Results& now, const CompareRules& rules) {
  const Trials base_trials = trials_of(base), new_trials = trials_of(now);
  Comparison result;
  result.is_duet = agree_in(base, now, "duet");
  result.is_same_plan = agree_in(base, now, "plan") && counts_missing_trials(base, now);
  result.threshold = rules.threshold.value_or(result.is_duet ? duet_threshold : run_threshold);
  for (const auto& [key, places] : base_trials) {
    const auto match = new_trials.find(key);
    if (match == new_trials.end()) continue;
    const std::size_t pairs = result.pairs.size();
    add_pairs(result, places, match->second, rules.same_places);
    if (result.pairs.size() == pairs) ++result.left_out;
  }
  const auto sort_key = [](const Pair& pair) {
    const Record& r = pair.identity;
    return std::tie(r.problem, r.method, r.precision, r.parameters, r.n, r.m, r.k, r.nrhs, r.batch, r.uplo,
                    matrix_label(r), r.matrix_parameters, r.matrix_seed);
  };
  std::stable_sort(result.pairs.begin(), result.pairs.end(),
                   [&](const Pair& a, const Pair& b) { return sort_key(a) < sort_key(b); });
  decide_verdicts(result, rules);
  find_other_clocks(result);
  result.crossovers = crossovers_of(result.pairs);
  const TrialNames names = names_of(base_trials, new_trials);
  for (Pair& pair : result.pairs) pair.name = names.of(pair.identity);
  find_regressions(result, rules);
  find_unmatched_trials(result, base_trials, new_trials, names);
  find_changed_tolerances(result, base_trials);
  return result;
}

}  // namespace gaussweep::driver
