#pragma once
/// Conversions of enums and optional values to JSON and back, for nlohmann's library.

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/registry/problem.hpp"

namespace nlohmann {

/// Stores an enum as its name, for enums that have a table EnumNames<E>. @throws std::runtime_error "'gpu' is
/// no backend"
template <class E>
struct adl_serializer<E, std::void_t<decltype(gaussweep::EnumNames<E>::table)>> {
  static void to_json(json& to, const E& value) { to = std::string(gaussweep::to_string(value)); }
  static void from_json(const json& from, E& value) {
    const auto word = from.get<std::string>();
    const auto known = gaussweep::from_string<E>(word);
    if (!known) throw std::runtime_error(fmt::format("'{}' is no {}", word, gaussweep::EnumNames<E>::noun));
    value = *known;
  }
};

/// Stores an empty optional as null.
template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& to, const std::optional<T>& value) { to = value ? json(*value) : json(); }
  static void from_json(const json& from, std::optional<T>& value) {
    if (from.is_null()) {
      value.reset();
    } else {
      value = from.get<T>();
    }
  }
};

}  // namespace nlohmann
