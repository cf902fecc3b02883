// Runs the device difference tests on a GPU.
#include "tests/kernels/device_difference.hpp"

namespace gaussweep::testing_help {
namespace {

using Settings = testing::Types<Setting<float, Backend::cuda>, Setting<double, Backend::cuda>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gpu, DeviceDifference, Settings);

}  // namespace
}  // namespace gaussweep::testing_help
