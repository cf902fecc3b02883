/// Reads the values of a plan's axes, and checks them for a method.

#include "driver/plan/axes.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/plan/plan_names.hpp"

namespace gaussweep::driver {
namespace {

/// Converts and checks one value of an axis. @throws io::InputError
ParameterValue read_value(const std::string& name, const io::Scalar& scalar, const Method& method) {
  if (name == "precision") return std::string(to_string(parse_enum<Precision>(scalar)));
  if (name == "uplo") return std::string(to_string(parse_enum<Uplo>(scalar)));
  if (name == "seed") return io::parse_integer(scalar, 0, INT64_MAX, name);
  if (fixed_axes().count(name) > 0) return io::parse_integer(scalar, 1, io::max_size, name);
  const Parameter& parameter =
      *std::find_if(method.parameters.begin(), method.parameters.end(),
                    [&](const Parameter& candidate) { return candidate.name == name; });
  if (std::holds_alternative<std::int64_t>(parameter.default_value)) {
    return io::parse_integer(scalar, static_cast<std::int64_t>(parameter.low),
                             static_cast<std::int64_t>(parameter.high), parameter.name);
  }
  if (std::holds_alternative<double>(parameter.default_value))
    return io::parse_real(scalar, parameter.low, parameter.high, parameter.name);
  if (std::find(parameter.choices.begin(), parameter.choices.end(), scalar.text) == parameter.choices.end()) {
    io::fail_at(scalar.location,
                fmt::format("'{}' is no value of {}; {}allowed: {}", scalar.text, parameter.name,
                            io::nearest_hint(scalar.text, parameter.choices), joined(parameter.choices)));
  }
  return scalar.text;
}

std::vector<AxisValue> read_values(const std::string& name, const std::vector<io::Scalar>& values,
                                   const Method& method) {
  std::vector<AxisValue> choices;
  choices.reserve(values.size());
  for (const io::Scalar& value : values) choices.push_back({read_value(name, value, method), value});
  return choices;
}

/// Returns the values of an axis for `backend`, else those for `requested`, the backend that the user
/// requested. @throws io::InputError if the axis has neither
std::vector<AxisValue> values_on(const std::string& name, const io::Axis& axis, const Method& method,
                                 Backend backend, Backend requested) {
  if (axis.by_backend.empty()) return read_values(name, axis.values, method);
  std::map<std::string, std::vector<AxisValue>> all;
  for (const auto& [backend_name, values] : axis.by_backend)
    all[backend_name] = read_values(name, values, method);
  for (Backend wanted : {backend, requested}) {
    if (const std::vector<AxisValue>* choices = find_in(all, std::string(to_string(wanted)))) return *choices;
  }
  std::vector<std::string> names;
  for (const auto& [backend_name, values] : all) names.push_back(backend_name);
  io::fail_at(axis.location, fmt::format("{} has no values for the backend {}, only for {}", name,
                                         to_string(backend), joined(names)));
}

Dimension dimension_of(const std::string& name, std::vector<AxisValue> choices) {
  Dimension dimension;
  for (AxisValue& choice : choices) dimension.push_back({{name, std::move(choice)}});
  return dimension;
}

}  // namespace

std::vector<Dimension> dimensions_of(const io::Plan& plan, const io::Entry& entry, const Method& method,
                                     Backend backend, Backend requested) {
  const auto is_used = [&](const std::string& name) {
    return fixed_axes().count(name) > 0 || has_parameter(method, name);
  };
  std::vector<Dimension> dimensions;
  std::set<std::string> zipped_names;
  for (const auto& zip : entry.zips) {
    Dimension dimension;
    for (const auto& [name, axis] : zip) {
      zipped_names.insert(name);
      if (!is_used(name)) continue;
      const std::vector<AxisValue> choices = values_on(name, axis, method, backend, requested);
      dimension.resize(choices.size());
      for (std::size_t i = 0; i < choices.size(); ++i) dimension[i].emplace(name, choices[i]);
    }
    if (!dimension.empty()) dimensions.push_back(std::move(dimension));
  }
  std::vector<Dimension> axes;
  if (entry.axes.count("precision") == 0 && zipped_names.count("precision") == 0)
    axes.push_back(dimension_of("precision", read_values("precision", plan.precision, method)));
  for (const auto& [name, axis] : entry.axes) {
    if (!is_used(name)) continue;
    axes.push_back(dimension_of(name, values_on(name, axis, method, backend, requested)));
  }
  dimensions.insert(dimensions.begin(), axes.begin(), axes.end());
  return dimensions;
}

const std::vector<io::Scalar>* values_on_gpu(const io::Axis& axis, const std::string& gpu_name) {
  const std::vector<std::string> backends = enum_names<Backend>();
  for (const auto& [key, values] : axis.by_backend) {  // the key is a backend or part of a GPU model's name
    const bool is_model = std::find(backends.begin(), backends.end(), key) == backends.end();
    if (is_model && ::strcasestr(gpu_name.c_str(), key.c_str()) != nullptr) return &values;
  }
  return find_in(axis.by_backend, std::string(to_string(Backend::cuda)));
}

io::Plan for_gpus(io::Plan plan, const std::vector<std::string>& gpu_names) {
  for (io::Entry& entry : plan.sweep) {
    for (auto& [name, axis] : entry.axes) {
      const std::vector<io::Scalar>* chosen = nullptr;
      for (const std::string& gpu : gpu_names) {
        const std::vector<io::Scalar>* values = values_on_gpu(axis, gpu);
        if (&gpu != &gpu_names.front() && values != chosen) {
          throw UsageError(fmt::format(
              "{}:{}: {} differs by GPU model, and the ranks have {}: give each model a run of its own",
              axis.location.file, axis.location.line, name, joined(gpu_names)));
        }
        chosen = values;
      }
      if (chosen != nullptr) {
        const std::vector<io::Scalar> copy = *chosen;  // `chosen` points into the map that changes
        axis.by_backend[std::string(to_string(Backend::cuda))] = copy;
      }
    }
  }
  return plan;
}

std::size_t count_combinations(const std::vector<Dimension>& dimensions, std::size_t max_count) {
  std::size_t count = 1;
  for (const Dimension& dimension : dimensions) {
    if (dimension.size() > max_count / count) return max_count + 1;
    count *= dimension.size();
  }
  return count;
}

}  // namespace gaussweep::driver
