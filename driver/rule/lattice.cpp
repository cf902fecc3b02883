/// Collects measured times on a lattice (a grid over batches, right-hand sides and orders n), and
/// interpolates between them. A group has the records of one method, with certain parameters, on one task.

#include "driver/rule/lattice.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/identity.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

/// Times are interpolated between neighbouring batches, right-hand sides and orders if these differ by at
/// most these factors.
constexpr std::array<double, 3> max_interpolated{16, 16, 4};
/// Sizes are inserted between neighbouring batches, right-hand sides and orders that differ by more than
/// these factors. Inserted batches and right-hand sides get interpolated times and make the rule's thresholds
/// finer. Orders that differ by more than 4 are too far apart to interpolate (max_interpolated). An order
/// inserted there has no time, so no range of the rule spans this gap.
constexpr std::array<double, 3> max_factor{2, 2, 4};

/// Inserts sizes between neighbours that differ by more than `factor`, evenly in ln(size).
void insert_between(std::vector<std::int64_t>& levels, double factor) {
  std::set<std::int64_t> all(levels.begin(), levels.end());
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const double low = static_cast<double>(levels[i]), high = static_cast<double>(levels[i + 1]);
    // Without the 1e-9, a ratio that is an exact power of `factor` might get a part too many by rounding.
    const int parts = static_cast<int>(std::ceil(std::log(high / low) / std::log(factor) - 1e-9));
    for (int k = 1; k < parts; ++k) all.insert(std::llround(low * std::pow(high / low, double(k) / parts)));
  }
  levels.assign(all.begin(), all.end());
}

/// Adds a group's times to a cell of the lattice. A cell has the means of ln(time) over all groups of one
/// method and layer with equal sizes.
/// @param count number of passing groups in the cell
void add(LogTime& cell, const Group& group, int& count) {
  if (!group.has_passed()) {
    cell.has_failed = true;
    return;
  }
  ++count;
  const auto merge = [&](double& mean, double seconds) {
    mean = count == 1 ? std::log(seconds) : mean + (std::log(seconds) - mean) / count;
  };
  merge(cell.median, group.median);
  merge(cell.q1, group.q1);
  merge(cell.q3, group.q3);
  merge(cell.replay, group.replay);
}

/// Returns the index of a value in a list; appends the value if it is missing.
template <class Value>
std::size_t index_of(std::vector<Value>& all, const Value& value) {
  const auto index = static_cast<std::size_t>(std::find(all.begin(), all.end(), value) - all.begin());
  if (index == all.size()) all.push_back(value);
  return index;
}

/// Returns the name of a record's device in a rule: the GPU model, the CPU model, or "emulated".
/// @param cpus CPU models by host
std::string device_label(const Record& record, const std::map<std::string, std::string>& cpus) {
  if (record.backend == to_string(Backend::emulated)) return record.backend;
  if (record.backend == to_string(Backend::cuda))
    return record.gpu_name.empty() ? "unnamed GPU" : std::string(record.gpu_name);
  const std::string* cpu = find_in(cpus, record.host);
  return cpu == nullptr ? "CPU" : *cpu;
}

/// Collects the times of one problem on one device.
MeasuredTimes times_of(Problem problem, const std::string& device,
                       const std::vector<const Record*>& records) {
  MeasuredTimes all;
  all.problem = problem;
  all.device = device;
  const std::vector<Group> groups = group_records(records);
  std::set<std::string> vendors;
  for (const Group& group : groups) {
    vendors.insert(group.first().reference_method);
    index_of(all.methods, MethodChoice{group.first().method, group.first().parameters});
  }
  for (const MethodChoice& choice : all.methods) all.is_vendor.push_back(vendors.count(choice.method) > 0);
  std::vector<std::map<TaskSizes, std::vector<int>>> counts;
  const auto add_group = [&](const Group& group) {
    const Question q = question_of(group.first(), device);
    const std::size_t layer = index_of(all.layers, RuleNames{q.precision, q.uplo, q.matrix});
    const std::size_t method =
        index_of(all.methods, MethodChoice{group.first().method, group.first().parameters});
    all.times.resize(all.layers.size());
    all.tasks.resize(all.layers.size());
    counts.resize(all.layers.size());
    const TaskSizes sizes{q.batch, q.nrhs, q.n};
    std::vector<LogTime>& cells = all.times[layer][sizes];
    std::vector<int>& group_counts = counts[layer][sizes];
    cells.resize(all.methods.size());
    group_counts.resize(all.methods.size());
    // A method may skip some matrices of a size. If it ran on another matrix of this size, the skipped
    // matrices do not count.
    if (group.status == io::Status::skipped && group_counts[method] > 0) return;
    add(cells[method], group, group_counts[method]);
    std::vector<double>& seconds = all.tasks[layer][sizes][task_identity(group.first())];
    seconds.resize(all.methods.size(), io::Record::unknown);
    if (group.has_passed()) seconds[method] = group.median;
  };
  // Skipped groups are last, because `add_group` ignores them if the method ran.
  for (const bool skipped : {false, true}) {
    for (const Group& group : groups) {
      if ((group.status == io::Status::skipped) == skipped) add_group(group);
    }
  }
  return all;
}

}  // namespace

double MeasuredTimes::coordinate(std::size_t layer, const TaskSizes& sizes) const {
  Shape shape;
  shape.m = shape.n = shape.k = sizes.n;
  shape.nrhs = sizes.nrhs;
  shape.batch = sizes.batch;
  const bool is_float = layers[layer].precision == to_string(Precision::float32);
  const double flops = problem_flops(problem, shape);
  const double bytes = problem_bytes(problem, shape, is_float ? sizeof(float) : sizeof(double));
  const double seconds =
      std::fmax(flops / (is_float ? rates.flops_float : rates.flops_double), bytes / rates.copy);
  return std::log(std::isnan(seconds) ? flops : seconds);  // NaN if the device's rates are unknown
}

