#pragma once
/// Parameters of methods. A row of the registry (method.hpp) declares them, a plan (the user's description of
/// trials) sets them, and the method reads them.

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace gaussweep {

using ParameterValue = std::variant<std::int64_t, double, std::string>;

/// A parameter as its method declares it. The type of the default is the type of the parameter. Integer and
/// real values lie in [low, high]; a string is one of `choices`.
struct Parameter {
  std::string name;
  ParameterValue default_value;
  double low = 0;
  double high = 0;
  std::vector<std::string> choices;
  std::string help;
};

/// Returns an integer parameter in [low, high].
inline Parameter integer_parameter(std::string name, std::int64_t default_value, std::int64_t low,
                                   std::int64_t high, std::string help) {
  return {std::move(name),           default_value,  static_cast<double>(low),
          static_cast<double>(high), /*choices=*/{}, std::move(help)};
}
/// Returns a real parameter in [low, high].
inline Parameter real_parameter(std::string name, double default_value, double low, double high,
                                std::string help) {
  return {std::move(name), default_value, low, high, /*choices=*/{}, std::move(help)};
}
/// Returns a parameter that is one of `choices`; the first is the default.
inline Parameter choice_parameter(std::string name, std::vector<std::string> choices, std::string help) {
  std::string first = choices.front();
  return {std::move(name), first, /*low=*/0, /*high=*/0, std::move(choices), std::move(help)};
}

/// The parameter values of one trial, including defaults, checked against the declarations. The getters throw
/// std::logic_error if the parameter is not declared or has another type.
class Parameters {
 public:
  void set(const std::string& name, ParameterValue value) { values_[name] = std::move(value); }
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  const std::string& choice(const std::string& name) const;
  const std::map<std::string, ParameterValue>& all() const { return values_; }

 private:
  std::map<std::string, ParameterValue> values_;
};

/// Returns the default values of the declared parameters.
inline Parameters defaults(const std::vector<Parameter>& declared) {
  Parameters parameters;
  for (const Parameter& parameter : declared) parameters.set(parameter.name, parameter.default_value);
  return parameters;
}

/// Returns the defaults, changed by `changes`. An integer and a real number of the same value are equivalent,
/// and the number 16 also stands for the choice "16".
/// @throws std::invalid_argument that names the parameter and the allowed values
Parameters parameters_with(const std::vector<Parameter>& declared,
                           const std::map<std::string, ParameterValue>& changes);

}  // namespace gaussweep
