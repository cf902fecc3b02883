#pragma once
/// Compares two device models (GPUs or CPUs): which one is faster at which sizes, and by how much. Also finds
/// the measured limit that explains the ratio of their times, and the tasks whose fastest method differs.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/compare/compare_rule.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The measured limit that bounds a trial: the rate of kernel launches, the memory bandwidth, or the rate of
/// matrix products.
enum class BoundingLimit { launches, memory, products, unknown };
const char* to_string(BoundingLimit bounding_limit);

/// The measured limits of a device model, and the numbers of runs and devices that they were measured in.
struct ModelFacts {
  std::string name;        ///< the full name of the model
  std::string short_name;  ///< the word that distinguishes it from the other model: "H100"
  Rates rates;
  double launch = io::Record::unknown;  ///< seconds that the host needs to queue a kernel
  std::int64_t runs = 0, devices = 0;
  /// Relative standard deviation of a trial's times between runs and devices, as the median over the trials.
  /// NaN with one run.
  double scatter = io::Record::unknown;
};

/// A task (one problem on one matrix) that passed on both models, and its times. Both times are of the same
/// method, or each time is of the fastest method on its model (ModelRow::method). A group has the records of
/// one trial on one model.
struct ModelCell {
  const Group *base = nullptr, *now = nullptr;
  Estimate speedup;                        ///< of the new model over the base model
  double predicted = io::Record::unknown;  ///< the speedup expected from the measured limits
  BoundingLimit bounding_limit =
      BoundingLimit::unknown;  ///< the limit that bounds the trial on the new model
  /// Returns 1 if the new model is faster, -1 if it is slower, and 0 if the 95 % interval contains 1.
  int sign() const;
};

/// The cells of one method over sizes.
struct ModelRow {
  std::string method;  ///< empty: the fastest method of each model
  std::string backend;
  std::map<std::int64_t, ModelCell> cells;  ///< by n
};

/// All methods of one problem, precision, matrix and operands; `details` has further properties of the
/// operands.
struct ModelTask {
  std::string problem, precision, matrix, details;
  ModelRow fastest;
  std::vector<ModelRow> methods;
};

/// The comparison of two models. Its cells point to groups of the two VerdictGrids (one per model) that it is
/// made from.
struct ModelComparison {
  ModelFacts base, now;
  std::vector<ModelTask> tasks;
  std::int64_t only_base = 0, only_new = 0;  ///< numbers of tasks that passed on this model only
};

/// Returns the names of the GPU models of the records. If no record is of a GPU, returns the names of the CPU
/// models.
/// @param is_gpu set to true if they are GPUs
std::set<std::string> models_in(const io::Results& results, bool& is_gpu);

/// Returns the base models of a comparison of models, or an empty set if runs are to be compared instead of
/// models. Models are compared if the last set and the others have no model in common; the base is then all
/// models of the others. A single set is compared by model if it has several models and no repeated trials.
/// A trial is repeated if two runs on one model have the same round of it (repeats_trials). The base is then
/// one model, as with `is_requested`.
/// @param is_requested true if the user asks for a comparison of models; the base is then the model with the
/// lowest compute capability, whichever set has it
/// @throws UsageError if a comparison of models is requested, and the sets have one model only
std::set<std::string> base_models(const std::vector<io::Results>& sets, bool is_requested);

/// Pools the sets and returns one grid per model. If several sets contain the same execution of a trial, for
/// example because one set was merged from others, it counts once.
/// @param all receives the records of the grids, and must outlive them
std::vector<VerdictGrid> model_grids(std::vector<io::Results> sets, io::Results& all);

/// Compares two models. If the models are GPUs, trials that ran on the CPUs of their hosts do not count,
/// because these would compare the CPUs.
/// @pre the grids outlive the comparison, which points to them
ModelComparison compare_models(const VerdictGrid& base, const VerdictGrid& now);

/// Returns the limits of both models and their ratio.
Table limits_table(const ModelComparison& comparison);
/// Returns a table of speedups with a row per task and method, and a column per size: "1.28±6%". @param
/// with_methods false: only the fastest method of each task and the prediction
/// @param most_sizes maximum number of sizes that have columns; the smallest and the largest size always have
/// one
Table ratio_table(const ModelComparison& comparison, bool with_methods, std::size_t most_sizes);
/// Returns a table with a row per task: median and range of the speedup, predicted speedup, bounding limit,
/// and faster model by size.
Table task_table(const ModelComparison& comparison);
/// Returns a table of the tasks on which the models have different fastest methods, each clearly the fastest
/// on its model.
Table winner_table(const ModelComparison& comparison);
/// Returns one row per method, task and size with all numbers, for programs.
Table cell_table(const ModelComparison& comparison);
/// Returns "NVIDIA H200 is 1.28 times as fast as NVIDIA H100 …".
std::string headline(const ModelComparison& comparison);
/// Returns sentences about the sample: runs, devices, scatter.
std::vector<std::string> sample_sentences(const ModelComparison& comparison);

}  // namespace gaussweep::driver
