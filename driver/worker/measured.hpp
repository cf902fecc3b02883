#pragma once
/// The results of a trial's runs.

#include "driver/base/statistics.hpp"
#include "driver/worker/placed.hpp"
#include "driver/worker/sample_answers.hpp"

namespace gaussweep::driver {

/// The answer, its verification and the times of a trial.
template <class T>
struct Measured {
  Placed<T> placed;     ///< the answer of the last sample
  JudgedAnswer judged;  ///< the worst of all samples' answers
  Statistics times;     ///< of the samples that are not discarded
};

}  // namespace gaussweep::driver
