// The batches of tests/kernels/hostile_batches_test.cpp on a GPU. GAUSSWEEP_BATCHES says how many batches a
// method gets: 100,000 by hand. compute-sanitizer sees accesses outside the operands.

#include <gtest/gtest.h>

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/hard_systems.hpp"
#include "tests/kernels/hostile_batches.hpp"

namespace gaussweep {
namespace {

using namespace testing_help;

class HostileBatchesOnGpu : public OnGpu {};

TEST_F(HostileBatchesOnGpu, KeepToTheirSystem) {
  const int batches = number_from("GAUSSWEEP_BATCHES", small() ? 5 : 100);
  for (const Method& method : registry.all()) {
    const bool runs = method.runs_on(Backend::cuda) && method.capability <= device->info().capability;
    // Only our own methods promise it.
    if (!runs || !method.runs_on(Backend::emulated) || !takes_batches(method)) continue;
    for (int batch = 0; batch < batches && !HasFailure(); ++batch) {
      SCOPED_TRACE(method.id() + ", batch " + std::to_string(batch));
      std::mt19937_64 random(static_cast<std::uint64_t>(batch));
      expect_confined_batch(random, *context, method);
    }
  }
}

}  // namespace
}  // namespace gaussweep
