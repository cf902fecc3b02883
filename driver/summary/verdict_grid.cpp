/// Makes the grids of the fastest methods. A task is one problem on one matrix; a race is the comparison of
/// all methods on one task. A row has the races of one problem, precision and matrix, one per size. A group
/// has the records of one method on one task.

#include "driver/summary/verdict_grid.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <tuple>

#include "driver/base/lookup.hpp"
#include "driver/base/statistics.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/roofline_fraction.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/plan/settings.hpp"
#include "io/records/status.hpp"
#include "kernels/core/enums.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

const io::Text unnamed_gpu = "unnamed GPU", unnamed_cpu = "CPU";

const io::Text& gpu_of(const Record& r) {
  return r.gpu_name.empty() ? unnamed_gpu : r.gpu_name;
}

/// A GPU model, or a CPU (capability 0).
using Device = std::pair<std::string, std::int64_t>;

/// The machines of the records, and their GPUs and CPUs.
class Machines {
 public:
  Machines(const std::vector<Record>& records, const std::vector<io::HostRow>& hosts)
      : cpus_(cpus_by_host(hosts)) {
    for (const Record& r : records) {
      if (r.backend == "cuda" && r.status != io::Status::skipped)
        hosts_by_gpu_[{gpu_of(r), r.capability}].insert(r.host);
      else if (r.backend == "host")
        hosts_with_cpu_methods_.insert(r.host);
    }
  }
  std::string cpu_of(const std::string& host) const {
    const std::string* cpu = find_in(cpus_, host);
    return cpu == nullptr ? std::string(unnamed_cpu) : *cpu;
  }
  const std::map<Device, std::set<std::string>>& hosts_by_gpu() const { return hosts_by_gpu_; }
  /// Returns the machines whose CPU methods compete with a GPU. These are the machines with this GPU on which
  /// CPU methods ran, or, if there are none, all machines on which CPU methods ran.
  std::set<std::string> cpu_hosts(const Device& gpu) const {
    std::set<std::string> hosts_with_gpu;
    for (const std::string& host : hosts_by_gpu_.at(gpu)) {
      if (hosts_with_cpu_methods_.count(host) > 0) hosts_with_gpu.insert(host);
    }
    return hosts_with_gpu.empty() ? hosts_with_cpu_methods_ : hosts_with_gpu;
  }

 private:
  std::map<std::string, std::string> cpus_;  // by host
  std::map<Device, std::set<std::string>> hosts_by_gpu_;
  std::set<std::string> hosts_with_cpu_methods_;
};

/// The measured rates of a device model.
class ModelRates {
 public:
  ModelRates(const std::vector<io::DeviceRow>& devices, const Device& device) {
    std::map<DeviceKey, std::vector<const io::DeviceRow*>> rows_of;
    std::vector<const io::DeviceRow*> rows;
    for (const io::DeviceRow& row : devices) {
      const io::Text& unnamed = row.capability > 0 ? unnamed_gpu : unnamed_cpu;
      const std::string name = row.gpu_name.empty() ? unnamed : row.gpu_name;
      if (Device(name, row.capability) != device) continue;
      rows.push_back(&row);
      rows_of[{row.host, row.gpu_uuid, row.capability}].push_back(&row);
    }
    median_ = median_rates(rows);
    for (const auto& [key, own] : rows_of) own_.emplace(key, median_rates(own));
  }
  /// Returns the medians over the model's devices.
  const Rates& median() const { return median_; }
  /// Returns the limit (lower bound on the time) of a group's problem: the median over its records. Each
  /// record's limit is computed with the rates of its own device, as in `Group::peak_share`. If these rates
  /// are unknown, or if the record is of a CPU method in a GPU's grid, the medians of the model are used. The
  /// bound is that of the median record, or of the larger of the two in the middle.
  Limit limit_of(const Group& group) const {
    std::vector<Limit> limits;
    for (const Record* r : group.records) {
      const Rates* own = find_in(own_, DeviceKey(r->host, r->gpu_uuid, r->capability));
      Limit of_record = own == nullptr ? Limit() : driver::limit_of(*r, *own);
      if (std::isnan(of_record.seconds)) of_record = driver::limit_of(*r, median_);
      if (std::isnan(of_record.seconds)) continue;
      limits.push_back(of_record);
    }
    if (limits.empty()) return {};
    std::sort(limits.begin(), limits.end(),
              [](const Limit& a, const Limit& b) { return a.seconds < b.seconds; });
    const Limit &below = limits[(limits.size() - 1) / 2], &above = limits[limits.size() / 2];
    return {(below.seconds + above.seconds) / 2, above.bound};
  }

