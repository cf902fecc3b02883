#pragma once
/// Building blocks of a JSON schema. For the .cpp files of `io/` only.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace gaussweep::io::shape {

using Schema = nlohmann::ordered_json;

/// Refers to the definition of this name in plan_schema.cpp.
inline Schema ref(const std::string& definition) {
  return {{"$ref", "#/definitions/" + definition}};
}
/// One of these texts.
inline Schema words(const std::vector<std::string>& allowed) {
  return {{"enum", allowed}};
}
/// A text that matches a regular expression.
inline Schema pattern(const char* regular) {
  return {{"type", "string"}, {"pattern", regular}};
}
inline Schema any_of(std::initializer_list<Schema> choices) {
  return {{"anyOf", Schema(std::vector<Schema>(choices))}};
}
/// A value, or a non-empty list of such values.
inline Schema one_or_list(const Schema& one) {
  return any_of({one, {{"type", "array"}, {"items", one}, {"minItems", 1}}});
}
/// A mapping with at least one key; all keys are allowed.
inline Schema mapping(const Schema& value) {
  return {{"type", "object"}, {"additionalProperties", value}, {"minProperties", 1}};
}
/// A mapping with at least one of these keys and no others.
inline Schema mapping(const std::vector<std::string>& keys, const Schema& value) {
  Schema properties = Schema::object();
  for (const std::string& key : keys) properties[key] = value;
  return {
      {"type", "object"}, {"properties", properties}, {"additionalProperties", false}, {"minProperties", 1}};
}

}  // namespace gaussweep::io::shape
