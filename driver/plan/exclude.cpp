#include "driver/plan/exclude.hpp"

#include <map>

#include "driver/plan/plan_words.hpp"

namespace gaussweep::driver {
namespace {

bool number_of(const std::string& text, double& out) {
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

/// A condition of `exclude`: ">4096", "<=64", or a value, which may be a glob.
bool condition_holds(const std::string& condition, const std::string& value) {
  double a = 0, b = 0;
  for (const char* op : {">=", "<=", ">", "<"}) {
    if (condition.rfind(op, 0) != 0) continue;
    const std::size_t begin = condition.find_first_not_of(' ', std::string(op).size());
    if (begin == std::string::npos || !number_of(value, a) || !number_of(condition.substr(begin), b))
      return false;
    const std::string o = op;
    return o == ">=" ? a >= b : o == "<=" ? a <= b : o == ">" ? a > b : a < b;
  }
  if (number_of(value, a) && number_of(condition, b)) return a == b;
  return fnmatch(condition.c_str(), value.c_str(), 0) == 0;
}

std::string value_text(const ParameterValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

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

/// Words that a condition may name, for the facts that are words; empty for numbers.
std::vector<std::string> words_of(const std::string& name, const std::vector<const Method*>& methods) {
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

/// A condition on a number that no number can fulfil is a mistake.
void check_number(const std::string& name, const io::Scalar& condition) {
  double value = 0;
  const std::string& text = condition.text;
  const std::size_t begin = text.find_first_not_of("<>= ");
  const bool is_comparison = text.front() == '<' || text.front() == '>';
  if (begin != std::string::npos && number_of(is_comparison ? text.substr(begin) : text, value)) return;
  if (!is_comparison && text.find_first_of("*?[") != std::string::npos) return;
  io::fail_at(condition.location,
              fmt::format("exclude: {} is never '{}'; allowed: a number, a number after <, <=, > or "
                          ">=, or a pattern such as 10*; several stand in a list",
                          name, text));
}

void check_condition(const std::string& name, const io::Scalar& condition, Problem problem,
                     const std::vector<const Method*>& methods, const Registry& registry) {
  if (name == "method") {
    if (!means_any(condition.text, problem, registry))
      fail_no_method(condition.location, "exclude: ", condition.text, problem, registry);
    return;
  }
  const std::vector<std::string> words = words_of(name, methods);
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
  for (const io::Exclude& exclude : entry.excludes) {
    for (const auto& [name, values] : exclude.conditions) {
      if (known.count(name) == 0) {
        io::fail_at(values.empty() ? exclude.location : values.front().location,
                    fmt::format("exclude knows no '{}'; {}allowed: {}", name, io::nearest_hint(name, names),
                                joined(names)));
      }
      for (const io::Scalar& condition : values) check_condition(name, condition, problem, methods, registry);
    }
  }
}

bool is_excluded(const io::Entry& entry, const Trial& trial, const Method& method) {
  if (entry.excludes.empty()) return false;
  const std::map<std::string, std::string> facts = facts_of(trial);
  const auto holds = [&](const std::string& name, const std::vector<io::Scalar>& conditions) {
    return std::any_of(conditions.begin(), conditions.end(), [&](const io::Scalar& condition) {
      if (name == "method") return matches(condition.text, method);
      const auto fact = facts.find(name);
      return fact != facts.end() && condition_holds(condition.text, fact->second);
    });
  };
  return std::any_of(entry.excludes.begin(), entry.excludes.end(), [&](const io::Exclude& exclude) {
    return std::all_of(exclude.conditions.begin(), exclude.conditions.end(),
                       [&](const auto& condition) { return holds(condition.first, condition.second); });
  });
}

}  // namespace gaussweep::driver
