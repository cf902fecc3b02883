#pragma once
/// Records as a JUnit report, which CI servers show.

#include <functional>
#include <string>
#include <vector>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Writes one suite per method and one test per record. A record that ended as its plan expects is a passed
/// test; if the expectation is a failure, it is a skipped one. A wrong answer, and an answer that passed
/// unexpectedly, are failures. A trial that crashed, timed out or could not run is an error. The time of a
/// test is the median.
/// @param write called with parts of the XML
void write_junit(const std::vector<io::Record>& records,
                 const std::function<void(const std::string&)>& write);

}  // namespace gaussweep::driver
