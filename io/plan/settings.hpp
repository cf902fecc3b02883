#pragma once
/// How the trials of a plan are run and judged. The keys stand in a plan, for all of its trials, and in an
/// entry of `sweep`, for its own. All that is known of such a key is a row of one table.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/records/record.hpp"

namespace gaussweep::io {

struct YamlNode;

/// What a row of a record's stages is.
enum class Stages {
  never,   ///< there are none: no run is spent on measuring them
  always,  ///< all calls of a stage
  calls    ///< one call of a stage, in the order of the run
};
inline constexpr std::array<std::pair<Stages, std::string_view>, 3> stages_words{
    {{Stages::always, "always"}, {Stages::never, "never"}, {Stages::calls, "calls"}}};

/// How a trial's samples are taken.
struct Sampling {
  std::int64_t least = 5, most = 5;  ///< samples
  double noise = 0;  ///< enough where the median is known to this share (worker/sampling.hpp); 0: `least` are
  double seconds = 0;            ///< no further samples after so long; 0: no limit
  bool throttled_again = false;  ///< a sample taken under throttling does not count
  std::int64_t warmup = 1;       ///< runs before
  double warmup_seconds = 0;     ///< or, where above 0, for so long
  bool cold = false;             ///< caches emptied before every sample
};

/// How one trial is run.
struct TrialSettings {
  Sampling sampling;
  std::int64_t inner_repeats = 1;  ///< runs a sample
  /// Operands and answer lie in pinned host memory, in the method's layout, before they are copied by the
  /// clock.
  bool pinned = false;
  double energy_seconds = 0;  ///< for how long energy is measured; 0: it is not
  Stages stages = Stages::always;
  double timeout_seconds = 600;
};

/// The same of a plan or an entry, with what decides about its trials.
struct Settings : TrialSettings {
  std::int64_t rounds = 1;  ///< each trial so many times, in fresh processes
  /// The most that a judged ratio may be, a problem each; under "" a factor for every default.
  std::map<std::string, double> tolerances;
};

/// Records in which this differs measure different things, and tables say it.
struct Condition {
  const char* heading;   ///< of its column in tables
  Text Record::*column;  ///< where records keep it; empty in those of older versions
  const char* usual;     ///< what older records had
  const char* (*word)(const TrialSettings&);
};

/// A key, and everything that the program knows of it.
struct Setting {
  const char* name;
  const char* help;  ///< for editors
  /// What its value may look like: a JSON schema.
  nlohmann::ordered_json (*schema)(const std::vector<std::string>& problems);
  /// Reads its value once. @throws InputError with the location
  void (*read)(const YamlNode&, Settings&, const std::vector<std::string>& problems);
  /// Adds what of it decides a trial's outcome, and so its key; null where nothing does. What is as it was
  /// before there was the setting adds nothing: keys of older runs hold.
  void (*identify)(const TrialSettings&, nlohmann::json& identity) = nullptr;
  /// Takes it from there again, in the process that does the trial.
  void (*restore)(const nlohmann::json& identity, TrialSettings&) = nullptr;
  /// Tells a record, where no condition does.
  void (*record)(const TrialSettings&, Record&) = nullptr;
  std::optional<Condition> condition = {};
};

/// The table, in the order in which people are told.
const std::vector<Setting>& all_settings();

/// The rows that are conditions.
const std::vector<Setting>& conditions();

/// What a record says of a condition: the usual, where it is older.
std::string condition_of(const Record& record, const Condition& condition);

}  // namespace gaussweep::io
