/// Checks the conditions of a plan's `exclude`, and applies them to trials. `exclude` is a list of mappings
/// of conditions; a trial that meets all conditions of one mapping is left out.

#include "driver/plan/exclude.hpp"

#include <string_view>

#include "driver/base/lookup.hpp"
#include "driver/plan/plan_names.hpp"

namespace gaussweep::driver {
namespace {

/// Converts a number such as "64", "1k" or "0.5". @return false if the text is no number
bool number_of(const std::string& text, double& out) {
  // A text without digits is no number. This test avoids most of the exceptions below, which are slow.
  if (text.find_first_of("0123456789") == std::string::npos) return false;
  const io::Scalar scalar{text, {}};
  try {
    out = io::parse_real(scalar, -1e300, 1e300, "");
    return true;
  } catch (const io::InputError&) {
    try {
      out = static_cast<double>(io::parse_integer(scalar, INT64_MIN / 2, INT64_MAX / 2, ""));
      return true;
    } catch (const io::InputError&) {
      return false;
    }
  }
}

/// Returns true if a value meets a condition: a comparison (">4096", "<=64"), an exact value, or a glob.
bool condition_holds(const std::string& condition, const std::string& value) {
  double a = 0, b = 0;
  for (const char* op : {">=", "<=", ">", "<"}) {
    if (condition.rfind(op, 0) != 0) continue;
    const std::size_t begin = condition.find_first_not_of(' ', std::string(op).size());
    if (begin == std::string::npos || !number_of(value, a) || !number_of(condition.substr(begin), b))
      return false;
    const std::string_view comparison = op;
    if (comparison == ">=") return a >= b;
    if (comparison == "<=") return a <= b;
    return comparison == ">" ? a > b : a < b;
  }
  if (number_of(value, a) && number_of(condition, b)) return a == b;
  return fnmatch(condition.c_str(), value.c_str(), 0) == 0;
}

/// Returns true for a plain value, false for a comparison or a glob.
bool is_exact(const std::string& condition) {
  return condition.find_first_of("<>*?[\\") == std::string::npos;
}

/// Returns a text that is the same for two values that are equal as numbers ("1k" and "1024") or as texts.
std::string canonical(const std::string& value) {
  double number = 0;
  return number_of(value, number) ? fmt::format("{:a}", number + 0.0) : value;  // + 0.0 turns -0 into 0
}

std::string value_text(const ParameterValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

/// Returns the properties of a trial that conditions can name, as texts.
std::map<std::string, std::string> facts_of(const Trial& trial) {
  std::map<std::string, std::string> facts = {{"n", std::to_string(trial.shape.n)},
                                              {"m", std::to_string(trial.shape.m)},
                                              {"k", std::to_string(trial.shape.k)},
                                              {"nrhs", std::to_string(trial.shape.nrhs)},
                                              {"uplo", std::string(to_string(trial.shape.uplo))},
                                              {"batch", std::to_string(trial.shape.batch)},
                                              {"precision", std::string(to_string(trial.precision))},
                                              {"seed", std::to_string(trial.matrix.spec.seed)},
                                              {"matrix", trial.matrix.kind},
                                              {"backend", std::string(to_string(trial.backend))}};
  for (const auto& [name, value] : trial.parameters.all()) facts[name] = value_text(value);
  return facts;
}

/// Returns the values that a property of trials can have; empty if the property is a number.
std::vector<std::string> allowed_values(const std::string& name, const std::vector<const Method*>& methods) {
  if (name == "uplo") return enum_names<Uplo>();
  if (name == "precision") return enum_names<Precision>();
  if (name == "backend") return enum_names<Backend>();
  if (name == "matrix") {
    std::vector<std::string> kinds = enum_names<MatrixKind>();
    kinds.emplace_back("file");
    return kinds;
  }
  std::vector<std::string> choices;
  for (const Method* method : methods) {
    for (const Parameter& parameter : method->parameters) {
      if (parameter.name == name)
        choices.insert(choices.end(), parameter.choices.begin(), parameter.choices.end());
    }
  }
  return choices;
}

/// Throws if no number can meet the condition on a numeric property.
void check_number(const std::string& name, const io::Scalar& condition) {
  double value = 0;
  const std::string& text = condition.text;
  const std::size_t begin = text.find_first_not_of("<>= ");
  const bool is_comparison = text.front() == '<' || text.front() == '>';
  if (begin != std::string::npos && number_of(is_comparison ? text.substr(begin) : text, value)) return;
  if (!is_comparison && text.find_first_of("*?[") != std::string::npos) return;
  io::fail_at(condition.location,
              fmt::format("exclude: {} is never '{}'; allowed: a number, a number after <, <=, > or "
                          ">=, or a pattern such as 10*; give several as a list",
                          name, text));
}

/// Throws if the condition on the property `name` can never hold. @param words the property's possible
/// values; empty for a number
void check_condition(const std::string& name, const io::Scalar& condition,
                     const std::vector<std::string>& words, const io::Entry& entry, Problem problem,
                     const Registry& registry) {
  if (name == "method") {
    if (!matches_a_method(condition.text, entry, registry))
      fail_no_method(condition.location, "exclude: ", condition.text, problem, registry);
    return;
  }
  if (words.empty()) {
    check_number(name, condition);
    return;
  }
  const bool known = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return fnmatch(condition.text.c_str(), word.c_str(), 0) == 0;
  });
  if (!known) {
    io::fail_at(condition.location,
                fmt::format("exclude: {} is never '{}'; {}allowed: {}", name, condition.text,
                            io::nearest_hint(condition.text, words), joined(words)));
  }
}

}  // namespace

