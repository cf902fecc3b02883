#pragma once
/// What the runs of a trial gave.

#include "driver/base/statistics.hpp"
#include "driver/worker/placed.hpp"
#include "driver/worker/sample_answers.hpp"

namespace gaussweep::driver {

template <class T>
struct Measured {
  Placed<T> placed;     ///< the answer of the last sample
  JudgedAnswer judged;  ///< the worst of all samples
  Statistics times;     ///< of the samples that count
};

}  // namespace gaussweep::driver