Question question_of(const Record& r, const std::string& device) {
  Question q{r.problem, device, r.precision, any_name, matrix_label(r), r.n, 1, r.batch};
  if (has_axis(r.problem, "uplo")) q.uplo = r.uplo;
  if (has_axis(r.problem, "nrhs")) q.nrhs = r.nrhs;
  return q;
}

std::map<std::string, std::vector<const Record*>> records_by_device(const io::Results& results) {
  const std::map<std::string, std::string> cpus = cpus_by_host(results.hosts);
  std::map<std::string, std::vector<const Record*>> by_device;
  for (const Record& r : results.records) {
    if (is_of_one_order(r)) by_device[device_label(r, cpus)].push_back(&r);
  }
  return by_device;
}

std::vector<MeasuredTimes> measured_times(const io::Results& results) {
  std::map<std::pair<std::string, std::string>, std::vector<const Record*>> by_problem;  // and device
  std::set<std::pair<std::string, std::string>> with_times;
  for (const auto& [device, records] : records_by_device(results)) {
    for (const Record* r : records) {
      const std::pair key(std::string(r->problem), device);
      by_problem[key].push_back(r);
      if (r->status != io::Status::skipped) with_times.insert(key);
    }
  }
  std::vector<MeasuredTimes> all;
  for (const auto& [problem, device] : with_times) {
    const std::optional<Problem> known = from_string<Problem>(problem);
    if (!known)
      throw UsageError(
          fmt::format("the records have the problem '{}', which this program does not have; "
                      "--problem selects others: {}",
                      problem, allowed_names<Problem>()));
    MeasuredTimes times = times_of(*known, device, by_problem.at({problem, device}));
    std::vector<const io::DeviceRow*> rows;
    for (const io::DeviceRow& row : results.devices) {
      if (row.gpu_name == device) rows.push_back(&row);
    }
    times.rates = median_rates(rows);
    all.push_back(std::move(times));
  }
  return all;
}

Lattice::Lattice(const MeasuredTimes& measured) : measured_(measured) {
  std::array<std::set<std::int64_t>, 3> levels;
  for (const auto& layer : measured.times) {
    for (const auto& [sizes, cells] : layer) {
      levels[0].insert(sizes.batch);
      levels[1].insert(sizes.nrhs);
      levels[2].insert(sizes.n);
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    axes_[axis].assign(levels[axis].begin(), levels[axis].end());
    insert_between(axes_[axis], max_factor[axis]);
  }
  times_.resize(layers() * axes_[0].size() * axes_[1].size() * axes_[2].size() * methods());
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    for (const auto& [sizes, cells] : measured.times[layer]) {
      const auto at = [](const std::vector<std::int64_t>& axis, std::int64_t size) {
        return static_cast<int>(std::lower_bound(axis.begin(), axis.end(), size) - axis.begin());
      };
      const std::array<int, 3> indices{at(axes_[0], sizes.batch), at(axes_[1], sizes.nrhs),
                                       at(axes_[2], sizes.n)};
      std::copy(cells.begin(), cells.end(),
                times_.begin() + static_cast<std::ptrdiff_t>(index(layer, indices, 0)));
    }
  }
  for (const int axis : {2, 1, 0}) fill(axis);
}

std::size_t Lattice::index(std::size_t layer, const std::array<int, 3>& at, std::size_t method) const {
  std::size_t position = layer;
  for (int axis = 0; axis < 3; ++axis)
    position = position * axes_[axis].size() + static_cast<std::size_t>(at[axis]);
  return position * methods() + method;
}

void Lattice::fill(int axis) {
  std::array<int, 3> counts{};
  for (int each = 0; each < 3; ++each) counts[each] = each == axis ? 1 : static_cast<int>(axes_[each].size());
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    for (int b = 0; b < counts[0]; ++b) {
      for (int r = 0; r < counts[1]; ++r) {
        for (int n = 0; n < counts[2]; ++n) {
          for (std::size_t method = 0; method < methods(); ++method)
            fill_line(axis, layer, {b, r, n}, method);
        }
      }
    }
  }
}

// A time is interpolated only if the nearest sizes with a result, on both sides, have known times.
void Lattice::fill_line(int axis, std::size_t layer, std::array<int, 3> at, std::size_t method) {
  const auto time_at = [&](int i) -> LogTime& {
    at[axis] = i;
    return times_[index(layer, at, method)];
  };
  const auto coordinate_at = [&](int i) {
    at[axis] = i;
    return measured_.coordinate(layer, sizes(at[0], at[1], at[2]));
  };
  int before = -1;  // index of the last size with a time or a failure; -1: none yet
  for (int i = 0; i < static_cast<int>(axes_[axis].size()); ++i) {
    const LogTime high = time_at(i);
    if (!high.is_known() && !high.has_failed) continue;
    if (before >= 0 && before + 1 < i && high.is_known() && time_at(before).is_known() &&
        static_cast<double>(axes_[axis][i]) <=
            max_interpolated[axis] * static_cast<double>(axes_[axis][before])) {
      const LogTime low = time_at(before);
      const double start = coordinate_at(before), length = coordinate_at(i) - start;
      for (int k = before + 1; k < i; ++k) {
        const double fraction = (coordinate_at(k) - start) / length;
        const auto between = [&](double a, double b) { return a + fraction * (b - a); };
        time_at(k) = {between(low.median, high.median), between(low.q1, high.q1), between(low.q3, high.q3),
                      between(low.replay, high.replay), /*has_failed=*/false};
      }
    }
    before = i;
  }
}

}  // namespace gaussweep::driver
