/// Divides records into the sets that are compared: `base`, and the new set `now`.

#include "driver/compare/compare_sets.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <numeric>
#include <unordered_set>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/identity.hpp"
#include "driver/results/loading.hpp"
#include "driver/system/console.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;
using io::Results;

/// A run in a set of records.
struct Run {
  std::string start;                 ///< start time of its first trial
  std::vector<std::size_t> records;  ///< indices of its records
};

/// Returns the runs of the records, sorted by their start times.
std::vector<Run> runs_of(const std::vector<Record>& records) {
  std::map<std::string_view, Run> by_id;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    Run& run = by_id[record.run_id];
    const std::string start = record.start_time.empty() ? record.end_time : record.start_time;
    if (!start.empty() && (run.start.empty() || start < run.start)) run.start = start;
    run.records.push_back(i);
  }
  std::vector<Run> runs;
  for (auto& [id, run] : by_id) runs.push_back(std::move(run));
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.start < b.start; });
  return runs;
}

/// Removes the records for which `is_removed` is true. Returns the removed records.
template <class Predicate>
std::vector<Record> extract_if(Results& results, Predicate is_removed) {
  std::vector<Record> kept, removed;
  for (Record& record : results.records) {
    std::vector<Record>& destination = is_removed(record) ? removed : kept;
    destination.push_back(std::move(record));
  }
  results.records = std::move(kept);
  return removed;
}

/// Removes from `results` the records of executions that `others` also has. Returns the removed records.
std::vector<Record> remove_executions(Results& results, const Results& others) {
  std::unordered_set<std::string_view> runs;
  for (const Record& record : results.records) runs.insert(record.run_id);
  std::unordered_set<std::string> executions;
  for (const Record& record : others.records) {
    if (runs.count(record.run_id) > 0) executions.insert(execution_of(record));
  }
  executions.erase("");  // unknown executions
  if (executions.empty()) return {};
  return extract_if(results,
                    [&](const Record& record) { return executions.count(execution_of(record)) > 0; });
}

/// Returns a hash of a record's trial, its round, and the models that it ran on. The round is included,
/// because older versions divided the rounds of a trial among the shards (separately run parts of a plan).
std::size_t trial_hash(const Record& record, const MachineModels& machines) {
  const Models models = machines.of(record);
  return std::hash<std::string>()(
      fmt::format("{}\n{}\n{}\n{}", trial_identity(record), record.round, models.gpus, models.cpu));
}

/// Divides the records into sets by the rule of `split_runs`. Returns the indices of each set's records.
std::vector<std::vector<std::size_t>> record_sets(const Results& results) {
  const MachineModels machines(results);
  std::vector<std::vector<std::size_t>> sets(1);
  // Only hashes are stored, because the identities of a million trials would be as large as the records.
  std::unordered_set<std::size_t> trials_of_set;
  for (const Run& run : runs_of(results.records)) {
    std::unordered_set<std::size_t> trials;
    for (const std::size_t i : run.records) {
      const Record& record = results.records[i];
      if (record.status != io::Status::skipped) trials.insert(trial_hash(record, machines));
    }
    if (have_common(trials, trials_of_set)) {
      sets.emplace_back();
      trials_of_set.clear();
    }
    trials_of_set.merge(trials);
    sets.back().insert(sets.back().end(), run.records.begin(), run.records.end());
  }
  return sets;
}

/// Adds a set to the base. Attributes in which the sets differ are cleared, except the lists of shards, which
/// are joined.
void pool(Results& base, Results&& added) {
  const bool is_first = base.records.empty() && base.attributes.empty();
  remove_executions(added, base);
  std::move(added.records.begin(), added.records.end(), std::back_inserter(base.records));
  base.hosts.insert(base.hosts.end(), added.hosts.begin(), added.hosts.end());
  base.devices.insert(base.devices.end(), added.devices.begin(), added.devices.end());
  if (is_first) base.attributes = added.attributes;
  for (auto& [name, value] : base.attributes) {
    const std::string other = attribute(added, name);
    if (other == value) continue;
    if (name == "shard" && !other.empty() && !value.empty()) {
      value += ", " + other;
    } else {
      value.clear();
    }
  }
}

/// Returns the different combinations of GPU and CPU models in the records.
std::vector<Models> models_of(const Results& results) {
  const MachineModels machines(results);
  std::map<std::string, Models> all;
  for (const Record& record : results.records) {
    const Models models = machines.of(record);
    all.emplace(models.gpus + '\n' + models.cpu, models);
  }
  std::vector<Models> list;
  for (auto& [name, models] : all) list.push_back(std::move(models));
  return list;
}

/// Returns true if some combination of models in `all` is compatible with `models`.
bool is_among(const Models& models, const std::vector<Models>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Models& each) { return each.is_compatible(models); });
}

/// Splits the judged set if it has several runs. On each model the last run is judged. Earlier runs on that
/// model are added to the base if the base has the model or is empty.
void split_judged(Results& base, Results& now) {
  std::vector<Results> runs = split_runs(std::move(now));
  now = std::move(runs.back());
  runs.pop_back();
  const bool has_no_base = base.records.empty();
  const std::vector<Models> known = models_of(base);
  std::for_each(runs.rbegin(), runs.rend(), [&](Results& earlier) {
    const MachineModels machines(earlier);
    const std::vector<Models> judged = models_of(now);
    const auto stays_judged = [&](const Record& record) {
      const Models models = machines.of(record);
      return !is_among(models, judged) || !(has_no_base || is_among(models, known));
    };
    for (Record& record : extract_if(earlier, stays_judged)) now.records.push_back(std::move(record));
    if (!earlier.records.empty()) pool(base, std::move(earlier));
  });
}

