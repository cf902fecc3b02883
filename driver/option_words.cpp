#include "driver/option_words.hpp"

#include <system_error>

namespace gaussweep::driver {

void check_output(const std::filesystem::path& path, bool force) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(fmt::format("-o {}: is a directory; give the name of a file", path.string()));
  }
  if (!force && std::filesystem::exists(path, error)) {
    throw UsageError(
        fmt::format("-o {}: the file exists; give another name, or --force to replace it", path.string()));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    throw UsageError(fmt::format("-o {}: the folder {} does not exist", path.string(), folder.string()));
  }
}

}  // namespace gaussweep::driver
