#pragma once
/// The settings of trials (a trial is one method on one input): how they are run and verified. The keys are
/// allowed in a plan, for all of its trials, and in an entry of `sweep`, for the trials of the entry. One
/// table defines all keys.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/files/text.hpp"

namespace gaussweep::io {

struct Record;
struct YamlNode;

/// The meaning of the rows in a record's list of stages.
enum class Stages {
  never,   ///< no rows: stages are not measured
  always,  ///< one row per stage, with all of its calls
  calls    ///< one row per call of a stage, in the order of the run
};
inline constexpr std::array<std::pair<Stages, std::string_view>, 3> stages_names{
    {{Stages::always, "always"}, {Stages::never, "never"}, {Stages::calls, "calls"}}};
std::string_view to_string(Stages stages);

/// The rules for taking a trial's samples.
struct Sampling {
  std::int64_t min_samples = 5, max_samples = 5;  ///< the minimum and maximum number of samples
  /// The relative uncertainty of the median at which samples are enough (worker/sampling.hpp); 0: take
  /// `min_samples`.
  double noise = 0;
  double seconds = 0;            ///< no further samples after this time; 0: no limit
  bool throttled_again = false;  ///< repeats a sample that was taken under throttling
  std::int64_t warmup = 1;       ///< untimed runs before the samples
  double warmup_seconds = 0;     ///< if above 0: warm-up runs for this time instead of `warmup` runs
  bool cold = false;             ///< empties the caches before every sample
};

/// The settings of one trial.
struct TrialSettings {
  Sampling sampling;
  std::int64_t inner_repeats = 1;  ///< runs per sample
  /// True if operands and answer are in pinned host memory, in the method's layout, before the timed copies.
  bool pinned = false;
  double energy_seconds = 0;  ///< the duration of the energy measurement; 0: none
  Stages stages = Stages::always;
  bool has_reference = true;  ///< the vendor's method runs on the same inputs, for comparison
  double timeout_seconds = 600;
  /// From 1. Trials that differ only in their round are repetitions in different worker processes.
  std::int64_t round = 1;
  double tolerance = 0;   ///< the maximum residual ratio
  std::int64_t gpus = 1;  ///< the number of GPUs that share the matrix; also a condition (see conditions())
};

/// The settings of a plan or an entry: those of its trials, and two that are resolved when trials are
/// created.
struct Settings : TrialSettings {
  std::int64_t rounds = 1;  ///< repetitions of each trial, in fresh processes
  /// The tolerance (maximum residual ratio) per problem. The key "" has a factor for all default tolerances.
  std::map<std::string, double> tolerances;
};

/// A condition of measurement, e.g. warm or cold caches. Records with different conditions are not
/// comparable, so tables show the condition.
struct Condition {
  const char* heading;       ///< the heading of its column in tables
  Text Record::*column;      ///< the record's column; empty in records of older versions
  const char* default_name;  ///< the condition of older records
  std::function<const char*(const TrialSettings&)> word;  ///< returns the trial's condition, e.g. "cold"
  bool separates_tasks = true;  ///< false: methods with different values of the condition compete
};

/// The definition of a setting's key.
struct Setting {
  const char* name;
  const char* help;               ///< for editors
  nlohmann::ordered_json schema;  ///< the JSON schema of a value
  /// Reads its value from the plan. @throws InputError with the location
  std::function<void(const YamlNode&, Settings&)> read;
  /// `write` adds a trial's setting to the JSON for the process that runs the trial; `restore` reads it back.
  std::function<void(const TrialSettings&, nlohmann::json& trial)> write;
  std::function<void(const nlohmann::json& trial, TrialSettings&)> restore;
  /// True if the setting affects a trial's outcome and therefore is part of the trial's key. `write` omits
  /// the default of a setting that was introduced later, so that keys of older runs stay valid.
  bool in_key;
  /// Writes the setting to a record, unless `condition` does.
  void (*record)(const TrialSettings&, Record&) = nullptr;
  std::optional<Condition> condition = {};
  bool by_problem = false;  ///< true if the value may also be a mapping with one value per problem
};

/// Returns the table, in the order of help texts and listings.
const std::vector<Setting>& all_settings();

/// Returns the rows of all_settings that have a condition, and a row for the number of GPUs. The latter has
/// only a condition, because `gpus` is a parameter of methods and no key of plans.
const std::vector<Setting>& conditions();

/// Returns the record's condition; `default_name` if the record is older than the column.
std::string condition_of(const Record& record, const Condition& condition);

}  // namespace gaussweep::io