std::string model_list(const std::vector<Models>& all) {
  std::vector<std::string> texts;
  for (const Models& models : all) texts.push_back(models.text());
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Removes, on both sides, the records of models that the other side lacks. @throws UsageError if nothing
/// remains
void keep_same_models(Results& base, Results& now) {
  const std::vector<Models> before = models_of(base), after = models_of(now);
  keep_models_of(now, base);
  keep_models_of(base, now);
  if (base.records.empty() || now.records.empty())
    throw UsageError(
        fmt::format("the runs have no GPU and CPU models in common, so they show no changes over time: "
                    "base ran on {}, new on {}",
                    model_list(before), model_list(after)));
}

}  // namespace

bool Models::is_compatible(const Models& other) const {
  const auto fits = [](const std::string& a, const std::string& b) {
    return a == b || a.empty() || b.empty();
  };
  return fits(gpus, other.gpus) && fits(cpu, other.cpu);
}

std::string Models::text() const {
  if (gpus.empty() && cpu.empty()) return "unknown models";
  return gpus + (gpus.empty() || cpu.empty() ? "" : ", ") + cpu;
}

MachineModels::MachineModels(const Results& results) : cpus_(cpus_by_host(results.hosts)) {
  for (const Record& record : results.records) {
    if (!record.gpu_name.empty()) gpus_[{record.run_id, record.host}].insert(record.gpu_name);
  }
}

Models MachineModels::of(const Record& record) const {
  Models models;
  models.gpus = record.gpu_name;
  if (models.gpus.empty()) {
    if (const auto* gpus = find_in(gpus_, {record.run_id, record.host}))
      models.gpus = fmt::format("{}", fmt::join(*gpus, ", "));
  }
  if (const std::string* cpu = find_in(cpus_, record.host)) models.cpu = *cpu;
  return models;
}

std::string execution_of(const Record& record) {
  if (record.start_time.empty() || record.end_time.empty()) return "";
  const double sum =
      std::accumulate(record.sample_list.begin(), record.sample_list.end(), 0.0,
                      [](double total, const io::Sample& sample) { return total + sample.seconds; });
  return fmt::format("{} {} {} {} {} {} {}", record.key, record.run_id, record.start_time, record.end_time,
                     record.gpu_uuid, record.seconds_median, sum);
}

std::size_t drop_known_executions(std::vector<Record>& records, std::unordered_set<std::size_t>& known) {
  const auto is_known = [&](const Record& record) {
    const std::string execution = execution_of(record);
    return !execution.empty() && !known.insert(std::hash<std::string>()(execution)).second;
  };
  const auto end = std::remove_if(records.begin(), records.end(), is_known);
  const auto dropped = static_cast<std::size_t>(records.end() - end);
  records.erase(end, records.end());
  return dropped;
}

void note_repeated(std::size_t records) {
  if (records > 0)
    print_stderr(fmt::format("note: {} of more than one of these files; each counts once\n",
                             records == 1 ? "1 record is" : fmt::format("{} records are", records)));
}

void keep_models_of(const Results& other, Results& results) {
  const std::vector<Models> known = models_of(other);
  const MachineModels machines(results);
  extract_if(results, [&](const Record& record) { return !is_among(machines.of(record), known); });
}

std::unordered_set<std::size_t> executed_trials(const Results& results) {
  const MachineModels machines(results);
  std::unordered_set<std::size_t> trials;
  for (const Record& record : results.records) {
    if (record.status != io::Status::skipped) trials.insert(trial_hash(record, machines));
  }
  return trials;
}

bool have_common(const std::unordered_set<std::size_t>& some, const std::unordered_set<std::size_t>& others) {
  return std::any_of(some.begin(), some.end(), [&](std::size_t trial) { return others.count(trial) > 0; });
}

bool repeats_trials(const Results& results) {
  return record_sets(results).size() > 1;
}

std::vector<Results> split_runs(Results results) {
  std::vector<std::vector<std::size_t>> record_indices = record_sets(results);
  std::vector<Results> sets;
  if (record_indices.size() < 2) {
    sets.push_back(std::move(results));
    return sets;
  }
  const bool has_plan_texts = !attribute(results, "plan_texts").empty();
  for (std::vector<std::size_t>& indices : record_indices) {
    Results& set = sets.emplace_back();
    std::sort(indices.begin(), indices.end());
    for (const std::size_t i : indices) set.records.push_back(std::move(results.records[i]));
    set.hosts = results.hosts;
    set.devices = results.devices;
    set.attributes = results.attributes;
    if (has_plan_texts) set.attributes.erase("plan");  // the runs' own plans are unknown
  }
  return sets;
}

Sides sides_of(std::vector<Results> sets, bool same_models) {
  HostNames names;
  for (Results& set : sets) names.make_names_unique(set);
  Sides sides;
  sides.now = std::move(sets.back());
  sets.pop_back();
  for (Results& set : sets) pool(sides.base, std::move(set));
  split_judged(sides.base, sides.now);
  if (sides.base.records.empty())
    throw UsageError(
        "there is one run of each trial, so nothing can be compared: give two runs, or a file of several "
        "runs");
  std::vector<Record> repeated = remove_executions(sides.base, sides.now);
  sides.repeated = repeated.size();
  if (sides.base.records.empty()) {
    sides.base.records = std::move(repeated);
    sides.remarks.push_back("base and new are the same run: nothing was measured twice");
  }
  if (same_models) keep_same_models(sides.base, sides.now);
  return sides;
}

}  // namespace gaussweep::driver
