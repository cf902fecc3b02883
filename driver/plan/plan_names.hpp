#pragma once
/// Helpers for reading a plan: axis names, patterns for methods of the registry (the table of all methods),
/// enum names, and errors about these names. A method's variant is its name within a problem; its id is
/// "problem/variant".

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/plan/plan.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Returns the axes that have the same meaning for every method, with their meanings. All other axes of a
/// plan are parameters of methods.
inline const std::map<std::string, std::string>& axis_meanings() {
  static const std::map<std::string, std::string> words = {{"n", "the order; gemm: columns of C"},
                                                           {"m", "gemm: rows of C"},
                                                           {"k", "gemm: columns of A"},
                                                           {"nrhs", "right-hand sides"},
                                                           {"uplo", "the triangle"},
                                                           {"batch", "number of systems per run"},
                                                           {"precision", "of operands and arithmetic"},
                                                           {"seed", "of the generator"}};
  return words;
}
/// Returns the names in `axis_meanings`.
inline const std::set<std::string>& fixed_axes() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all;
    for (const auto& [name, meaning] : axis_meanings()) all.insert(name);
    return all;
  }();
  return names;
}

inline bool has_parameter(const Method& method, const std::string& name) {
  return std::any_of(method.parameters.begin(), method.parameters.end(),
                     [&](const Parameter& p) { return p.name == name; });
}

/// Returns true if a plan's pattern for methods ("all", a variant, an id, or a glob) matches the method.
inline bool matches(const std::string& pattern, const std::string& problem, const std::string& variant) {
  return pattern == "all" || fnmatch(pattern.c_str(), variant.c_str(), 0) == 0 ||
         fnmatch(pattern.c_str(), (problem + "/" + variant).c_str(), 0) == 0;
}
inline bool matches(const std::string& pattern, const Method& method) {
  return matches(pattern, std::string(to_string(method.problem)), method.variant);
}

/// Returns true if a record's problem has the axis; false if this build does not know the problem.
inline bool has_axis(const std::string& problem, std::string_view axis) {
  const std::optional<Problem> known = from_string<Problem>(problem);
  return known && (*known)->has_axis(axis);
}

/// Returns "a, b, c".
inline std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Returns all names of an enum, in declaration order.
template <class E>
std::vector<std::string> enum_names() {
  std::vector<std::string> names;
  for (const auto& [key, name] : EnumNames<E>::table) names.emplace_back(name);
  return names;
}

/// Converts a scalar to an enum. @throws io::InputError at the scalar's location, with the allowed names and
/// the nearest
template <class E>
E parse_enum(const io::Scalar& scalar) {
  const auto value = from_string<E>(scalar.text);
  if (value) return *value;
  io::fail_at(scalar.location,
              fmt::format("'{}' is no {}; {}allowed: {}", scalar.text, EnumNames<E>::noun,
                          io::nearest_hint(scalar.text, enum_names<E>()), allowed_names<E>()));
}

/// Throws "<prefix>gesv has no method 'x'; nearest: …; it has: …" at `location`. @param prefix such as
/// "expect: "
[[noreturn]] inline void fail_no_method(const io::Location& location, const std::string& prefix,
                                        const std::string& pattern, Problem problem,
                                        const Registry& registry) {
  std::vector<std::string> names;
  for (const Method& method : registry.all()) {
    if (method.problem == problem) names.push_back(method.variant);
  }
  if (names.empty())
    io::fail_at(location, fmt::format("{}this build has no method for {}", prefix, to_string(problem)));
  io::fail_at(location, fmt::format("{}{} has no method '{}'; {}it has: {}", prefix, to_string(problem),
                                    pattern, io::nearest_hint(pattern, names), joined(names)));
}

/// Returns true if a pattern matches any of the problem's methods. `expect` and `exclude` may name methods
/// that the entry does not select.
inline bool matches_a_method(const std::string& pattern, Problem problem, const Registry& registry) {
  return std::any_of(registry.all().begin(), registry.all().end(), [&](const Method& method) {
    return method.problem == problem && matches(pattern, method);
  });
}

/// Returns true if a pattern matches any method of any problem of the entry.
inline bool matches_a_method(const std::string& pattern, const io::Entry& entry, const Registry& registry) {
  return std::any_of(entry.problems.begin(), entry.problems.end(), [&](const std::string& name) {
    const std::optional<Problem> problem = from_string<Problem>(name);
    return problem && matches_a_method(pattern, *problem, registry);
  });
}

}  // namespace gaussweep::driver
