#pragma once
/// What goes before samples.

#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"
#include "kernels/core/method_run.hpp"

namespace gaussweep::driver {

/// So that nothing of a first run shows in the samples. @param done runs that count as warm-ups
template <class T>
void warm_up(MethodRun<T>& run, const Sampling& sampling, std::int64_t done) {
  const double start = now_seconds();
  for (; done < sampling.warmup; ++done) run.warm_up();
  while (now_seconds() - start < sampling.warmup_seconds) run.warm_up();
}

}  // namespace gaussweep::driver
