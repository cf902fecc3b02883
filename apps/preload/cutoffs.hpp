#pragma once
/// Decides which of cuSOLVER's calls gaussweep answers faster.

#include <cstdint>
#include <string>

namespace gaussweep::preload {

/// What a call computes, in the terms of a rule (docs/rule.md).
struct Task {
  const char* problem;  ///< getrf, potrf, trtri; trsv: a solve with triangles; poinv: potri
  bool is_double;
  bool is_upper;
  std::int64_t n;
  std::int64_t nrhs = 1;       ///< 1 if the problem has no right-hand sides
  bool is_transposed = false;  ///< solves with a transposed triangle
};

/// Returns true if gaussweep is faster on the device of this name. A rule decides if the environment variable
/// GAUSSWEEP_CUSOLVER_RULE names one, else the measured orders of docs/performance.md. If the rule cannot be
/// read, prints the reason once, and the answer is always false.
bool is_faster(const Task& task, const std::string& device);

}  // namespace gaussweep::preload
