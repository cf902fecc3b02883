/// Compares two GPU or CPU models: `base`, and the new model `now`. Measured limits predict the ratio of
/// their times. A grid has the results on one model (verdict_grid.hpp). A group has the records of one trial
/// on one model.

#include "driver/compare/models.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/statistics.hpp"
#include "driver/compare/compare_sets.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/identity.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

constexpr std::int64_t min_kernels = 4;  // fewer kernels per run do not show the time per launch

/// Returns the first word of `name` that differs from the word at the same position of `other`; "NVIDIA" does
/// not count. If one name begins with all words of the other, returns `name` from its last common word on.
std::string distinct_text(std::string name, std::string other) {
  constexpr std::string_view vendor = "NVIDIA ";
  for (std::string* each : {&name, &other}) {
    if (each->compare(0, vendor.size(), vendor) == 0) each->erase(0, vendor.size());
  }
  for (;;) {
    const std::size_t end = name.find(' '), other_end = other.find(' ');
    const bool is_same = name.substr(0, end) == other.substr(0, other_end);
    if (!is_same) return name.substr(0, end);
    if (end == std::string::npos || other_end == std::string::npos) return name;
    name.erase(0, end + 1);
    other.erase(0, other_end + 1);
  }
}

/// Summarises the times of a group. Each record counts as a separate process.
Timing time_of_group(const Group& group) {
  std::vector<Statistics> processes;
  std::set<std::string> runs;
  for (const Record* record : group.records) {
    processes.push_back(quartiles_of(*record));
    processes.back().count = std::max<std::size_t>(processes.back().count, 1);
    runs.insert(record->run_id);
  }
  return timing_of(processes, static_cast<std::int64_t>(runs.size()));
}

std::string device_of(const Record& r) {
  return r.gpu_uuid.empty() ? std::string(r.host) : std::string(r.gpu_uuid);
}

std::size_t devices_of(const Group& group) {
  std::set<std::string> devices;
  for (const Record* record : group.records) devices.insert(device_of(*record));
  return devices.size();
}

/// Estimates the speedup: the time of `base` divided by the time of `now`. Devices of one model differ, so
/// each further device of a model makes the interval narrower.
Estimate speedup_of(const Group& base, const Group& now) {
  const bool is_gpu = base.first().backend == "cuda" && now.first().backend == "cuda";
  const Timing base_time = time_of_group(base), new_time = time_of_group(now);
  const Scatter scatter = is_gpu ? Scatter{gpu_scatter.fraction, host_paced_scatter.seconds} : cpu_scatter;
  // The arguments are exchanged, because `estimate` divides the second time by the first.
  Estimate result = estimate(new_time, base_time, scatter, /*is_other_gpu=*/false);
  if (!is_gpu) return result;  // cpu_scatter includes the difference between two machines
  // other_gpu_scatter holds for the difference between two GPUs, so each model has half of its variance. The
  // mean over d devices of a model has 1/d of that half.
  const double variance_factor =
      (1 / static_cast<double>(devices_of(base)) + 1 / static_cast<double>(devices_of(now))) / 2;
  const double seconds = std::sqrt(base_time.median * new_time.median);
  result.error =
      std::sqrt(squared(result.error) + variance_factor * (squared(other_gpu_scatter.fraction) +
                                                           squared(other_gpu_scatter.seconds / seconds)));
  return result;
}

/// A lower bound on the time of a group, and the measured limit that it comes from.
struct TimeBound {
  double seconds = Record::unknown;
  BoundingLimit bounding_limit = BoundingLimit::unknown;
};

/// Tells if the time of the kernel launches counts as a lower bound: never, always, or only if the GPU may
/// have waited for launches.
enum class Launches { never, always, if_waiting };

/// Returns a lower bound on a group's time: the larger of the roofline's time and the time of the launches.
/// The launches count only if `when` says so.
TimeBound bound_of(const Group& group, const ModelFacts& model, Launches when) {
  const Record& r = group.first();
  const Limit limit = limit_of(r, model.rates);
  TimeBound result;
  if (limit.seconds > 0)
    result = {limit.seconds, limit.bound == Bound::memory ? BoundingLimit::memory : BoundingLimit::products};
  const double launches = static_cast<double>(r.kernels) * model.launch;
  const bool may_wait = std::any_of(group.records.begin(), group.records.end(),
                                    [](const Record* record) { return record->launch_bound != 0; });
  const bool is_bound = when == Launches::always || (when == Launches::if_waiting && may_wait);
  if (is_bound && launches > 0 && !(launches <= result.seconds)) result = {launches, BoundingLimit::launches};
  return result;
}

