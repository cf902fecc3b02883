#pragma once
/// Runs of one unchanged plan, measured on two H200s (tests/data/identical_runs.h5). Runs a1 to a3 are from
/// the first GPU, b1 to b8 and r1 to r4 from the second. The runs r1 to r4 have three rounds each.

#include "io/records/results.hpp"
#include "tests/python.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {

/// Returns the runs by name.
inline std::map<std::string, io::Results> identical_runs() {
  std::map<std::string, io::Results> runs;
  for (io::Record& record : io::read_results(source_folder() / "tests/data/identical_runs.h5").records) {
    const std::string run = record.run_id;
    runs[run].records.push_back(std::move(record));
  }
  return runs;
}

/// Multiplies the quartiles of a record's times by a factor.
inline void slow_down(io::Record& r, double factor) {
  for (double* seconds :
       {&r.seconds_q1, &r.seconds_median, &r.seconds_q3, &r.replay_q1, &r.replay_median, &r.replay_q3})
    *seconds *= factor;
}

}  // namespace gaussweep::driver
