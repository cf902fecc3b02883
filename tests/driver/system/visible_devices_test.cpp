#include "driver/system/visible_devices.hpp"

#include <gtest/gtest.h>

namespace gaussweep::driver {
namespace {

TEST(VisibleParts, AreTheNamedMigParts) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(visible_parts("MIG-1"), Names{"MIG-1"});
  EXPECT_EQ(visible_parts("MIG-1, MIG-GPU-2/7/0 "), (Names{"MIG-1", "MIG-GPU-2/7/0"}));
  for (const char* other : {"", "0", "0,1", "GPU-1,GPU-2", "NoDevFiles"})
    EXPECT_EQ(visible_parts(other), Names{}) << other;
}

}  // namespace
}  // namespace gaussweep::driver
