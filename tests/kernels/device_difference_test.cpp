// Runs the device difference tests on the backend `emulated`.
#include "tests/kernels/device_difference.hpp"

namespace gaussweep::testing_help {
namespace {

using Settings = testing::Types<Setting<float, Backend::emulated>, Setting<double, Backend::emulated>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Emulated, DeviceDifference, Settings);

}  // namespace
}  // namespace gaussweep::testing_help
