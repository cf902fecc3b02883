#pragma once
/// Decides which calls of cuSOLVER and cuBLAS gaussweep answers.

#include <cstdint>
#include <string>

namespace gaussweep::preload {

/// The computation of a call, in the terms of a rule: a file that names the fastest method per problem,
/// device and size (docs/rule.md).
struct Task {
  const char* problem;  ///< getrf, potrf, trtri; trsv for getrs, potrs and trsm; poinv for potri
  bool is_double;
  bool is_upper;
  std::int64_t n;
  std::int64_t nrhs = 1;       ///< 1 if the problem has no right-hand sides
  bool is_transposed = false;  ///< solves with a transposed triangle
};

/// Up to this number of right-hand sides, libgaussweep's getrs and trsm are faster than the vendor's. With
/// more, getrs of order 16384 would need more memory than StreamHandle::scratch_bytes.
constexpr std::int64_t few_rhs = 96;

/// Returns false if gaussweep is faster on no device. Callers check this first, because finding the device of
/// a stream takes longer.
bool may_be_faster(const Task& task);

/// Returns true if gaussweep is faster on the device of this name. The rule in the file that
/// GAUSSWEEP_CUSOLVER_RULE names decides; without this environment variable the measured orders (sizes n) of
/// docs/performance.md decide. If the rule cannot be read, prints the reason once and always returns false.
bool is_faster(const Task& task, const std::string& device);

}  // namespace gaussweep::preload
