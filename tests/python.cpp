/// Runs Python scripts of the source tree, for tests.

#include "tests/python.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace gaussweep::testing_help {

std::filesystem::path source_folder() {
  return GAUSSWEEP_SOURCE_DIR;
}

std::string run_python(const std::string& script, const std::vector<std::string>& arguments) {
  std::string command = "'" + (source_folder() / "tests/run_python.sh").string() + "' '" +
                        (source_folder() / script).string() + "'";
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(command + ": cannot be started");
  std::string output;
  std::array<char, 4096> part;
  while (const std::size_t count = fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), count);
  return pclose(pipe) == 0 ? "" : command + " failed: " + output;
}

}  // namespace gaussweep::testing_help
