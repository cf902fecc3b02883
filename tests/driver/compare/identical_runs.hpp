#pragma once
/// Runs of one plan in which nothing changed, as they were measured on two H200s
/// (tests/data/identical_runs.csv). Runs a1 to a3 are from one, b1 to b8 from the other, r1 to r4 from there
/// with three rounds each.

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/records/results.hpp"
#include "tests/python.hpp"

namespace gaussweep::driver {

/// By the name of the run.
inline std::map<std::string, io::Results> identical_runs() {
  std::ifstream file(testing_help::source_folder() / "tests/data/identical_runs.csv");
  if (!file) throw std::runtime_error("tests/data/identical_runs.csv cannot be read");
  std::map<std::string, io::Results> runs;
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    cells.resize(14);
    const auto seconds = [&](std::size_t i) {
      return cells[i].empty() ? io::Record::unknown : 1e-6 * std::stod(cells[i]);
    };
    io::Record r;
    r.run_id = cells[0];
    r.problem = cells[1].substr(0, cells[1].find('/'));
    r.method = cells[1].substr(cells[1].find('/') + 1);
    r.backend = "cuda";
    r.precision = cells[2];
    r.m = r.n = r.k = std::stoll(cells[3]);
    r.matrix_digest = cells[2] + cells[3];
    r.status = "pass";
    r.gpu_name = "NVIDIA H200";
    r.gpu_uuid = cells[0].front() == 'a' ? "GPU-a" : "GPU-b";
    r.round = std::stoll(cells[4]);
    r.samples = 5;
    r.kernels = std::stoll(cells[5]);
    r.launch_bound = std::stoll(cells[6]);
    r.queue_seconds = seconds(7);
    r.seconds_q1 = seconds(8);
    r.seconds_median = seconds(9);
    r.seconds_q3 = seconds(10);
    r.replay_q1 = seconds(11);
    r.replay_median = seconds(12);
    r.replay_q3 = seconds(13);
    runs[cells[0]].records.push_back(std::move(r));
  }
  return runs;
}

}  // namespace gaussweep::driver
