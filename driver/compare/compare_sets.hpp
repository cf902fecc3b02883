#pragma once
/// Divides records (the stored results of trials) into the sets that `compare` and `trend` compare. Runs are
/// distinguished by their ids, so a file with several runs can give several sets.

#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The GPU and CPU models that a time depends on. An empty name means an unknown model.
struct Models {
  std::string gpus, cpu;
  /// Returns true if the GPU and CPU models agree, as far as both are known.
  bool is_compatible(const Models& other) const;
  /// Returns "NVIDIA H200, Xeon 8480C", without unknown models.
  std::string text() const;
};

/// The models on which the records of one set ran.
class MachineModels {
 public:
  explicit MachineModels(const io::Results& results);
  /// Returns the record's GPU model, and the CPU model of its host. For a trial on the CPU, the GPU models
  /// are all those that its run used on that host.
  Models of(const io::Record& record) const;

 private:
  std::map<std::string, std::string> cpus_;                                    // by host
  std::map<std::pair<std::string, std::string>, std::set<std::string>> gpus_;  // by run and host
};

/// Returns a text that identifies one execution of a trial; empty if the record has no start and end time.
std::string execution_of(const io::Record& record);
/// Removes the records whose executions are in `known`, and adds the executions of all other records to
/// `known`. Returns the number of removed records. `known` stores hashes of `execution_of`, because the texts
/// would take as much memory as the records.
std::size_t drop_known_executions(std::vector<io::Record>& records, std::unordered_set<std::size_t>& known);
/// Prints a note if `drop_known_executions` removed records.
void note_repeated(std::size_t records);

/// Removes from `results` the records of GPU or CPU models that `other` does not have.
void keep_models_of(const io::Results& other, io::Results& results);

/// Returns one hash per trial, round (repetition of the trials) and Models that ran. Skipped trials are left
/// out.
std::unordered_set<std::size_t> executed_trials(const io::Results& results);
/// Returns true if a trial is in both sets.
bool have_common(const std::unordered_set<std::size_t>& some, const std::unordered_set<std::size_t>& others);

/// Splits records into sets, in the order in which the runs started. A run begins a new set if it repeats a
/// trial and round that the current set already has, on the same GPU and CPU models. All shards (separately
/// run parts) of a sweep are therefore in one set, and runs on different models may be, too.
std::vector<io::Results> split_runs(io::Results results);
/// Returns true if split_runs gives several sets.
bool repeats_trials(const io::Results& results);

/// Two sets of records that can be compared.
struct Sides {
  io::Results base, now;
  std::vector<std::string> remarks;
  std::size_t repeated = 0;  ///< number of records of base that new has, too; they count for new only
};

/// Pools all sets but the last as base. The last set is judged: it becomes `now`.
/// - If the last set has several runs, only its last run on each GPU and CPU model is judged. Its earlier
///   runs are added to the base.
/// - If the base is not empty and lacks a model, all runs of the last set on that model are judged.
/// - Executions that are also in the judged set are removed from the base, unless the base would become
///   empty.
/// @param same_models leaves out records of GPU or CPU models that the other side does not have
/// @throws UsageError if there is no base, or the sides have no models in common
Sides sides_of(std::vector<io::Results> sets, bool same_models);

}  // namespace gaussweep::driver
