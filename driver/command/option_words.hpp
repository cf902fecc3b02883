#pragma once
/// Options that several commands share.

#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/plan/plan_words.hpp"

namespace gaussweep::driver {

/// Converts an option's value to an enum.
/// @throws UsageError with the option ("--kind"), the allowed names, and the nearest one
template <class E>
E parse_option(const char* option, const std::string& text) {
  if (const auto value = from_string<E>(text)) return *value;
  throw UsageError(fmt::format("{} {}: unknown {}; {}allowed are {}", option, text, EnumNames<E>::what,
                               io::nearest_hint(text, enum_names<E>()), allowed_names<E>()));
}

/// `yes` if a command may replace the results.h5 of a run directory by that run's records.
enum class Rebuild { no, yes };

/// Checks the path of -o before any work is done.
/// @param inputs the command's inputs: files, run directories, directories of them
/// @param rebuild `yes` allows the results.h5 of a run directory if that directory or its journal is an input
/// @throws UsageError if the path is neither a regular file nor a link to one or to nothing, exists without
/// `force`, is an input, belongs to a run directory, or is in a folder that does not exist
void check_output(const std::filesystem::path& path, bool force, const std::vector<std::string>& inputs = {},
                  Rebuild rebuild = Rebuild::no);

}  // namespace gaussweep::driver
