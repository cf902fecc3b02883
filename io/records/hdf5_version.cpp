#include <hdf5.h>

#include <string>

#include "io/records/results.hpp"

namespace gaussweep::io {

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace gaussweep::io
