// Runs the batches of tests/kernels/hostile_batches_test.cpp on a GPU: a system with extreme elements must
// not change the answers of the others. GAUSSWEEP_BATCHES sets the number of batches per method,
// GAUSSWEEP_FIRST_BATCH the seed of the first one. Several processes can thus share the work. One call
// runs many batches, because allocations and copies take longer than the kernels. Under compute-sanitizer,
// accesses outside the operands are errors.

#include <algorithm>

#include "tests/gpu/on_gpu.hpp"
#include "tests/kernels/hard_systems.hpp"
#include "tests/kernels/hostile_batches.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

class HostileBatchesOnGpu : public OnGpu {};

TEST_F(HostileBatchesOnGpu, KeepToTheirSystem) {
  const int batches = number_from("GAUSSWEEP_BATCHES", small() ? 5 : 100);
  const int first = number_from("GAUSSWEEP_FIRST_BATCH", 0);
  constexpr int per_call = 20;
  for (const Method& method : registry().all()) {
    const bool runs = method.runs_on(Backend::cuda) && method.capability <= device->info().capability;
    // Only gaussweep's own methods promise that systems do not affect one another.
    if (!runs || !method.runs_on(Backend::emulated) || !takes_batches(method)) continue;
    for (int batch = first; batch < first + batches && !HasFailure(); batch += per_call) {
      SCOPED_TRACE(method.id() + ", batch " + std::to_string(batch));
      std::mt19937_64 random(static_cast<std::uint64_t>(batch));
      expect_confined_batches(random, *context, method, std::min(per_call, first + batches - batch));
    }
  }
}

}  // namespace
}  // namespace gaussweep
