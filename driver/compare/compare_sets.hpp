#pragma once
/// Chooses the records that are compared. Runs are told apart by their ids: a file that holds several runs is
/// several sets.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The models of the GPUs and of the CPU that a time depends on. An empty one is unknown.
struct Models {
  std::string gpus, cpu;
  /// Returns true if no known model differs.
  bool may_be(const Models& other) const;
  /// "NVIDIA H200, Xeon 8480C", without what is unknown.
  std::string words() const;
};

/// The models on which the records of one set ran.
class MachineModels {
 public:
  explicit MachineModels(const io::Results& results);
  /// Returns the record's GPU model, and the CPU of its host. A trial on the CPU has all GPU models that its
  /// run used on that host.
  Models of(const io::Record& record) const;

 private:
  std::map<std::string, std::string> cpus_;                                    // by host
  std::map<std::pair<std::string, std::string>, std::set<std::string>> gpus_;  // by run and host
};

/// Returns what tells one execution of a trial from all others; empty if the record does not say when it ran.
std::string execution_of(const io::Record& record);

/// Removes the records of `results` that ran on GPU or CPU models that `other` does not have.
void keep_models_of(const io::Results& other, io::Results& results);

/// Splits records into sets, in the order in which the runs started. Runs that repeat no trial on the same
/// models share a set: the shards of a sweep, several architectures.
std::vector<io::Results> runs_apart(io::Results results);

/// Two sets of records that can be compared.
struct Sides {
  io::Results base, now;
  std::vector<std::string> remarks;
};

/// Pools all sets before the last one as base. The last set is judged. If it holds several runs, the last run
/// on each GPU and CPU model is judged. The runs before it count as base, unless only other sets are base and
/// they lack that model. Executions that the judged set holds count on that side only, unless the base has no
/// others.
/// @param same_models leaves out what ran on GPU or CPU models that the other side does not have
/// @throws UsageError if there is no base, or no models are on both sides
Sides sides_of(std::vector<io::Results> sets, bool same_models);

}  // namespace gaussweep::driver