/// Compares the times of two groups on two models, and predicts their ratio from the models' limits.
ModelCell make_cell(const Group& base, const Group& now, const ModelFacts& base_model,
                    const ModelFacts& new_model) {
  ModelCell cell;
  cell.base = &base;
  cell.now = &now;
  cell.speedup = speedup_of(base, now);
  TimeBound before = bound_of(base, base_model, Launches::if_waiting),
            after = bound_of(now, new_model, Launches::if_waiting);
  // Different methods have different numbers of launches, so only the times per launch are compared.
  const bool is_same_method = base.first().method == now.first().method;
  if (!is_same_method && before.bounding_limit == BoundingLimit::launches &&
      after.bounding_limit == BoundingLimit::launches) {
    before.seconds = base_model.launch;
    after.seconds = new_model.launch;
  } else if (before.bounding_limit != after.bounding_limit) {
    // The bounds come from different limits, so their ratio is no prediction. Both are computed again, with
    // launches on both models or on neither.
    const Launches when = is_same_method ? Launches::always : Launches::never;
    before = bound_of(base, base_model, when);
    after = bound_of(now, new_model, when);
  }
  cell.predicted = before.seconds / after.seconds;
  cell.bounding_limit = after.bounding_limit;
  return cell;
}

/// Collects the measured limits of the grid's model, and its numbers of runs and devices. @param other the
/// name of the other model
ModelFacts facts_of(const VerdictGrid& grid, const std::string& other) {
  ModelFacts facts;
  facts.name = grid.device;
  facts.short_name = distinct_text(grid.device, other);
  facts.rates = grid.rates;
  std::set<std::string> runs, devices;
  std::vector<double> launches, scatters;
  for (const Group& group : grid.groups) {
    if (grid.capability > 0 && group.first().backend != "cuda") continue;
    for (const Record* r : group.records) {
      runs.insert(r->run_id);
      devices.insert(device_of(*r));
      if (r->kernels >= min_kernels && r->waits == 0 && r->queue_seconds > 0)
        launches.push_back(r->queue_seconds / static_cast<double>(r->kernels));
    }
    const Timing time = time_of_group(group);
    if (time.processes > 1) scatters.push_back(std::sqrt(time.variance));
  }
  facts.runs = static_cast<std::int64_t>(runs.size());
  facts.devices = static_cast<std::int64_t>(devices.size());
  facts.launch = median_of(std::move(launches));
  facts.scatter = median_of(std::move(scatters));
  return facts;
}

using MethodKey = std::tuple<std::string, std::string, std::string>;  // task, method, backend

/// The fastest passing configurations on one model. On a GPU, methods on the CPU do not count.
struct Fastest {
  std::map<MethodKey, const Group*> by_method;
  std::map<std::string, const Group*> by_task;
};

/// Finds the fastest group of each method and of each task on the grid's model.
Fastest fastest_on(const VerdictGrid& grid) {
  const auto take_faster = [](const Group*& best, const Group& group) {
    if (best == nullptr || group.median < best->median) best = &group;
  };
  const bool is_gpu = grid.capability > 0;
  Fastest fastest;
  for (const Group& group : grid.groups) {
    const Record& r = group.first();
    if (!group.has_passed() || (is_gpu && r.backend != "cuda")) continue;
    const std::string task = task_identity(r);
    take_faster(fastest.by_method[{task, r.method, r.backend}], group);
    if (is_gpu) take_faster(fastest.by_task[task], group);
  }
  // On a CPU, the grid's winner is taken, because emulated kernels do not compete with CPU methods.
  for (const VerdictRow& row : grid.rows) {
    for (const auto& [n, cell] : row.cells) {
      if (!is_gpu && cell.winner != nullptr)
        fastest.by_task[task_identity(cell.any_group->first())] = cell.winner;
    }
  }
  return fastest;
}

/// Returns the model of the record's GPU, or of its CPU; empty if unknown. @param cpus CPU models by host
std::string model_of(const Record& r, const std::map<std::string, std::string>& cpus) {
  if (r.backend == "cuda") return r.gpu_name;
  const std::string* cpu = find_in(cpus, r.host);
  return cpu == nullptr ? std::string() : *cpu;
}

}  // namespace

const char* to_string(BoundingLimit bounding_limit) {
  static constexpr const char* names[] = {"launches", "memory", "products", ""};
  return names[static_cast<std::size_t>(bounding_limit)];
}

int ModelCell::sign() const {
  if (speedup.low() > 1) return 1;
  return speedup.high() < 1 ? -1 : 0;
}

