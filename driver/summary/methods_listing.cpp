/// Makes the listing of all methods that `gaussweep methods` prints.

#include "driver/summary/methods_listing.hpp"

#include <fmt/format.h>

#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"

namespace gaussweep::driver {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const ParameterValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return std::get<std::string>(value);
}

Json parameter_json(const Parameter& parameter) {
  Json json;
  json["name"] = parameter.name;
  if (const auto* whole = std::get_if<std::int64_t>(&parameter.default_value)) {
    json["type"] = "integer";
    json["default"] = *whole;
    json["range"] = {static_cast<std::int64_t>(parameter.low), static_cast<std::int64_t>(parameter.high)};
  } else if (const auto* real = std::get_if<double>(&parameter.default_value)) {
    json["type"] = "real";
    json["default"] = *real;
    json["range"] = {parameter.low, parameter.high};
  } else {
    json["type"] = "choice";
    json["default"] = std::get<std::string>(parameter.default_value);
    json["choices"] = parameter.choices;
  }
  json["help"] = parameter.help;
  return json;
}

std::string allowed_text(const Parameter& parameter) {
  if (!parameter.choices.empty()) return fmt::format("{}", fmt::join(parameter.choices, ", "));
  if (std::holds_alternative<std::int64_t>(parameter.default_value)) {
    return fmt::format("{:.0f} to {:.0f}", parameter.low, parameter.high);
  }
  return fmt::format("{} to {}", parameter.low, parameter.high);
}

std::vector<std::string> precisions_of(const Method& method) {
  std::vector<std::string> names;
  for (const auto& [precision, name] : EnumNames<Precision>::table) {
    if (method.has(precision)) names.emplace_back(name);
  }
  return names;
}

template <class E>
std::vector<std::string> names_of(const std::vector<E>& values) {
  std::vector<std::string> names;
  for (const E value : values) names.emplace_back(to_string(value));
  return names;
}

/// Returns the name of the factor with the unit diagonal, or an empty text if the method does not return L
/// and U.
std::string_view unit_factor(const Method& method) {
  if (!method.problem->has_pivots) return {};
  return method.unit_diagonal == UnitDiagonal::lower ? "L" : "U";
}

}  // namespace

Json methods_json(const std::vector<Method>& methods) {
  Json array = Json::array();
  for (const Method& method : methods) {
    std::vector<Backend> available;
    for (const auto& [backend, name] : EnumNames<Backend>::table) {
      if (method.runs_on(backend)) available.push_back(backend);
    }
    Json json;
    json["id"] = method.id();
    json["problem"] = to_string(method.problem);
    json["computes"] = method.problem->title;
    json["method"] = method.variant;
    json["backends"] = names_of(method.backends);
    json["available"] = names_of(available);
    json["precisions"] = precisions_of(method);
    json["needs"] = names_of(method.needs);
    json["capability"] = method.capability;
    json["parameters"] = Json::array();
    for (const Parameter& parameter : method.parameters)
      json["parameters"].push_back(parameter_json(parameter));
    json["source"] = method.source;
    json["summary"] = method.summary;
    json["vendor"] = method.vendor;
    json["max_batch"] = method.max_batch;
    if (const auto factor = unit_factor(method); !factor.empty()) json["unit_diagonal"] = factor;
    array.push_back(std::move(json));
  }
  return array;
}

std::string methods_text(const std::vector<Method>& methods, std::size_t width) {
  Table table;
  table.columns = {{"id", "METHOD"},
                   {"backends", "BACKENDS"},
                   {"precisions", "PRECISIONS"},
                   {"needs", "NEEDS"},
                   {"capability", "CAPABILITY"},
                   {"summary", "SUMMARY"},
                   {"unit_diagonal", "UNIT DIAGONAL"},
                   {"source", "SOURCE"}};
  Table parameters;
  parameters.columns = {{"id", "METHOD"},
                        {"name", "PARAMETER"},
                        {"default", "DEFAULT"},
                        {"allowed", "ALLOWED"},
                        {"help", "MEANING"}};
  for (const Method& method : methods) {
    table.rows.push_back({method.id(), fmt::format("{}", fmt::join(names_of(method.backends), ",")),
                          fmt::format("{}", fmt::join(precisions_of(method), ",")),
                          fmt::format("{}", fmt::join(names_of(method.needs), ",")),
                          capability_text(method.capability), method.summary,
                          std::string(unit_factor(method)), method.source});
    for (const Parameter& parameter : method.parameters) {
      parameters.rows.push_back({method.id(), parameter.name, value_text(parameter.default_value),
                                 allowed_text(parameter), parameter.help});
    }
  }
  table.droppable = {"unit_diagonal", "source", "capability"};
  std::string text = render_text(table, width);
  if (!parameters.rows.empty()) text += "\n" + render_text(parameters, width);
  return text;
}

}  // namespace gaussweep::driver
