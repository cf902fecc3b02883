#pragma once
/// Hosts of one name that are different machines: virtual ones are often all called the same.

#include <map>
#include <string>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// Tells the hosts of several files apart by the model of their CPU. (Not by its cores: they are those that a
/// job was given.)
class HostNames {
 public:
  /// Renames a host where an earlier file has one of the same name with another CPU. It is then called
  /// "name (model)" in its records, devices and hosts.
  void tell_apart(io::Results& results);

 private:
  std::map<std::string, std::string> cpu_of_;  // by name
};

}  // namespace gaussweep::driver
