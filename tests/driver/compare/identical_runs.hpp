#pragma once
/// Runs of one plan without changes, measured on two H200s (tests/data/identical_runs.h5). Runs a1 to a3 are
/// from one GPU, b1 to b8 from the other; r1 to r4 are from the second GPU too, with three rounds each.

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
