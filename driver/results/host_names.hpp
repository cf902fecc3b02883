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
  /// Where an earlier file has a host of the same name with another CPU, this one is called "name (model)" in
  /// its records, devices and hosts.
  void tell_apart(io::Results& results);

 private:
  std::map<std::string, std::string> cpu_of_;  // by name
};

}  // namespace gaussweep::driver
