/// Converts the texts of a call from MATLAB to a row of the registry (a method), a backend and parameters.

#include "apps/mex/choice.hpp"

#include <stdexcept>

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

/// Returns the vendor's method for a problem: on the GPU if its library has one for this GPU, else on the
/// CPU.
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
  try {
    return usable_backend(method, backend, gpu.exists ? gpu.capability : 0);
  } catch (const std::invalid_argument& e) {
    const bool lacks_gpu = method.runs_on(Backend::cuda) && !gpu.exists;
    throw CallError("gaussweep:device", e.what() + (lacks_gpu ? ": " + gpu.reason : std::string()));
  }
}

Parameters choose_parameters(const Method& method, const std::map<std::string, ParameterValue>& options) {
  try {
    return parameters_with(method.parameters, options);
  } catch (const std::invalid_argument& e) {
    throw CallError("gaussweep:usage", method.id() + ": " + e.what());
  }
}

}  // namespace gaussweep::mex
