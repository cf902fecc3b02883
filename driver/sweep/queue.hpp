#pragma once
/// The order in which trials are handed out: round by round, matrix by matrix, the matrix with the longest
/// trial first. Matrices that another rank is at are left. Of trials that are compared with one another the
/// vendor's is first, for its time is their reference. Towards the end, where one long trial would keep the
/// others waiting, the longest first. Beside trials on GPUs, those on the CPUs of a host come one at a time
/// as far as they can. They share its memory's bandwidth and its power, and take longer beside one another.

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

/// Shortest first where a time limit will cut the sweep short: `try` answers with what it reached.
enum class QueueOrder { longest_first, shortest_first };

/// What the CPU of a rank's host is to the ranks. It belongs to one rank alone; or to several, of which none,
/// or another one, has a trial for it in hand.
enum class HostCpu { own, free, taken };

/// A pure data structure: no clock, no MPI.
class Queue {
 public:
  /// @param costs seconds of each trial, same order
  /// @param registry tells the vendors' methods
  /// @param ranks that the trials are handed out to
  Queue(const std::vector<Trial>& trials, const std::vector<double>& costs, const Registry& registry,
        int ranks, QueueOrder order = QueueOrder::longest_first);
  /// The next trial for a rank that holds the matrix `held` ("" for none) and can spend `most_seconds`, from
  /// the first round that has one. The first of these that there is, the longest of its kind:
  /// 1. one that is compared with the rank's `last` trial, for which the vendor has run;
  /// 2. one with the matrix that is held;
  /// 3. one whose matrix no other rank is at, which has its inputs and its reference;
  /// 4. any.
  /// The longest of all goes earlier where what is left of the round keeps the ranks busy for less than four
  /// times its time. It goes before 1. if it is 64 times as long, before 2. and 3. if it is four times as
  /// long. Where the reference of the one that is chosen is left, it goes first.
  /// Trials that take the CPU are left out where it is taken, unless nothing else is left. Where it is free,
  /// those with the matrix that is held go first, then any of them if no other trial has that matrix. One
  /// after the other they take a large part of a sweep's time, and must begin early.
  /// Of `shortest_first` the shortest goes first, and nothing else counts.
  /// @param last what the rank was given last, if it was given anything
  /// @return an index into the trials, or nothing where none is left that fits
  std::optional<std::size_t> next(const std::string& held, double most_seconds,
                                  std::optional<std::size_t> last = {}, HostCpu cpu = HostCpu::own);
  /// Notes the end of a trial that was handed out.
  void done(std::size_t index);
  /// Puts a trial back that was handed out and that a rank could not do.
  void put_back(std::size_t index);
  /// Orders what is left anew after the costs have changed. @param change changes them
  void after(const std::function<void()>& change);
  /// Whether a trial is on the CPU, and long enough to be disturbed by another one, and to disturb it.
  bool takes_cpu(std::size_t index) const;
  std::size_t size() const { return size_; }
  /// Seconds of all that are left, one after the other.
  double total() const;

 private:
  using Ordered = std::set<std::pair<double, std::size_t>, std::greater<>>;
  using Groups = std::unordered_map<std::string, Ordered>;
  /// Of a trial's seconds, both included.
  struct Range {
    double least, most;
  };
  /// Those that take the CPU, or the others.
  struct Pool {
    Ordered by_cost;
    Groups by_matrix;
    Ordered heads;       ///< the longest trial of each matrix
    double seconds = 0;  ///< of all of them
    /// The vendors' trials, and those that are compared with them, by what makes them comparable.
    Groups references, compared;
  };
  struct Round {
    Pool on_cpu, others;
    double seconds() const { return others.seconds + on_cpu.seconds; }
    bool empty() const { return others.by_cost.empty() && on_cpu.by_cost.empty(); }
  };
  /// Of a round: one of its pools, or both.
  using Pools = std::vector<const Pool*>;
  /// What a rank asks with.
  struct Request {
    const std::string& held;
    double most_seconds;
    std::optional<std::size_t> last;
  };
  Pool& pool_of(Round& round, std::size_t index) const {
    return takes_cpu(index) ? round.on_cpu : round.others;
  }
  std::optional<std::string> comparison_of(std::size_t index) const;
  bool is_reference(std::size_t index) const;
  std::optional<std::size_t> longer(std::optional<std::size_t> one, std::optional<std::size_t> other) const;
  std::optional<std::size_t> longest(const Ordered& from, Range seconds) const;
  std::optional<std::size_t> longest(const Pools& pools, Range seconds) const;
  /// Of the group of that name.
  std::optional<std::size_t> longest(const Pools& pools, Groups Pool::*groups, const std::string& name,
                                     Range seconds) const;
  std::optional<std::size_t> shortest(const Round& round, double most_seconds) const;
  std::optional<std::size_t> longest_of_free_matrix(const Pools& pools, const std::string& held,
                                                    Range seconds) const;
  bool is_elsewhere(std::size_t index, const std::string& held) const;
  std::optional<std::size_t> choose(const Round& round, const Pools& pools, const Request& request) const;
  std::optional<std::size_t> choose(const Round& round, const Request& request, HostCpu cpu) const;
  void insert(std::size_t index);
  void remove(std::size_t index);
  const std::vector<Trial>& trials_;
  const std::vector<double>& costs_;
  const Registry& registry_;
  const int ranks_;
  const QueueOrder order_;
  std::vector<std::optional<std::string>> comparisons_;  ///< `comparison_of` each trial
  std::map<std::int64_t, Round> rounds_;                 ///< none of them empty
  std::unordered_map<std::string, std::size_t> out_;     ///< trials handed out and not done yet, by matrix
  std::size_t size_ = 0;
};

}  // namespace gaussweep::driver
