#include "driver/worker/execute.hpp"

#include <gtest/gtest.h>

namespace gaussweep::driver {
namespace {

TEST(Execute, AMethodOfTheCpuHasNoShareOfAGpusPeaks) {
  const Peaks measured{4e12, 5e13, 6e13};
  const Peaks beside_a_gpu = peaks_of(Backend::host, Backend::cuda, measured);
  EXPECT_EQ(beside_a_gpu.copy_bytes_per_second, 0);
  EXPECT_EQ(beside_a_gpu.gemm_flops_float, 0);
  EXPECT_EQ(beside_a_gpu.gemm_flops_double, 0);
  for (const auto& [trial, device] : {std::pair{Backend::cuda, Backend::cuda},
                                      {Backend::host, Backend::emulated},
                                      {Backend::host, Backend::host},
                                      {Backend::emulated, Backend::emulated}})
    EXPECT_EQ(peaks_of(trial, device, measured).gemm_flops_double, 6e13);
}

}  // namespace
}  // namespace gaussweep::driver