 private:
  /// The host, and the GPU's UUID and compute capability (empty and 0 for the host's CPU).
  using DeviceKey = std::tuple<std::string_view, std::string_view, std::int64_t>;
  Rates median_;
  std::map<DeviceKey, Rates> own_;  ///< the rates of each device
};

/// Identifies a row and determines its position in the grid: problem, precision, matrix, matrix parameters,
/// nrhs, batch, uplo, m, k, seed, extra text (see `row_key`).
using RowKey = std::tuple<std::string, std::string, std::string, std::string, std::int64_t, std::int64_t,
                          std::string, std::int64_t, std::int64_t, std::int64_t, std::string>;

/// Returns the key of a group's row. @param batch the number of systems, or 2 for every number above 1 if
/// batches of different sizes share a row
/// @param extra distinguishes rows that are otherwise equal
RowKey row_key(const Group& group, std::int64_t batch, std::int64_t seed, const std::string& extra) {
  const Record& r = group.first();
  const bool is_square = is_of_one_order(r);
  return {r.problem, r.precision, group.matrix,        r.matrix_parameters, r.nrhs,
          batch,     r.uplo,      is_square ? 0 : r.m, is_square ? 0 : r.k, seed,
          extra};
}

/// Returns the properties that distinguish a row, beyond problem, precision and matrix: "m 64, k 32, upper".
std::string details_of(const Record& r, const NeededColumns& needed, bool with_seed) {
  std::vector<std::string> parts;
  if (has_axis(r.problem, "k") && (r.m != r.n || r.k != r.n))
    parts.push_back(fmt::format("m {}, k {}", r.m, r.k));
  if (needed.nrhs && has_axis(r.problem, "nrhs")) parts.push_back(fmt::format("nrhs {}", r.nrhs));
  if (needed.uplo.count(r.problem) > 0) parts.push_back(r.uplo);
  if (needed.seed && with_seed) parts.push_back(fmt::format("seed {}", r.matrix_seed));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns the conditions that separate tasks and differ from the usual ones: "cache cold", "host memory
/// pinned".
std::vector<std::string> unusual_conditions(const Record& r) {
  std::vector<std::string> texts;
  for (const io::Setting& setting : io::conditions()) {
    const io::Condition& condition = *setting.condition;
    const std::string value = io::condition_of(r, condition);
    if (!condition.separates_tasks || value == condition.default_name) continue;
    std::string name = setting.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    texts.push_back(name + " " + value);
  }
  return texts;
}

/// Returns the unusual conditions as text. Rows with the usual conditions come first, because their text is
/// empty.
std::string conditions_text(const Record& r) {
  return fmt::format("{}", fmt::join(unusual_conditions(r), ", "));
}

/// Finds the rows that batches of different sizes share. These are the rows with only one batch size (number
/// of systems) per n. All seeds count, so that rows that differ only in the seed are treated alike.
class SharedRows {
 public:
  explicit SharedRows(const std::vector<Group>& groups) {
    std::map<RowKey, std::map<std::int64_t, std::set<std::int64_t>>> sizes;  // by row and n
    for (const Group& group : groups) {
      const Record& r = group.first();
      if (r.batch > 1 && group.status != io::Status::skipped) sizes[key_of(group)][r.n].insert(r.batch);
    }
    for (const auto& [key, by_n] : sizes) {
      std::set<std::int64_t> all;
      bool is_one_per_n = true;
      for (const auto& [n, batches] : by_n) {
        is_one_per_n = is_one_per_n && batches.size() == 1;
        all.insert(batches.begin(), batches.end());
      }
      if (is_one_per_n && all.size() > 1) keys_.insert(key);
    }
  }
  bool has(const Group& group) const { return group.first().batch > 1 && keys_.count(key_of(group)) > 0; }

 private:
  static RowKey key_of(const Group& group) {
    return row_key(group, /*batch=*/2, /*seed=*/0, conditions_text(group.first()));
  }
  std::set<RowKey> keys_;
};

/// Adds a property to `details` and `details_without_seed`.
void add_detail(VerdictRow& row, const std::string& detail) {
  for (std::string* text : {&row.details, &row.details_without_seed})
    *text += (text->empty() ? "" : ", ") + detail;
}

bool is_same_method(const Group& a, const Group& b) {
  return a.first().method == b.first().method && a.first().backend == b.first().backend;
}

bool is_named(const Record& r, const std::string& method) {
  return method == r.method || method == r.problem + "/" + r.method;
}

/// Returns the vendor's method that the records name as their reference; a GPU's record has precedence.
/// Returns "" if no record names one.
std::string vendor_of(const std::vector<const Group*>& race) {
  std::string vendor;
  for (const Group* group : race) {
    const Record& r = group->first();
    if (r.reference_method.empty()) continue;
    if (r.backend == "cuda") return r.reference_method;
    vendor = r.reference_method;
  }
  return vendor;
}

/// Returns the pairs of method and backend that were tried.
std::set<std::pair<std::string, std::string>> tried_methods(const std::vector<const Group*>& race) {
  std::set<std::pair<std::string, std::string>> methods;
  for (const Group* group : race) {
    if (group->status != io::Status::skipped) methods.insert({group->first().method, group->first().backend});
  }
  return methods;
}

/// Finds the winner of a task, its lead, its baseline and its fraction of the limit.
VerdictCell judge_race(const std::vector<const Group*>& task_groups, const ModelRates& rates,
                       const std::string& requested_baseline) {
  const std::vector<const Group*> race = competitors(task_groups);
  VerdictCell cell;
  cell.groups = task_groups;
  cell.any_group = race.front();
  std::vector<const Group*> passed;
  for (const Group* group : race) {
    if (group->has_passed()) passed.push_back(group);
  }
  cell.methods = static_cast<std::int64_t>(tried_methods(race).size());
  cell.limit = rates.limit_of(*race.front());
  std::stable_sort(passed.begin(), passed.end(),
                   [](const Group* a, const Group* b) { return a->median < b->median; });
  if (passed.empty()) return cell;
  cell.winner = passed.front();
  cell.limit = rates.limit_of(*cell.winner);
  cell.limit.seconds /= gpus_of(cell.winner->first());  // the limit was computed with the rates of one GPU
  cell.limit_fraction = cell.limit.seconds / cell.winner->median;
  const std::string baseline = requested_baseline.empty() ? vendor_of(race) : requested_baseline;
  const auto compared = std::find_if(passed.begin(), passed.end(),
                                     [&](const Group* group) { return is_named(group->first(), baseline); });
  if (compared != passed.end()) {
    cell.baseline = *compared;
    cell.speedup = cell.baseline->median / cell.winner->median;
  }
  const auto second = std::find_if(passed.begin(), passed.end(),
                                   [&](const Group* group) { return !is_same_method(*group, *cell.winner); });
  if (second == passed.end()) return cell;
  cell.runner_up = *second;
  cell.lead = cell.runner_up->median / cell.winner->median;
  cell.tie = cell.runner_up->q1 < cell.winner->q3;
  return cell;
}

/// Methods with their backends.
using Methods = std::set<std::pair<std::string, std::string>>;

/// The races of several seeds, by the methods that were tried.
using RacesByMethods = std::map<Methods, std::vector<const VerdictCell*>>;

bool is_only_emulated(const Methods& methods) {
  return std::all_of(methods.begin(), methods.end(),
                     [](const auto& method) { return method.second == "emulated"; });
}

/// Chooses the set of methods whose races are pooled. A method that ran with other seeds than another method
/// ran on other matrices, so their times cannot be compared. Order of preference: GPU or CPU methods (not
/// only emulated kernels), then the most methods, then the vendor's method among them, then the most races.
RacesByMethods::const_iterator races_to_pool(const RacesByMethods& races) {
  const auto rank = [](const RacesByMethods::value_type& some) {
    const std::string vendor = vendor_of(competitors(some.second.front()->groups));
    const bool has_vendor = std::any_of(some.first.begin(), some.first.end(),
                                        [&](const auto& method) { return method.first == vendor; });
    return std::tuple(!is_only_emulated(some.first), some.first.size(), has_vendor, some.second.size());
  };
  return std::max_element(races.begin(), races.end(),
                          [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

/// Judges the races of one task with several seeds as one race. @param storage receives the pooled groups, to
/// which the cell points
VerdictCell pooled_race(const std::vector<const VerdictCell*>& races, const ModelRates& rates,
                        const std::string& baseline, std::deque<Group>& storage) {
  using Configuration = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Configuration, std::vector<const Group*>> by_configuration;
  std::vector<Configuration> order;
  RacesByMethods by_methods;
  for (const VerdictCell* race : races) by_methods[tried_methods(competitors(race->groups))].push_back(race);
  const auto chosen = races_to_pool(by_methods);
  for (const VerdictCell* race : chosen->second) {
    for (const Group* group : race->groups) {
      const Record& r = group->first();
      std::vector<const Group*>& same = by_configuration[{r.method, r.backend, r.parameters}];
      if (same.empty()) order.emplace_back(r.method, r.backend, r.parameters);
      same.push_back(group);
    }
  }
  std::vector<const Group*> pooled;
  for (const Configuration& configuration : order)
    pooled.push_back(&storage.emplace_back(joined_group(by_configuration.at(configuration))));
  VerdictCell cell = judge_race(pooled, rates, baseline);
  cell.races = static_cast<std::int64_t>(chosen->second.size());
  const bool has_unemulated = !is_only_emulated(chosen->first);
  for (const auto& [methods, others] : by_methods) {
    if (cell.runner_up != nullptr || (has_unemulated && is_only_emulated(methods)))
      continue;  // emulated kernels do not compete with other methods
    cell.lacks_seeds = cell.lacks_seeds || !std::includes(chosen->first.begin(), chosen->first.end(),
                                                          methods.begin(), methods.end());
  }
  cell.wins = std::count_if(chosen->second.begin(), chosen->second.end(), [&](const VerdictCell* race) {
    return race->winner != nullptr && cell.winner != nullptr && is_same_method(*race->winner, *cell.winner);
  });
  return cell;
}

/// Sets the grid's pooled rows: rows that differ only in their seeds become one.
void pool_seeds(VerdictGrid& grid, const ModelRates& rates, const std::string& baseline) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::vector<std::vector<const VerdictRow*>> pools;
  std::map<Key, std::size_t> pool_of;
  for (const VerdictRow& row : grid.rows) {
    const Key key{row.problem, row.precision, row.matrix, row.details_without_seed};
    const std::size_t pool = pool_of.emplace(key, pools.size()).first->second;
    if (pool == pools.size()) pools.emplace_back();
    pools[pool].push_back(&row);
  }
  for (const std::vector<const VerdictRow*>& pool : pools) {
    VerdictRow& row = grid.pooled_rows.emplace_back(*pool.front());
    row.details = row.details_without_seed;
    if (pool.size() == 1) continue;
    std::map<std::int64_t, std::vector<const VerdictCell*>> races;
    for (const VerdictRow* one : pool) {
      for (const auto& [n, cell] : one->cells) races[n].push_back(&cell);
    }
    row.cells.clear();
    for (const auto& [n, cells_of_n] : races)
      row.cells.emplace(n, cells_of_n.size() == 1
                               ? *cells_of_n.front()
                               : pooled_race(cells_of_n, rates, baseline, grid.pooled_groups));
  }
}

/// Makes the grid of a device from the records that compete on it.
VerdictGrid make_grid(const Device& device, const std::vector<const Record*>& records,
                      const ModelRates& rates, const std::string& baseline) {
  VerdictGrid grid;
  std::tie(grid.device, grid.capability) = device;
  grid.rates = rates.median();
  grid.groups = group_records(records);
  std::map<std::string, std::vector<const Record*>> by_problem;
  for (const Group& group : grid.groups) by_problem[group.first().problem].push_back(&group.first());
  std::map<std::string, NeededColumns> needed;
  for (const auto& [problem, all] : by_problem) needed.emplace(problem, all);

  // Different tasks for the same cell (for example, with matrices of different builds) get separate rows.
  std::map<std::string, std::vector<const Group*>> races;  // by task identity
  std::vector<std::string> order;                          // of the tasks
  for (const Group& group : grid.groups) {
    std::vector<const Group*>& race = races[task_identity(group.first())];
    if (race.empty()) order.push_back(task_identity(group.first()));
    race.push_back(&group);
  }
  const SharedRows shared_rows(grid.groups);
  std::map<RowKey, VerdictRow> rows;
  for (const std::string& task : order) {
    const std::vector<const Group*>& race = races.at(task);
    const VerdictCell cell = judge_race(race, rates, baseline);
    if (cell.methods == 0) continue;  // all methods were skipped
    const Group& first = *race.front();
    const Record& r = first.first();
    const bool has_batches = shared_rows.has(first);
    std::string extra = conditions_text(r), digest;
    const auto key = [&] { return row_key(first, has_batches ? 2 : r.batch, r.matrix_seed, extra); };
    if (const VerdictRow* row = find_in(rows, key()); row != nullptr && row->cells.count(r.n) > 0) {
      extra += " " + std::string(r.matrix_digest);
      digest = std::string(r.matrix_digest).substr(0, 8);
    }
    VerdictRow& row = rows[key()];
    row.problem = r.problem;
    row.precision = r.precision;
    row.matrix = first.matrix;
    if (row.cells.empty()) {
      const NeededColumns& columns = needed.at(r.problem);
      row.details = details_of(r, columns, /*with_seed=*/true);
      row.details_without_seed = details_of(r, columns, /*with_seed=*/false);
      for (const std::string& condition : unusual_conditions(r)) add_detail(row, condition);
      if (!digest.empty()) add_detail(row, "digest " + digest);
      row.has_batches = has_batches;
      if (r.batch > 1 && columns.batch)
        add_detail(row, has_batches ? "batches" : fmt::format("batch {}", r.batch));
    }
    row.cells.emplace(r.n, cell);
  }
  for (auto& [key, row] : rows) grid.rows.push_back(std::move(row));
  pool_seeds(grid, rates, baseline);
  return grid;
}

}  // namespace

bool is_of_one_order(const Record& r) {
  return !has_axis(r.problem, "k") || (r.m == r.n && r.k == r.n);
}

Rates median_rates(const std::vector<const io::DeviceRow*>& devices) {
  const auto median = [&](double io::DeviceRow::*rate) {
    std::vector<double> rates;
    for (const io::DeviceRow* row : devices) {
      if (row->*rate > 0) rates.push_back(row->*rate);
    }
    return median_of(std::move(rates));
  };
  return {median(&io::DeviceRow::gemm_flops_float), median(&io::DeviceRow::gemm_flops_double),
          median(&io::DeviceRow::copy_bytes_per_second)};
}

Limit limit_of(const Record& r, const Rates& rates) {
  const auto precision = from_string<Precision>(r.precision);
  if (!precision) return {};
  const bool is_float = *precision == Precision::float32;
  const double compute = r.problem_flops / (is_float ? rates.flops_float : rates.flops_double);
  const double memory = r.problem_bytes / rates.copy;
  if (std::isnan(compute) || std::isnan(memory)) return {};
  return {std::max(compute, memory), memory > compute ? Bound::memory : Bound::compute};
}

std::vector<VerdictGrid> verdict_grids(const std::vector<Record>& records,
                                       const std::vector<io::DeviceRow>& devices,
                                       const std::vector<io::HostRow>& hosts, const std::string& baseline) {
  const Machines machines(records, hosts);
  std::vector<VerdictGrid> grids;
  std::set<std::string> assigned;  // machines whose CPUs already compete in a grid
  for (const auto& [gpu, gpu_hosts] : machines.hosts_by_gpu()) {
    const std::set<std::string> cpu_hosts = machines.cpu_hosts(gpu);
    assigned.insert(cpu_hosts.begin(), cpu_hosts.end());
    assigned.insert(gpu_hosts.begin(), gpu_hosts.end());
    std::vector<const Record*> grid_records;
    for (const Record& r : records) {
      const bool is_on_gpu = r.backend == "cuda" && gpu_of(r) == gpu.first && r.capability == gpu.second;
      const bool is_on_cpu = r.backend == "host" && cpu_hosts.count(r.host) > 0;
      if (is_on_gpu || is_on_cpu) grid_records.push_back(&r);
    }
    grids.push_back(make_grid(gpu, grid_records, ModelRates(devices, gpu), baseline));
    std::set<std::string> cpus;
    for (const std::string& host : cpu_hosts) cpus.insert(machines.cpu_of(host));
    grids.back().cpus.assign(cpus.begin(), cpus.end());
  }
  std::map<std::string, std::vector<const Record*>> cpu_only;  // by CPU
  for (const Record& r : records) {
    if (r.backend != "cuda" && assigned.count(r.host) == 0) cpu_only[machines.cpu_of(r.host)].push_back(&r);
  }
  for (const auto& [cpu, grid_records] : cpu_only)
    grids.push_back(make_grid({cpu, 0}, grid_records, ModelRates(devices, {cpu, 0}), baseline));
  return grids;
}

}  // namespace gaussweep::driver
