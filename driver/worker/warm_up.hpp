#pragma once
/// The warm-up before the samples.

#include <limits>

#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {

/// Runs the method until the plan's warm-up is done. @param done runs that already count as warm-ups
template <class T>
void warm_up(MethodRun<T>& run, const Sampling& sampling, std::int64_t done) {
  const double start = now_seconds();
  for (; done < sampling.warmup; ++done) run.warm_up();
  while (now_seconds() - start < sampling.warmup_seconds) run.warm_up();
}

/// Returns the maximum seconds to wait until the store's thread (store_writer.hpp) has paused before samples.
/// A GPU run is hardly disturbed if the thread still writes a block to a slow disk; a CPU run would lose a
/// core.
inline double pause_timeout(Backend backend) {
  return backend == Backend::cuda ? 5e-3 : std::numeric_limits<double>::infinity();
}

}  // namespace gaussweep::driver