void check_excludes(const io::Entry& entry, Problem problem, const std::vector<const Method*>& methods,
                    const Registry& registry) {
  std::set<std::string> known = fixed_axes();
  known.insert({"method", "matrix", "backend"});
  for (const Method* method : methods) {
    for (const Parameter& parameter : method->parameters) known.insert(parameter.name);
  }
  const std::vector<std::string> names(known.begin(), known.end());
  std::map<std::string, std::vector<std::string>> allowed;
  for (const std::string& name : names) allowed[name] = allowed_values(name, methods);
  std::set<std::pair<std::string, std::string>> checked;
  for (const io::Exclude& exclude : entry.excludes) {
    for (const auto& [name, values] : exclude.conditions) {
      if (known.count(name) == 0) {
        io::fail_at(values.empty() ? exclude.location : values.front().location,
                    fmt::format("exclude knows no '{}'; {}allowed: {}", name, io::nearest_hint(name, names),
                                joined(names)));
      }
      for (const io::Scalar& condition : values) {
        if (checked.emplace(name, condition.text).second)
          check_condition(name, condition, allowed[name], entry, problem, registry);
      }
    }
  }
}

Exclusions::Exclusions(const io::Entry& entry) {
  // Name → value → number of mappings that name this value.
  std::map<std::string, std::map<std::string, std::size_t>> uses;
  for (const io::Exclude& exclude : entry.excludes) {
    std::vector<Condition> conditions;
    for (const auto& [name, texts] : exclude.conditions) {
      Condition condition{name, {}, {}};
      for (const io::Scalar& text : texts) {
        if (name == "method" || !is_exact(text.text)) {
          condition.patterns.push_back(text.text);
        } else {
          condition.values.insert(canonical(text.text));
        }
      }
      for (const std::string& value : condition.values) ++uses[name][value];
      conditions.push_back(std::move(condition));
    }
    all_.push_back(std::move(conditions));
  }
  for (std::size_t i = 0; i < all_.size(); ++i) {
    // Each mapping is indexed by the values of one of its conditions. A trial is compared with all mappings
    // that are indexed by one of its values. To keep these few, the index uses the condition whose values
    // occur in the fewest mappings.
    const Condition* best = nullptr;
    std::size_t least = 0;
    for (const Condition& condition : all_[i]) {
      if (!condition.patterns.empty()) continue;
      std::size_t total_uses = 0;
      for (const std::string& value : condition.values) total_uses += uses[condition.name][value];
      if (best != nullptr && total_uses >= least) continue;
      best = &condition;
      least = total_uses;
    }
    if (best != nullptr) {
      for (const std::string& value : best->values) by_value_[best->name][value].push_back(i);
    } else {
      unindexed_.push_back(i);
    }
    if (unindexed_.size() > max_unindexed) {
      io::fail_at(entry.excludes[i].location,
                  fmt::format("exclude has more than {} mappings of comparisons, patterns and methods alone; "
                              "put several methods into one list, or name a value in each mapping",
                              max_unindexed));
    }
  }
}

bool Exclusions::excludes(const Trial& trial, const Method& method) const {
  if (all_.empty()) return false;
  const std::map<std::string, std::string> facts = facts_of(trial);
  const auto holds = [&](const Condition& condition) {
    const auto any_of = [&](const auto& is_met) {
      return std::any_of(condition.patterns.begin(), condition.patterns.end(), is_met);
    };
    if (condition.name == "method")
      return any_of([&](const std::string& pattern) { return matches(pattern, method); });
    const std::string* fact = find_in(facts, condition.name);
    if (fact == nullptr) return false;
    if (!condition.values.empty() && condition.values.count(canonical(*fact)) > 0) return true;
    return any_of([&](const std::string& pattern) { return condition_holds(pattern, *fact); });
  };
  const auto is_met = [&](std::size_t i) { return std::all_of(all_[i].begin(), all_[i].end(), holds); };
  for (const auto& [name, mappings] : by_value_) {
    const std::string* fact = find_in(facts, name);
    if (fact == nullptr) continue;
    const std::vector<std::size_t>* found = find_in(mappings, canonical(*fact));
    if (found != nullptr && std::any_of(found->begin(), found->end(), is_met)) return true;
  }
  return std::any_of(unindexed_.begin(), unindexed_.end(), is_met);
}

}  // namespace gaussweep::driver
