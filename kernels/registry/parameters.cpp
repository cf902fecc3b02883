/// Checks and converts the parameters of methods. A row of the registry (method.hpp) declares them, and a
/// plan (the user's description of trials) sets them.

#include "kernels/registry/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gaussweep {
namespace {

std::string value_text(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return "the integer " + std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return "the real number " + std::to_string(*real);
  return "the choice '" + std::get<std::string>(value) + "'";
}

/// Returns the value of a parameter. @throws std::logic_error if it is not declared or has another type
template <class Value>
const Value& get(const std::map<std::string, ParameterValue>& values, const std::string& name,
                 const char* type) {
  const auto found = values.find(name);
  if (found == values.end()) {
    throw std::logic_error("parameter '" + name + "' was read, but the method's row does not declare it");
  }
  const Value* value = std::get_if<Value>(&found->second);
  if (value == nullptr) {
    throw std::logic_error("parameter '" + name + "' was read as " + type + ", but it is " +
                           value_text(found->second));
  }
  return *value;
}

/// Returns an integer's text without decimals, so that 16.0 matches the choice "16".
std::string number_text(double number) {
  return number == std::floor(number) && std::abs(number) < 1e15
             ? std::to_string(static_cast<std::int64_t>(number))
             : std::to_string(number);
}

/// Checks a value and converts it to the parameter's type. @throws std::invalid_argument
ParameterValue checked(const Parameter& parameter, const ParameterValue& value) {
  const auto wrong = [&](const std::string& allowed) {
    return std::invalid_argument("parameter '" + parameter.name + "': allowed are " + allowed);
  };
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const double number = integer != nullptr ? static_cast<double>(*integer) : real != nullptr ? *real : NAN;
  if (std::holds_alternative<std::string>(parameter.default_value)) {
    const auto* text = std::get_if<std::string>(&value);
    std::string allowed;
    for (const std::string& choice : parameter.choices) {
      if (choice == (text != nullptr ? *text : number_text(number))) return choice;
      allowed += (allowed.empty() ? "" : ", ") + choice;
    }
    throw wrong(allowed);
  }
  const bool is_integer = std::holds_alternative<std::int64_t>(parameter.default_value);
  if (!(parameter.low <= number && number <= parameter.high) ||
      (is_integer && number != std::floor(number))) {
    throw wrong((is_integer ? "integers from " : "numbers from ") + number_text(parameter.low) + " to " +
                number_text(parameter.high));
  }
  if (is_integer) return static_cast<std::int64_t>(number);
  return number;
}

}  // namespace

Parameters parameters_with(const std::vector<Parameter>& declared,
                           const std::map<std::string, ParameterValue>& changes) {
  Parameters parameters = defaults(declared);
  for (const auto& [name, value] : changes) {
    const auto is_named = [&, &wanted = name](const Parameter& p) { return p.name == wanted; };
    const auto found = std::find_if(declared.begin(), declared.end(), is_named);
    if (found == declared.end()) {
      std::string allowed;
      for (const Parameter& p : declared) allowed += (allowed.empty() ? "" : ", ") + p.name;
      throw std::invalid_argument("the method has no parameter '" + name + "'; it has " +
                                  (allowed.empty() ? "none" : allowed));
    }
    parameters.set(name, checked(*found, value));
  }
  return parameters;
}

std::int64_t Parameters::integer(const std::string& name) const {
  return get<std::int64_t>(values_, name, "an integer");
}

double Parameters::real(const std::string& name) const {
  return get<double>(values_, name, "a real number");
}

const std::string& Parameters::choice(const std::string& name) const {
  return get<std::string>(values_, name, "a choice");
}

}  // namespace gaussweep
