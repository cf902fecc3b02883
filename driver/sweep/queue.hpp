#pragma once
/// The order in which the coordinator assigns trials to ranks (`Queue::next`). A trial is one method on one
/// matrix. Rounds, i.e. repetitions of all trials, run one after the other.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/plan/trial.hpp"

namespace gaussweep::driver {

/// Sweeps use `longest_first`, so that all ranks end at about the same time. The command `try` uses
/// `shortest_first`, because this order runs the most trials within a time limit.
enum class QueueOrder { longest_first, shortest_first };

/// The use of the CPU of a rank's host by other ranks. `unshared`: no rule about the CPU applies, because no
/// other rank is on the host, all trials run on the CPU, or no trial does. `free`: no other rank of the host
/// has a trial that runs on the CPU. `taken`: at least one other rank of the host has such a trial.
enum class HostCpu { unshared, free, taken };

/// The trials that are not assigned yet. This class uses neither a clock nor MPI.
class Queue {
 public:
  /// @param costs estimated seconds of each trial, in the order of `trials`
  /// @param registry tells which methods are vendors' (library routines that other methods are compared with)
  /// @param ranks number of ranks that run the trials
  Queue(const std::vector<Trial>& trials, const std::vector<double>& costs, const Registry& registry,
        int ranks, QueueOrder order = QueueOrder::longest_first);
  /// Takes the next trial for a rank out of the queue. Uses the first round that has a trial of at most
  /// `max_seconds`. Picks the longest trial of the first category that is not empty:
  /// 1. trials that are compared with the same run of the vendor's method as the rank's `last` trial;
  /// 2. trials with the matrix that the rank holds;
  /// 3. trials whose matrix no other rank uses, so that one rank runs all trials of a matrix and needs the
  ///    vendor's answer only once;
  /// 4. all others.
  ///
  /// A round is near its end when the remaining work per rank is at most 4 times the longest trial's time.
  /// Then the longest trial goes first, with two exceptions. A trial of category 1 may precede it if it takes
  /// at least 1/64 of the longest trial's time. A trial of category 2 or 3 may precede it if it takes at
  /// least 1/4 of this time.
  ///
  /// If the vendor's trial that the chosen trial is compared with is still in the queue, the vendor's trial
  /// is returned instead.
  ///
  /// A host runs at most one CPU trial at a time if possible, because concurrent CPU trials slow each other
  /// down. If the host's CPU is taken, CPU trials are returned only if nothing else is left. If the CPU is
  /// free, CPU trials come early, because a host runs them one after the other. A CPU trial with the held
  /// matrix then comes first. Next is a GPU trial, if the rules above choose one with the held matrix. Last
  /// is a CPU trial with another matrix.
  ///
  /// With `shortest_first` the shortest trial is returned, and no other rule applies.
  /// @param held digest of the matrix that the rank holds; "" for none
  /// @param max_seconds the time that is left; trials with a higher cost are not returned
  /// @param last the trial that the rank got last, if any
  /// @return an index into the trials, or nothing if no remaining trial fits
  std::optional<std::size_t> next(const std::string& held, double max_seconds,
                                  std::optional<std::size_t> last = {}, HostCpu cpu = HostCpu::unshared);
  /// Ends an assigned trial: its rank no longer uses the trial's matrix.
  void done(std::size_t index);
  /// Puts an assigned trial back that the rank could not run.
  void put_back(std::size_t index);
  /// Calls `change_costs` and orders the remaining trials by the new costs.
  void reorder(const std::function<void()>& change_costs);
  /// Returns true if a trial runs on the CPU and is long enough to slow down other CPU trials.
  bool takes_cpu(std::size_t index) const;
  std::size_t size() const { return size_; }
  /// Returns the sum of the estimated seconds of all remaining trials.
  double total() const;

 private:
  /// Pairs of a trial's cost and its index, longest trial first.
  using Ordered = std::set<std::pair<double, std::size_t>, std::greater<>>;
  using Groups = std::unordered_map<std::string, Ordered>;  ///< by matrix digest or by `comparison_identity`
  /// A closed interval of trial costs in seconds.
  struct Range {
    double min, max;
  };
  /// One of the two parts of a round: the trials for which `takes_cpu` is true, or the others.
  struct Pool {
    Ordered by_cost;
    Groups by_matrix;
    Ordered heads;       ///< the longest trial of each matrix
    double seconds = 0;  ///< sum of the costs of all trials
    /// The vendors' trials, and the trials compared with them, by `comparison_identity`. Trials with equal
    /// identities are compared with the same run of the vendor's method.
    Groups references, compared;
  };
  struct Round {
    Pool on_cpu, others;
    double seconds() const { return others.seconds + on_cpu.seconds; }
    bool empty() const { return others.by_cost.empty() && on_cpu.by_cost.empty(); }
  };
  /// One or both pools of a round.
  using Pools = std::vector<const Pool*>;
  /// The arguments of a rank's request.
  struct Request {
    const std::string& held;
    double max_seconds;
    std::optional<std::size_t> last;
  };
  Pool& pool_of(Round& round, std::size_t index) const {
    return takes_cpu(index) ? round.on_cpu : round.others;
  }
  /// Returns the longer trial of two; either may be missing.
  std::optional<std::size_t> longer(std::optional<std::size_t> one, std::optional<std::size_t> other) const;
  /// These overloads return the longest trial whose cost is in the range, if any. The first two search all
  /// trials of the argument.
  std::optional<std::size_t> longest(const Ordered& from, Range seconds) const;
  std::optional<std::size_t> longest(const Pools& pools, Range seconds) const;
  /// Searches only the group `name` of each pool.
  std::optional<std::size_t> longest(const Pools& pools, Groups Pool::*groups, const std::string& name,
                                     Range seconds) const;
  /// Returns the shortest trial if it takes at most `max_seconds`.
  std::optional<std::size_t> shortest(const Round& round, double max_seconds) const;
  /// Returns the longest trial whose cost is in the range and whose matrix no other rank uses, if any.
  std::optional<std::size_t> longest_of_free_matrix(const Pools& pools, const std::string& held,
                                                    Range seconds) const;
  /// Returns true if another rank uses the trial's matrix.
  bool is_used_elsewhere(std::size_t index, const std::string& held) const;
  /// Chooses a trial of the pools by the rules of `next`, except those about the CPU.
  std::optional<std::size_t> choose(const Round& round, const Pools& pools, const Request& request) const;
  /// Chooses a trial of the round by the rules of `next`.
  std::optional<std::size_t> choose(const Round& round, const Request& request, HostCpu cpu) const;
  void insert(std::size_t index);
  void remove(std::size_t index);
  const std::vector<Trial>& trials_;
  const std::vector<double>& costs_;
  const int ranks_;
  const QueueOrder order_;
  std::vector<std::string> comparisons_;  ///< per trial: its `comparison_identity`; empty: no vendor's method
  std::vector<bool> is_reference_;  ///< per trial: true for a vendor's trial, which others are compared with
  std::map<std::int64_t, Round> rounds_;  ///< by round number; only rounds that have trials
  /// Number of assigned, unfinished trials by matrix digest (hash that identifies a matrix).
  std::unordered_map<std::string, std::size_t> assigned_;
  std::size_t size_ = 0;
};

}  // namespace gaussweep::driver
