#pragma once
/// Runs of one unchanged plan, measured on two H200s (tests/data/identical_runs.h5). Runs a1 to a3 are from
/// the first GPU, b1 to b8 and r1 to r4 from the second. The runs r1 to r4 have three rounds each.

#include <map>
#include <string>
#include <utility>

#include "io/records/results.hpp"
#include "tests/python.hpp"

namespace gaussweep::driver {

/// Returns the runs by name.
inline std::map<std::string, io::Results> identical_runs() {
  std::map<std::string, io::Results> runs;
  for (io::Record& record :
       io::read_results(testing_help::source_folder() / "tests/data/identical_runs.h5").records) {
    const std::string run = record.run_id;
    runs[run].records.push_back(std::move(record));
  }
  return runs;
}

}  // namespace gaussweep::driver
