#pragma once
/// The times of methods on a lattice: a grid over batches, numbers of right-hand sides, and orders n. Times
/// between measured sizes are interpolated. learn.cpp learns rules from them.

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "driver/rule/rule.hpp"
#include "driver/summary/summary.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "io/records/results.hpp"
#include "kernels/registry/problem.hpp"

namespace gaussweep::driver {

/// The natural logarithm of a time in seconds, with its quartiles. NaN: unknown.
struct LogTime {
  double median = io::Record::unknown, q1 = io::Record::unknown, q3 = io::Record::unknown;
  /// Like `median`, for replays of the method as a CUDA graph, which have no launch overhead.
  double replay = io::Record::unknown;
  /// True if the method was skipped, or its answer did not pass verification. No time is interpolated across
  /// such a size.
  bool has_failed = false;
  bool is_known() const { return !has_failed && !std::isnan(median); }
};

/// The sizes of a task (a problem to solve, by any method), in the order of the lattice's axes.
struct TaskSizes {
  std::int64_t batch = 1, nrhs = 1, n = 0;
};
inline bool operator<(const TaskSizes& a, const TaskSizes& b) {
  return std::tie(a.batch, a.nrhs, a.n) < std::tie(b.batch, b.nrhs, b.n);
}

/// The measured times of one problem on one device. A layer has the times for one precision, triangle and
/// matrix (RuleNames).
struct MeasuredTimes {
  Problem problem;
  std::string device;
  Rates rates;  ///< the device's measured GEMM and copy rates
  std::vector<MethodChoice> methods;
  std::vector<bool> is_vendor;  ///< by method: true if it is a vendor library's
  std::vector<RuleNames> layers;
  std::vector<std::map<TaskSizes, std::vector<LogTime>>> times;  ///< by layer and sizes: one per method
  /// By layer, sizes and task (text of task_identity()): one time in seconds per method. NaN: the method did
  /// not pass.
  std::vector<std::map<TaskSizes, std::map<std::string, std::vector<double>>>> tasks;

  /// Returns the coordinate over which times are interpolated: ln of the roofline time for these sizes. The
  /// roofline time is the larger of flops / GEMM rate and bytes / copy rate. If the rates are unknown, it is
  /// replaced by the flops.
  double coordinate(std::size_t layer, const TaskSizes& sizes) const;
};

/// Returns the records of tasks whose operands have one order n (m = n = k), by device. A device is named by
/// its GPU model, its CPU model, or "emulated".
std::map<std::string, std::vector<const io::Record*>> records_by_device(const io::Results& results);

/// Returns the question (the task for which a program needs a method) that a record answers. If the problem
/// has no triangle, `uplo` is `any_name`.
Question question_of(const io::Record& record, const std::string& device);

/// Collects the times of tasks with square operands, per problem and device.
/// @throws UsageError if a record is of a problem that this program does not have
std::vector<MeasuredTimes> measured_times(const io::Results& results);

/// The times on the grid of all measured sizes and some inserted sizes between them. A time between two sizes
/// is interpolated linearly in ln(time) over `MeasuredTimes::coordinate`.
class Lattice {
 public:
  explicit Lattice(const MeasuredTimes& measured);
  /// Returns the numbers of systems per batch.
  const std::vector<std::int64_t>& batches() const { return axes_[0]; }
  /// Returns the numbers of right-hand sides.
  const std::vector<std::int64_t>& rhs_counts() const { return axes_[1]; }
  /// Returns the orders n.
  const std::vector<std::int64_t>& orders() const { return axes_[2]; }
  std::size_t layers() const { return measured_.layers.size(); }
  std::size_t methods() const { return measured_.methods.size(); }
  /// Returns the time of a method. `batch`, `rhs` and `order` are indices into `batches()`, `rhs_counts()`
  /// and `orders()`.
  const LogTime& at(std::size_t layer, int batch, int rhs, int order, std::size_t method) const {
    return times_[index(layer, {batch, rhs, order}, method)];
  }
  /// Returns the sizes at these indices.
  TaskSizes sizes(int batch, int rhs, int order) const {
    return {axes_[0][batch], axes_[1][rhs], axes_[2][order]};
  }
  const MeasuredTimes& measured() const { return measured_; }

 private:
  /// Returns the index in `times_` of a layer, the indices `at` on the three axes, and a method.
  std::size_t index(std::size_t layer, const std::array<int, 3>& at, std::size_t method) const;
  /// Interpolates the unknown times of all methods along one axis (an index into `axes_`).
  void fill(int axis);
  /// Does the same for one method of one layer, along the line of the grid that contains the indices `at`.
  void fill_line(int axis, std::size_t layer, std::array<int, 3> at, std::size_t method);
  const MeasuredTimes& measured_;
  std::array<std::vector<std::int64_t>, 3> axes_;  ///< batches, right-hand sides, orders
  std::vector<LogTime> times_;                     ///< see index()
};

}  // namespace gaussweep::driver