std::set<std::string> models_in(const io::Results& results, bool& is_gpu) {
  const std::map<std::string, std::string> cpus = cpus_by_host(results.hosts);
  std::set<std::string> gpu_models, cpu_models;
  for (const Record& r : results.records) {
    if (r.status == io::Status::skipped) continue;
    const std::string model = model_of(r, cpus);
    std::set<std::string>& models = r.backend == "cuda" ? gpu_models : cpu_models;
    if (!model.empty()) models.insert(model);
  }
  is_gpu = !gpu_models.empty();
  return is_gpu ? gpu_models : cpu_models;
}

std::set<std::string> base_models(const std::vector<io::Results>& sets, bool is_requested) {
  bool is_gpu = false, is_other_gpu = false;
  const std::set<std::string> last = models_in(sets.back(), is_gpu);
  std::set<std::string> earlier, all = last;  // model names
  for (std::size_t i = 0; i + 1 < sets.size(); ++i) {
    const std::set<std::string> more = models_in(sets[i], is_other_gpu);
    if (is_other_gpu != is_gpu && !is_requested) return {};
    earlier.insert(more.begin(), more.end());
    all.insert(more.begin(), more.end());
  }
  const bool is_disjoint = std::none_of(last.begin(), last.end(),
                                        [&](const std::string& name) { return earlier.count(name) > 0; });
  if (!is_requested && !earlier.empty() && !last.empty() && is_disjoint) return earlier;
  if (all.size() < 2) {
    if (!is_requested) return {};
    throw UsageError(fmt::format("--models: the records are of one model only: {}",
                                 all.empty() ? "unknown" : *all.begin()));
  }
  if (!is_requested && (sets.size() > 1 || repeats_trials(sets.front()))) return {};
  // The oldest model is the base: the one with the lowest compute capability, then the first name.
  std::map<std::string, std::int64_t> capability;
  for (const io::Results& set : sets) {
    for (const Record& r : set.records) {
      if (r.backend == "cuda") capability[r.gpu_name] = r.capability;
    }
  }
  return {*std::min_element(all.begin(), all.end(), [&](const std::string& a, const std::string& b) {
    return capability[a] < capability[b];
  })};
}

std::vector<VerdictGrid> model_grids(std::vector<io::Results> sets, io::Results& all) {
  HostNames names;
  std::unordered_set<std::size_t> executions;
  for (io::Results& set : sets) {
    names.make_names_unique(set);
    drop_known_executions(set.records, executions);
    std::move(set.records.begin(), set.records.end(), std::back_inserter(all.records));
    all.devices.insert(all.devices.end(), set.devices.begin(), set.devices.end());
    all.hosts.insert(all.hosts.end(), set.hosts.begin(), set.hosts.end());
  }
  return verdict_grids(all.records, all.devices, all.hosts);
}

ModelComparison compare_models(const VerdictGrid& base, const VerdictGrid& now) {
  ModelComparison result;
  result.base = facts_of(base, now.device);
  result.now = facts_of(now, base.device);
  const Fastest before = fastest_on(base), after = fastest_on(now);
  for (const auto& [task, group] : after.by_task) result.only_new += before.by_task.count(task) == 0 ? 1 : 0;
  for (const auto& [task, group] : before.by_task) result.only_base += after.by_task.count(task) == 0 ? 1 : 0;
  for (const VerdictRow& row : base.rows) {
    ModelTask model_task{row.problem, row.precision, row.matrix, row.details, {}, {}};
    std::map<std::pair<std::string, std::string>, ModelRow> methods;
    for (const auto& [n, cell] : row.cells) {
      const std::string task = task_identity(cell.any_group->first());
      const Group* const* fastest = find_in(before.by_task, task);
      const Group* const* other = find_in(after.by_task, task);
      if (fastest == nullptr || other == nullptr) continue;
      model_task.fastest.cells.emplace(n, make_cell(**fastest, **other, result.base, result.now));
      for (auto group = before.by_method.lower_bound({task, "", ""});
           group != before.by_method.end() && std::get<0>(group->first) == task; ++group) {
        const Group* const* same = find_in(after.by_method, group->first);
        if (same == nullptr) continue;
        const auto& [task_name, method, backend] = group->first;
        ModelRow& method_row =
            methods.try_emplace({method, backend}, ModelRow{method, backend, {}}).first->second;
        method_row.cells.emplace(n, make_cell(*group->second, **same, result.base, result.now));
      }
    }
    for (auto& [method, method_row] : methods) model_task.methods.push_back(std::move(method_row));
    if (!model_task.fastest.cells.empty()) result.tasks.push_back(std::move(model_task));
  }
  return result;
}

}  // namespace gaussweep::driver
