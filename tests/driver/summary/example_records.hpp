#pragma once
/// Builds records for tests.

#include "driver/base/statistics.hpp"
#include "io/records/results.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {

using io::Record;

/// Returns a record of gesv that passed on an H200, with the given samples.
inline Record example_record(const std::string& method, std::int64_t n, const std::vector<double>& seconds) {
  Record r;
  r.key = "key-" + method + "-" + std::to_string(n);
  r.run_id = "run-1";
  r.problem = "gesv";
  r.method = method;
  r.backend = "cuda";
  r.precision = "double";
  r.m = r.n = r.k = n;
  r.nrhs = 1;
  r.matrix_kind = "cauchy";
  r.matrix_digest = "digest-" + std::to_string(n);
  r.matrix_seed = 1;
  r.status = "pass";
  r.residual_ratio = 0.5;
  r.tolerance = 16;
  r.gpu_name = "NVIDIA H200";
  r.capability = 90;
  r.host = "node1";
  r.commit = "abc";
  r.start_time = "2026-03-01T00:00:00Z";
  for (const double s : seconds) r.sample_list.push_back({s, 1980, false});
  const Statistics s = summarise(seconds);
  r.seconds_min = s.min;
  r.seconds_q1 = s.q1;
  r.seconds_median = s.median;
  r.seconds_mean = s.mean;
  r.seconds_q3 = s.q3;
  r.seconds_max = s.max;
  r.seconds_stdev = s.stdev;
  r.samples = static_cast<std::int64_t>(s.count);
  r.flops = 2.0 / 3 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  r.problem_flops = r.flops;
  r.problem_bytes = 8.0 * static_cast<double>(n * n + 2 * n);
  if (s.count > 0) r.gflops = r.flops / s.median * 1e-9;
  return r;
}

inline io::Results results_of(std::vector<Record> records) {
  io::Results results;
  results.records = std::move(records);
  return results;
}

}  // namespace gaussweep::driver
