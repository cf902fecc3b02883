#include "io/plan/settings.hpp"

#include <algorithm>

#include "io/plan/plan_limits.hpp"
#include "io/plan/plan_parts.hpp"
#include "io/plan/schema_shapes.hpp"

namespace gaussweep::io {
namespace {

using nlohmann::json;
using Kind = YamlNode::Kind;
using Problems = std::vector<std::string>;
using Schema = nlohmann::ordered_json;

constexpr std::int64_t default_max_samples = 200;
constexpr double default_noise = 0.01;
constexpr double min_tolerance = 1e-300, max_tolerance = 1e300;

const Problems repeats_words{"min", "max", "noise", "time", "throttled"};
const Problems stages_names = [] {
  Problems names;
  for (const auto& [value, name] : stages_words) names.emplace_back(name);
  return names;
}();

std::int64_t count_of(const YamlNode& node, const std::string& what, std::int64_t low) {
  return parse_integer(scalar_of(node, what), low, largest_count, what);
}

std::string word_of(const YamlNode& node, const std::string& what, const Problems& allowed) {
  const Scalar word = scalar_of(node, what);
  require_word(word, allowed, what + ":");
  return word.text;
}

void read_repeats(const YamlNode& node, Settings& settings, const Problems& /*problems*/) {
  Sampling& s = settings.sampling;
  s.noise = s.seconds = 0;
  s.throttled_again = false;
  if (node.kind == Kind::scalar) {
    s.least = s.most = count_of(node, "repeats", 1);
    return;
  }
  if (node.kind != Kind::map)
    fail_kind(node, "repeats", "a number, or a mapping, e.g. {min: 5, max: 200, noise: 1%, time: 2s}");
  if (node.entries.empty())
    fail_at(node.location, "repeats is empty; allowed: a number, or min, max, noise, time, throttled");
  s.noise = default_noise;
  std::optional<std::int64_t> least;
  std::optional<Scalar> most;
  for (const auto& [key, value] : node.entries) {
    require_word(key, repeats_words, "repeats has no");
    const std::string what = "repeats." + key.text;
    if (key.text == "min") least = count_of(*value, what, 1);
    if (key.text == "max") most = scalar_of(*value, what);
    if (key.text == "noise") s.noise = parse_share(scalar_of(*value, what), what);
    if (key.text == "time") s.seconds = parse_duration(scalar_of(*value, what), what);
    if (key.text == "throttled") s.throttled_again = word_of(*value, what, {"count", "again"}) == "again";
  }
  s.least = least.value_or(Sampling().least);
  s.most = std::max(s.least, default_max_samples);
  if (!most) return;
  s.most = parse_integer(*most, least.value_or(1), largest_count, "repeats.max");
  s.least = std::min(s.least, s.most);
}

void identify_repeats(const TrialSettings& settings, json& identity) {
  const Sampling& s = settings.sampling;
  identity["repeats"] = s.least;
  if (s.most != s.least) identity["most_repeats"] = s.most;
  if (s.noise > 0) identity["noise"] = s.noise;
  if (s.seconds > 0) identity["sampling_seconds"] = s.seconds;
  if (s.throttled_again) identity["throttled_again"] = true;
}

void restore_repeats(const json& identity, TrialSettings& settings) {
  Sampling& s = settings.sampling;
  s.least = identity.at("repeats");
  s.most = identity.value("most_repeats", s.least);
  s.noise = identity.value("noise", 0.0);
  s.seconds = identity.value("sampling_seconds", 0.0);
  s.throttled_again = identity.value("throttled_again", false);
}

void read_warmup(const YamlNode& node, Settings& settings, const Problems& /*problems*/) {
  const Scalar scalar = scalar_of(node, "warmup");
  const bool has_duration = is_duration(scalar);
  settings.sampling.warmup_seconds = has_duration ? parse_duration(scalar, "warmup") : 0;
  settings.sampling.warmup = has_duration ? 1 : parse_integer(scalar, 0, largest_count, "warmup");
}

void read_energy(const YamlNode& node, Settings& settings, const Problems& /*problems*/) {
  const Scalar scalar = scalar_of(node, "energy");
  settings.energy_seconds = 0;
  if (scalar.text == "never") return;
  if (!is_duration(scalar)) {
    fail_at(scalar.location, "energy: '" + scalar.text + "'; " + nearest_hint(scalar.text, {"never"}) +
                                 "allowed: never, or for how long it is measured, as 1s");
  }
  settings.energy_seconds = parse_duration(scalar, "energy");
}

void read_tolerance(const YamlNode& node, Settings& settings, const Problems& problems) {
  const auto set_tolerance = [&](const std::string& problem, const Scalar& value) {
    settings.tolerances[problem] =
        parse_real(value, min_tolerance, max_tolerance, "tolerance" + (problem.empty() ? "" : "." + problem));
  };
  if (node.kind != Kind::map) {
    settings.tolerances.clear();  // an entry's factor replaces the plan's tolerances
    return set_tolerance("", scalar_of(node, "tolerance"));
  }
  if (node.entries.empty()) fail_at(node.location, "tolerance is empty; allowed: one number per problem");
  for (const auto& [problem, value] : node.entries) {
    require_word(problem, problems, "tolerance: no problem");
    set_tolerance(problem.text, scalar_of(*value, "tolerance." + problem.text));
  }
}

Setting cache() {
  Setting setting{"cache", "what a sample begins with",
                  [](const Problems&) {
                    return shape::words({"warm", "cold"});
                  },
                  [](const YamlNode& v, Settings& s, const Problems&) {
                    s.sampling.cold = word_of(v, "cache", {"warm", "cold"}) == "cold";
                  }};
  setting.identify = [](const TrialSettings& s, json& identity) {
    if (s.sampling.cold) identity["cold"] = true;
  };
  setting.restore = [](const json& identity, TrialSettings& s) {
    s.sampling.cold = identity.value("cold", false);
  };
  setting.condition = Condition{"CACHE", &Record::cache, "warm",
                                [](const TrialSettings& s) { return s.sampling.cold ? "cold" : "warm"; }};
  return setting;
}

Setting host_memory() {
  Setting setting{"host_memory", "what operands and answer are copied from and to",
                  [](const Problems&) {
                    return shape::words({"pageable", "pinned"});
                  },
                  [](const YamlNode& v, Settings& s, const Problems&) {
                    s.pinned = word_of(v, "host_memory", {"pageable", "pinned"}) == "pinned";
                  }};
  setting.identify = [](const TrialSettings& s, json& identity) {
    if (s.pinned) identity["pinned"] = true;
  };
  setting.restore = [](const json& identity, TrialSettings& s) {
    s.pinned = identity.value("pinned", false);
  };
  setting.condition = Condition{"HOST MEMORY", &Record::host_memory, "pageable",
                                [](const TrialSettings& s) { return s.pinned ? "pinned" : "pageable"; }};
  return setting;
}

std::vector<Setting> make_settings() {
  return {
      {"repeats", "timed samples per trial, or a rule for enough of them",
       [](const Problems&) {
         return shape::any_of({shape::ref("count"), shape::mapping(repeats_words, shape::ref("scalar"))});
       },
       read_repeats, identify_repeats, restore_repeats},
      {"warmup", "untimed runs before the samples: a number, or a duration",
       [](const Problems&) {
         return shape::any_of({shape::ref("count"), shape::ref("duration")});
       },
       read_warmup,
       [](const TrialSettings& s, json& identity) {
         identity["warmup"] = s.sampling.warmup;
         if (s.sampling.warmup_seconds > 0) identity["warmup_seconds"] = s.sampling.warmup_seconds;
       },
       [](const json& identity, TrialSettings& s) {
         s.sampling.warmup = identity.at("warmup");
         s.sampling.warmup_seconds = identity.value("warmup_seconds", 0.0);
       },
       [](const TrialSettings& s, Record& r) { r.warmup = s.sampling.warmup; }},
      cache(),
      host_memory(),
      {"inner_repeats", "runs between two events, for methods shorter than the clock's resolution",
       [](const Problems&) { return shape::ref("count"); },
       [](const YamlNode& v, Settings& s, const Problems&) {
         s.inner_repeats = count_of(v, "inner_repeats", 1);
       },
       [](const TrialSettings& s, json& identity) { identity["inner_repeats"] = s.inner_repeats; },
       [](const json& identity, TrialSettings& s) { s.inner_repeats = identity.at("inner_repeats"); },
       [](const TrialSettings& s, Record& r) { r.inner_repeats = s.inner_repeats; }},
      {"energy", "how long a GPU repeats a trial's runs to measure their energy",
       [](const Problems&) {
         return shape::any_of({shape::words({"never"}), shape::ref("duration")});
       },
       read_energy,
       [](const TrialSettings& s, json& identity) {
         if (s.energy_seconds > 0) identity["energy_seconds"] = s.energy_seconds;
       },
       [](const json& identity, TrialSettings& s) {
         s.energy_seconds = identity.value("energy_seconds", 0.0);
       }},
      {"rounds", "repetitions of each trial, in fresh processes",
       [](const Problems&) { return shape::ref("count"); },
       [](const YamlNode& v, Settings& s, const Problems&) {
         s.rounds = parse_integer(scalar_of(v, "rounds"), 1, most_rounds, "rounds");
       }},
      {"stages", "whether stages are measured, and each of their calls separately",
       [](const Problems&) { return shape::words(stages_names); },
       [](const YamlNode& v, Settings& s, const Problems&) {
         const std::string word = word_of(v, "stages", stages_names);
         for (const auto& [value, name] : stages_words) {
           if (name == word) s.stages = value;
         }
       }},
      {"timeout", "time limit of a trial; after it the worker is ended",
       [](const Problems&) { return shape::ref("duration"); },
       [](const YamlNode& v, Settings& s, const Problems&) {
         s.timeout_seconds = parse_duration(scalar_of(v, "timeout"), "timeout");
       }},
      {"tolerance", "maximum residual ratio per problem; a single number multiplies the defaults",
       [](const Problems& problems) {
         const Schema number = {{"type", Schema::array({"number", "string"})}};
         return shape::any_of({number, shape::mapping(problems, number)});
       },
       read_tolerance},
  };
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = make_settings();
  return settings;
}

const std::vector<Setting>& conditions() {
  static const std::vector<Setting> chosen = [] {
    std::vector<Setting> chosen;
    for (const Setting& setting : all_settings()) {
      if (setting.condition) chosen.push_back(setting);
    }
    return chosen;
  }();
  return chosen;
}

std::string condition_of(const Record& record, const Condition& condition) {
  const Text& recorded = record.*condition.column;
  return recorded.empty() ? condition.usual : recorded;
}

}  // namespace gaussweep::io
