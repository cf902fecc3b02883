#pragma once
/// What goes before samples.

#include <limits>

#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "kernels/staging/method_run.hpp"

namespace gaussweep::driver {

/// So that nothing of a first run shows in the samples. @param done runs that count as warm-ups
template <class T>
void warm_up(MethodRun<T>& run, const Sampling& sampling, std::int64_t done) {
  const double start = now_seconds();
  for (; done < sampling.warmup; ++done) run.warm_up();
  while (now_seconds() - start < sampling.warmup_seconds) run.warm_up();
}

/// Seconds to wait for the thread that stores matrices, which was asked to stop before the warm-up. Beside a
/// GPU one piece more does not matter, if a slow disk holds it up. On the CPU it would take a core.
inline double patience_for(Backend backend) {
  return backend == Backend::cuda ? 5e-3 : std::numeric_limits<double>::infinity();
}

}  // namespace gaussweep::driver
