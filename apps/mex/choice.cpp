#include "apps/mex/choice.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "apps/mex/call_error.hpp"

namespace gaussweep::mex {
namespace {

std::string comma_separated(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

bool runs_on_any_backend(const Method& method) {
  return method.runs_on(Backend::cuda) || method.runs_on(Backend::emulated) || method.runs_on(Backend::host);
}

const Method* vendor_row(const Registry& registry, Problem problem, const Gpu& gpu) {
  const Method* on_gpu = gpu.exists ? registry.reference(problem, Backend::cuda) : nullptr;
  if (on_gpu != nullptr && on_gpu->capability <= gpu.capability) return on_gpu;
  return registry.reference(problem, Backend::host);
}

const Method* find_method(const Registry& registry, const std::vector<Problem>& problems,
                          const std::string& name, const Gpu& gpu) {
  if (name.empty()) return vendor_row(registry, problems.front(), gpu);
  const std::size_t slash = name.find('/');
  for (const Problem problem : problems) {
    const std::string_view problem_name = to_string(problem);
    if (name == problem_name) return vendor_row(registry, problem, gpu);
    const bool is_variant = slash == std::string::npos;
    if (!is_variant && name.compare(0, slash, problem_name) != 0) continue;
    const Method* method = registry.find(problem, is_variant ? name : name.substr(slash + 1));
    if (method != nullptr && runs_on_any_backend(*method)) return method;
  }
  return nullptr;
}

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

bool can_use_gpu(const Method& method, const Gpu& gpu) {
  return gpu.exists && method.runs_on(Backend::cuda) && method.capability <= gpu.capability;
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(12);  // all digits of the largest allowed integer
  text << value;
  return text.str();
}

std::string allowed_range(const Parameter& parameter) {
  return parameter.name + " must be " +
         (std::holds_alternative<std::int64_t>(parameter.default_value) ? "an integer" : "a real number") +
         " from " + number(parameter.low) + " to " + number(parameter.high);
}

ParameterValue checked(const Parameter& parameter, const Option& option) {
  if (std::holds_alternative<std::string>(parameter.default_value)) {
    // A choice that consists of digits ("16") may be given as a number.
    const auto* text = std::get_if<std::string>(&option.second);
    std::string choice = text != nullptr ? *text : number(std::get<double>(option.second));
    const auto& choices = parameter.choices;
    if (std::find(choices.begin(), choices.end(), choice) != choices.end()) return choice;
    throw CallError("gaussweep:usage", "'" + choice + "' is no value of " + parameter.name +
                                           "; allowed: " + comma_separated(choices));
  }
  const auto* value = std::get_if<double>(&option.second);
  const bool whole = std::holds_alternative<std::int64_t>(parameter.default_value);
  if (value == nullptr || !(parameter.low <= *value && *value <= parameter.high) ||
      (whole && *value != std::floor(*value))) {
    throw CallError("gaussweep:usage", allowed_range(parameter));
  }
  if (whole) return static_cast<std::int64_t>(*value);
  return *value;
}

}  // namespace

const Method& choose_method(const Registry& registry, const std::vector<Problem>& problems,
                            const std::string& name, const Gpu& gpu) {
  const Method* method = find_method(registry, problems, name, gpu);
  if (method != nullptr) return *method;
  std::vector<std::string> allowed;
  for (const Problem problem : problems) {
    for (const Method& row : registry.all()) {
      if (row.problem == problem && runs_on_any_backend(row)) allowed.push_back(row.id());
    }
  }
  throw CallError("gaussweep:unknownMethod",
                  (name.empty() ? std::string("this build has no library for this call")
                                : "'" + name + "' is no method of this call") +
                      "; allowed: " + comma_separated(allowed));
}

Backend choose_backend(const Method& method, const std::string& wanted, const Gpu& gpu) {
  const auto backend = from_string<Backend>(wanted);
  if (!backend && wanted != "auto") {
    throw CallError("gaussweep:usage",
                    "'" + wanted + "' is no backend; allowed: auto, " + allowed_names<Backend>());
  }
  const bool on_gpu = backend ? *backend == Backend::cuda : can_use_gpu(method, gpu);
  if (!on_gpu) {
    for (const Backend cpu : {Backend::emulated, Backend::host}) {
      if ((!backend || *backend == cpu) && method.runs_on(cpu)) return cpu;
    }
    if (backend) {
      throw CallError("gaussweep:device", method.id() + " does not run on the backend " + wanted);
    }
  }
  if (can_use_gpu(method, gpu)) return Backend::cuda;
  if (!method.runs_on(Backend::cuda)) {
    throw CallError("gaussweep:device", method.id() + " does not run on the backend cuda of this build");
  }
  throw CallError("gaussweep:device", gpu.exists ? method.id() + " needs compute capability " +
                                                       capability_text(method.capability) + ", the GPU has " +
                                                       capability_text(gpu.capability)
                                                 : method.id() + " needs a GPU: " + gpu.reason);
}

Parameters choose_parameters(const Method& method, const std::vector<Option>& options) {
  Parameters parameters;
  std::vector<std::string> names;
  for (const Parameter& parameter : method.parameters) {
    parameters.set(parameter.name, parameter.default_value);
    names.push_back(parameter.name);
  }
  for (const Option& option : options) {
    const auto declared = std::find_if(method.parameters.begin(), method.parameters.end(),
                                       [&](const Parameter& p) { return p.name == option.first; });
    if (declared == method.parameters.end()) {
      throw CallError("gaussweep:usage",
                      method.id() + " has no parameter '" + option.first + "'; " +
                          (names.empty() ? std::string("it has none") : "it has: " + comma_separated(names)));
    }
    parameters.set(option.first, checked(*declared, option));
  }
  return parameters;
}

}  // namespace gaussweep::mex
