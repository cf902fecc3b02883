/// Defines the settings of trials: how each key is read, sent to the worker, and recorded.

#include "io/plan/settings.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "io/plan/plan_limits.hpp"
#include "io/plan/plan_parts.hpp"
#include "io/plan/schema_shapes.hpp"
#include "io/records/record.hpp"

namespace gaussweep::io {
namespace {

using nlohmann::json;
using Kind = YamlNode::Kind;
using Words = std::vector<std::string>;
using Schema = nlohmann::ordered_json;

constexpr std::int64_t default_max_samples = 200;
constexpr double default_noise = 0.01;
constexpr double min_tolerance = 1e-300, max_tolerance = 1e300;

const Words repeats_keys{"min", "max", "noise", "time", "throttled"};
const Words allowed_stages = [] {
  Words names;
  for (const auto& [value, name] : stages_names) names.emplace_back(name);
  return names;
}();

std::int64_t count_of(const YamlNode& node, const std::string& what, std::int64_t low) {
  return parse_integer(scalar_of(node, what), low, max_count, what);
}

/// Reads a value that must be one of the allowed words.
std::string word_of(const YamlNode& node, const std::string& what, const Words& allowed) {
  const Scalar word = scalar_of(node, what);
  require_word(word, allowed, what + ":");
  return word.text;
}

void read_repeats(const YamlNode& node, Settings& settings) {
  Sampling& s = settings.sampling;
  s.noise = s.seconds = 0;
  s.throttled_again = false;
  if (node.kind == Kind::scalar) {
    s.min_samples = s.max_samples = count_of(node, "repeats", 1);
    return;
  }
  if (node.kind != Kind::map)
    fail_kind(node, "repeats", "a number, or a mapping, e.g. {min: 5, max: 200, noise: 1%, time: 2s}");
  if (node.entries.empty())
    fail_at(node.location, "repeats is empty; allowed: a number, or min, max, noise, time, throttled");
  s.noise = default_noise;
  std::optional<std::int64_t> min_samples;
  std::optional<Scalar> max_samples;
  for (const auto& [key, value] : node.entries) {
    require_word(key, repeats_keys, "repeats has no");
    const std::string what = "repeats." + key.text;
    if (key.text == "min") min_samples = count_of(*value, what, 1);
    if (key.text == "max") max_samples = scalar_of(*value, what);
    if (key.text == "noise") s.noise = parse_percentage(scalar_of(*value, what), what);
    if (key.text == "time") s.seconds = parse_duration(scalar_of(*value, what), what);
    if (key.text == "throttled") s.throttled_again = word_of(*value, what, {"count", "again"}) == "again";
  }
  s.min_samples = min_samples.value_or(Sampling().min_samples);
  s.max_samples = std::max(s.min_samples, default_max_samples);
  if (!max_samples) return;
  s.max_samples = parse_integer(*max_samples, min_samples.value_or(1), max_count, "repeats.max");
  s.min_samples = std::min(s.min_samples, s.max_samples);
}

void write_repeats(const TrialSettings& settings, json& trial) {
  const Sampling& s = settings.sampling;
  trial["repeats"] = s.min_samples;
  if (s.max_samples != s.min_samples) trial["most_repeats"] = s.max_samples;
  if (s.noise > 0) trial["noise"] = s.noise;
  if (s.seconds > 0) trial["sampling_seconds"] = s.seconds;
  if (s.throttled_again) trial["throttled_again"] = true;
}

void restore_repeats(const json& trial, TrialSettings& settings) {
  Sampling& s = settings.sampling;
  s.min_samples = trial.at("repeats");
  s.max_samples = trial.value("most_repeats", s.min_samples);
  s.noise = trial.value("noise", 0.0);
  s.seconds = trial.value("sampling_seconds", 0.0);
  s.throttled_again = trial.value("throttled_again", false);
}

void read_warmup(const YamlNode& node, Settings& settings) {
  const Scalar scalar = scalar_of(node, "warmup");
  const bool has_duration = is_duration(scalar);
  settings.sampling.warmup_seconds = has_duration ? parse_duration(scalar, "warmup") : 0;
  settings.sampling.warmup = has_duration ? 1 : parse_integer(scalar, 0, max_count, "warmup");
}

void read_energy(const YamlNode& node, Settings& settings) {
  const Scalar scalar = scalar_of(node, "energy");
  settings.energy_seconds = 0;
  if (scalar.text == "never") return;
  if (!is_duration(scalar)) {
    fail_at(scalar.location, "energy: '" + scalar.text + "'; " + nearest_hint(scalar.text, {"never"}) +
                                 "allowed: never, or the duration of the measurement, such as 1s");
  }
  settings.energy_seconds = parse_duration(scalar, "energy");
}

void read_tolerance(const YamlNode& node, Settings& settings) {
  const auto set_tolerance = [&](const std::string& problem, const YamlNode& value) {
    const std::string what = "tolerance" + (problem.empty() ? "" : "." + problem);
    settings.tolerances[problem] = parse_real(scalar_of(value, what), min_tolerance, max_tolerance, what);
  };
  if (node.kind != Kind::map) {
    settings.tolerances.clear();  // an entry's factor replaces the plan's tolerances
    return set_tolerance("", node);
  }
  for (const auto& [problem, value] : node.entries) set_tolerance(problem.text, *value);
}

Stages stages_of(const std::string& word) {
  for (const auto& [value, name] : stages_names) {
    if (name == word) return value;
  }
  throw std::invalid_argument("stages has no value '" + word + "'");
}

/// Returns a setting that is a condition of measurement with two values, written as two words. The first word
/// is the default.
/// @param json_key a member of the trial's JSON, which is true for the second word and absent for the first
/// @param flag a function that returns the bool in TrialSettings; it is true for the second word
template <class Flag>
Setting two_valued_condition(const char* name, const char* help, const char* json_key,
                             std::array<const char*, 2> words, const char* heading, Text Record::*column,
                             Flag flag) {
  Setting setting{name,
                  help,
                  shape::words({words[0], words[1]}),
                  [=](const YamlNode& v, Settings& s) {
                    flag(s) = word_of(v, name, {words[0], words[1]}) == words[1];
                  },
                  [=](const TrialSettings& s, json& trial) {
                    if (flag(s)) trial[json_key] = true;
                  },
                  [=](const json& trial, TrialSettings& s) { flag(s) = trial.value(json_key, false); },
                  true};
  setting.condition =
      Condition{heading, column, words[0], [=](const TrialSettings& s) { return words[flag(s) ? 1 : 0]; }};
  return setting;
}

/// Returns the table of all settings.
std::vector<Setting> make_settings() {
  Setting tolerance{"tolerance",
                    "maximum residual ratio per problem; a single number multiplies the defaults",
                    Schema{{"type", Schema::array({"number", "string"})}},
                    read_tolerance,
                    [](const TrialSettings& s, json& trial) { trial["tolerance"] = s.tolerance; },
                    [](const json& trial, TrialSettings& s) { s.tolerance = trial.at("tolerance"); },
                    false,
                    [](const TrialSettings& s, Record& r) { r.tolerance = s.tolerance; }};
  tolerance.by_problem = true;
  return {
      {"repeats", "timed samples per trial, or a rule for enough of them",
       shape::any_of({shape::ref("count"), shape::mapping(repeats_keys, shape::ref("scalar"))}), read_repeats,
       write_repeats, restore_repeats, true},
      {"warmup", "untimed runs before the samples: a number, or a duration",
       shape::any_of({shape::ref("count"), shape::ref("duration")}), read_warmup,
       [](const TrialSettings& s, json& trial) {
         trial["warmup"] = s.sampling.warmup;
         if (s.sampling.warmup_seconds > 0) trial["warmup_seconds"] = s.sampling.warmup_seconds;
       },
       [](const json& trial, TrialSettings& s) {
         s.sampling.warmup = trial.at("warmup");
         s.sampling.warmup_seconds = trial.value("warmup_seconds", 0.0);
       },
       true, [](const TrialSettings& s, Record& r) { r.warmup = s.sampling.warmup; }},
      two_valued_condition(
          "cache", "the state of the caches before each sample", "cold", {"warm", "cold"}, "CACHE",
          &Record::cache, [](auto& s) -> auto& { return s.sampling.cold; }),
      two_valued_condition(
          "host_memory", "the kind of host memory that operands and answer are copied from and to", "pinned",
          {"pageable", "pinned"}, "HOST MEMORY", &Record::host_memory,
          [](auto& s) -> auto& { return s.pinned; }),
      {"inner_repeats", "runs between two events, for methods shorter than the clock's resolution",
       shape::ref("count"),
       [](const YamlNode& v, Settings& s) { s.inner_repeats = count_of(v, "inner_repeats", 1); },
       [](const TrialSettings& s, json& trial) { trial["inner_repeats"] = s.inner_repeats; },
       [](const json& trial, TrialSettings& s) { s.inner_repeats = trial.at("inner_repeats"); }, true,
       [](const TrialSettings& s, Record& r) { r.inner_repeats = s.inner_repeats; }},
      {"energy", "how long a GPU repeats a trial's runs to measure their energy",
       shape::any_of({shape::words({"never"}), shape::ref("duration")}), read_energy,
       [](const TrialSettings& s, json& trial) {
         if (s.energy_seconds > 0) trial["energy_seconds"] = s.energy_seconds;
       },
       [](const json& trial, TrialSettings& s) { s.energy_seconds = trial.value("energy_seconds", 0.0); },
       true},
      {"rounds", "repetitions of each trial, in fresh processes", shape::ref("count"),
       [](const YamlNode& v, Settings& s) {
         s.rounds = parse_integer(scalar_of(v, "rounds"), 1, max_rounds, "rounds");
       },
       [](const TrialSettings& s, json& trial) {
         if (s.round > 1) trial["round"] = s.round;
       },
       [](const json& trial, TrialSettings& s) { s.round = trial.value("round", std::int64_t{1}); }, true,
       [](const TrialSettings& s, Record& r) { r.round = s.round; }},
      {"stages", "whether stages are measured, and each of their calls separately",
       shape::words(allowed_stages),
       [](const YamlNode& v, Settings& s) { s.stages = stages_of(word_of(v, "stages", allowed_stages)); },
       [](const TrialSettings& s, json& trial) { trial["stages"] = to_string(s.stages); },
       [](const json& trial, TrialSettings& s) { s.stages = stages_of(trial.at("stages")); }, false},
      {"reference", "whether the vendor's method runs on the same inputs", shape::words({"always", "never"}),
       [](const YamlNode& v, Settings& s) {
         s.has_reference = word_of(v, "reference", {"always", "never"}) == "always";
       },
       [](const TrialSettings& s, json& trial) {
         if (!s.has_reference) trial["reference"] = "never";
       },
       [](const json& trial, TrialSettings& s) {
         s.has_reference = trial.value("reference", "always") == "always";
       },
       false},
      {"timeout", "time limit of a trial; after it the worker is ended", shape::ref("duration"),
       [](const YamlNode& v, Settings& s) {
         s.timeout_seconds = parse_duration(scalar_of(v, "timeout"), "timeout");
       },
       [](const TrialSettings& s, json& trial) { trial["timeout_seconds"] = s.timeout_seconds; },
       [](const json& trial, TrialSettings& s) { s.timeout_seconds = trial.at("timeout_seconds"); }, false},
      std::move(tolerance),
  };
}

}  // namespace

std::string_view to_string(Stages stages) {
  for (const auto& [value, name] : stages_names) {
    if (value == stages) return name;
  }
  throw std::invalid_argument("a value of Stages without a name");
}

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = make_settings();
  return settings;
}

const std::vector<Setting>& conditions() {
  static const std::vector<Setting> settings_with_condition = [] {
    std::vector<Setting> rows;
    for (const Setting& setting : all_settings()) {
      if (setting.condition) rows.push_back(setting);
    }
    Setting gpus;
    gpus.name = "gpu_count";
    gpus.condition = Condition{"GPUS", &Record::gpu_count, "1",
                               [](const TrialSettings& s) {
                                 static constexpr std::array<const char*, 16> counts{
                                     "1", "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                     "9", "10", "11", "12", "13", "14", "15", "16"};
                                 return counts.at(static_cast<std::size_t>(s.gpus - 1));
                               },
                               false};
    rows.push_back(std::move(gpus));
    return rows;
  }();
  return settings_with_condition;
}

std::string condition_of(const Record& record, const Condition& condition) {
  const Text& recorded = record.*condition.column;
  return recorded.empty() ? condition.default_name : recorded;
}

}  // namespace gaussweep::io
