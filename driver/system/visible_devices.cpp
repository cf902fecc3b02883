#include "driver/system/visible_devices.hpp"

#include <sstream>

namespace gaussweep::driver {

std::vector<std::string> visible_parts(const std::string& visible_devices) {
  std::vector<std::string> parts;
  std::istringstream names(visible_devices);
  for (std::string name; std::getline(names, name, ',');) {
    const std::size_t begin = name.find_first_not_of(' ');
    if (begin == std::string::npos || name.compare(begin, 4, "MIG-") != 0) return {};
    parts.push_back(name.substr(begin, name.find_last_not_of(' ') + 1 - begin));
  }
  return parts;
}

}  // namespace gaussweep::driver
