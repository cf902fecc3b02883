#pragma once
/// Words that options of several commands share.

#include <filesystem>
#include <string>
#include <vector>

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

/// Says if a command may replace results.h5 of a run directory by that run's records.
enum class Rebuild { no, yes };

/// Checks what -o names before any work is done.
/// @param inputs what the command reads: files, run directories, directories of them
/// @param rebuild `yes` allows the results.h5 of a run directory that is one of the inputs, or whose journal
/// is
/// @throws UsageError if it is anything but a regular file (or a link to one, or to nothing), exists without
/// `force`, is an input, belongs to a run directory, or its folder does not exist
void check_output(const std::filesystem::path& path, bool force, const std::vector<std::string>& inputs = {},
                  Rebuild rebuild = Rebuild::no);

}  // namespace gaussweep::driver
