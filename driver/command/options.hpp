#pragma once
/// Options that several commands share, checks of option values, and the parser's error messages.

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/plan/plan_names.hpp"
#include "kernels/device/context.hpp"

namespace CLI {
class App;
class Error;
class Option;
}  // namespace CLI

namespace gaussweep::driver {

/// The largest value of options that limit the rows of a table.
inline constexpr std::int64_t max_rows = 1'000'000;

/// Restricts an option's value to one of `words`.
void allow_values(CLI::Option& option, const std::vector<std::string>& words);
/// Restricts an option to integers from `low` to `high`. 1k is 1024, as in a plan (a YAML file of trials).
void allow_integers(CLI::Option& option, std::int64_t low, std::int64_t high);
/// Restricts an option to finite numbers from `low` to `high`.
void allow_real(CLI::Option& option, double low, double high);
/// Rejects empty values, which usually come from unset variables in scripts.
void refuse_empty(CLI::Option& option);

/// Adds --format with the values `names`. @param format has the default
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& names);
/// Adds --backend: auto, cuda, emulated or host.
void add_backend(CLI::App& command, std::string& backend, const std::string& help);
/// Adds -o, --output, whose value must not be empty.
CLI::Option& add_output(CLI::App& command, std::string& output, const std::string& help);
/// Adds the option --methods: paths of shared libraries with more methods.
void add_library_option(CLI::App& command, std::vector<std::string>& paths);

/// Converts an option's value to an enum.
/// @param offered the names that an error message offers
/// @throws UsageError with the option ("--kind"), the allowed names, and the nearest one
template <class E>
E parse_option(const char* option, const std::string& text,
               const std::vector<std::string>& offered = enum_names<E>()) {
  if (const auto value = from_string<E>(text)) return *value;
  throw UsageError(fmt::format("{} {}: unknown {}; {}allowed are {}", option, text, EnumNames<E>::noun,
                               io::nearest_hint(text, offered), joined(offered)));
}

/// Returns the backend for the value of --backend, for commands that start no worker. `auto` means cuda if
/// there is a GPU, otherwise emulated. @param gpu set to the GPU if the backend is cuda @throws UsageError
Backend choose_backend(const std::string& name, std::unique_ptr<Device>& gpu);

/// `yes`: the command may replace the results.h5 of a run directory by the same run's records.
enum class Rebuild { no, yes };

/// Checks the path of -o before any work is done.
/// @param inputs the command's inputs: files, run directories, directories of them
/// @param rebuild `yes` allows the results.h5 of a run directory if that directory or its journal is an input
/// @throws UsageError if the path exists and is not a regular file, or if its folder does not exist. Also
/// throws if the file exists and `force` is false, or if the file is an input or belongs to a run directory
void check_output(const std::filesystem::path& path, bool force, const std::vector<std::string>& inputs = {},
                  Rebuild rebuild = Rebuild::no);

/// Returns the parser's error in one line: the command, the wrong word, the nearest allowed word, and all
/// allowed words.
std::string parser_error_text(const CLI::App& app, const CLI::Error& error);

}  // namespace gaussweep::driver
