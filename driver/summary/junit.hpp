#pragma once
/// Writes records (the stored results of trials) as a JUnit report, which CI servers show.

#include <functional>
#include <string>
#include <vector>

#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Writes one suite per method and one test per record. A record that passed as its plan expects is a passed
/// test. A record that failed as its plan expects, or was skipped, is a skipped test. A wrong answer, or an
/// answer that passed unexpectedly, is a failure. A trial that crashed, timed out or could not run is an
/// error. The time of a test is the median.
/// @param write called with parts of the XML
void write_junit(const std::vector<io::Record>& records,
                 const std::function<void(const std::string&)>& write);

}  // namespace gaussweep::driver
