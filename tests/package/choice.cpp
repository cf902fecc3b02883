#include <gaussweep/gaussweep.hpp>
#include <nlohmann/json.hpp>

#include "rule.h"

gaussweep::Answer<double> solve(const gaussweep::Inputs<double>& system, const char* device) {
  const gaussweep_choice choice = gaussweep_gesv(device, "double", "lower", "uniform", system.shape.n,
                                                 system.shape.nrhs, system.shape.batch);
  if (choice.method == nullptr) return gaussweep::run_once("gesv", "lapack", system);  // not measured
  std::map<std::string, gaussweep::ParameterValue> changes;
  const nlohmann::json parameters = nlohmann::json::parse(choice.parameters);
  for (const auto& [name, value] : parameters.items()) {
    if (value.is_string()) changes[name] = value.get<std::string>();
    if (value.is_number()) changes[name] = value.get<double>();
  }
  return gaussweep::run_once("gesv", choice.method, system, changes);
}
