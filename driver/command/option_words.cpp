#include "driver/command/option_words.hpp"

#include <sys/stat.h>

#include <system_error>

#include "io/files/open_file.hpp"

namespace gaussweep::driver {

void check_output(const std::filesystem::path& path, bool force) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(fmt::format("-o {}: is a directory; give the name of a file", path.string()));
  }
  // The name itself: a link is something that exists, even where it leads nowhere.
  struct stat facts {};
  const bool exists = ::lstat(path.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode)) {
    throw UsageError(fmt::format("-o {}: is {}; only a regular file is ever replaced", path.string(),
                                 io::file_kind(facts.st_mode)));
  }
  if (exists && S_ISLNK(facts.st_mode) && ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    throw UsageError(fmt::format("-o {}: is a link to {}; only a regular file is ever replaced",
                                 path.string(), io::file_kind(facts.st_mode)));
  }
  if (exists && !force) {
    throw UsageError(
        fmt::format("-o {}: the file exists; give another name, or --force to replace it", path.string()));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    throw UsageError(fmt::format("-o {}: the folder {} does not exist", path.string(), folder.string()));
  }
}

}  // namespace gaussweep::driver
