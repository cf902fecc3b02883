#pragma once
/// Words that options of several commands share.

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "driver/base/errors.hpp"
#include "driver/plan/plan_words.hpp"

namespace gaussweep::driver {

/// The enum value of an option's word.
/// @throws UsageError with the option ("--kind"), what is allowed, and the nearest
template <class E>
E parse_option(const char* option, const std::string& text) {
  if (const auto value = from_string<E>(text)) return *value;
  throw UsageError(fmt::format("{} {}: unknown {}; {}allowed are {}", option, text, EnumNames<E>::what,
                               io::nearest_hint(text, enum_names<E>()), allowed_names<E>()));
}

/// Checks what -o names before any work is done.
/// @throws UsageError where it is anything but a regular file (or a link to one, or to nothing). Also where
/// it exists and `force` is false, or its folder does not exist
void check_output(const std::filesystem::path& path, bool force);

}  // namespace gaussweep::driver
