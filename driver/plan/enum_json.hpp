#pragma once
/// Words of enums in JSON that this program wrote itself.

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "kernels/core/enums.hpp"

namespace gaussweep::driver {

/// The enum value of a word. @throws std::runtime_error "'gpu' is no backend"
template <class E>
E value_of(const nlohmann::json& word) {
  const auto text = word.get<std::string>();
  const auto value = from_string<E>(text);
  if (!value) throw std::runtime_error(fmt::format("'{}' is no {}", text, EnumNames<E>::what));
  return *value;
}

}  // namespace gaussweep::driver
