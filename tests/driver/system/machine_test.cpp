// Tests the division of a machine's CPU cores among ranks, and the list of visible MIG parts.

#include "driver/system/machine.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

/// Returns two packages of four cores with two threads each, numbered as Linux does: packages alternate, and
/// the second thread of each core comes last.
std::vector<LogicalCpu> two_packages() {
  std::vector<LogicalCpu> cpus;
  for (int cpu = 0; cpu < 16; ++cpu) cpus.push_back({cpu, cpu % 2, cpu % 8 / 2});
  return cpus;
}

TEST(Machine, SharesAreWholeCoresOfOnePackage) {
  EXPECT_EQ(cpu_share_of(two_packages(), 0, 4), (std::vector<int>{0, 8, 2, 10}));
  EXPECT_EQ(cpu_share_of(two_packages(), 1, 4), (std::vector<int>{4, 12, 6, 14}));
  EXPECT_EQ(cpu_share_of(two_packages(), 3, 4), (std::vector<int>{5, 13, 7, 15}));
}

TEST(Machine, SharesCoverAllCpusWithoutOverlap) {
  for (const int parts : {1, 2, 3, 5, 8}) {
    std::set<int> all;
    std::size_t count = 0;
    for (int part = 0; part < parts; ++part) {
      const std::vector<int> share = cpu_share_of(two_packages(), part, parts);
      EXPECT_FALSE(share.empty());
      EXPECT_EQ(share.size() % 2, 0U) << "both threads of a core";
      all.insert(share.begin(), share.end());
      count += share.size();
    }
    EXPECT_EQ(all.size(), 16U) << parts;
    EXPECT_EQ(count, 16U) << parts;
  }
  EXPECT_TRUE(cpu_share_of(two_packages(), 0, 9).empty()) << "more ranks than cores";
}

TEST(Machine, AThreadStaysOnItsShare) {
  const int before = usable_cpus();
  int shares[2] = {};
  for (const int part : {0, 1}) {
    std::thread([&] {  // the affinity belongs to one thread
      bind_to_cpu_share(part, 2);
      shares[part] = usable_cpus();
    })
        .join();
  }
  if (shares[0] == before) {
    EXPECT_EQ(shares[1], before) << "one core cannot be split";
  } else {
    EXPECT_EQ(shares[0] + shares[1], before);
  }
  EXPECT_EQ(usable_cpus(), before);
  std::thread([&] {
    bind_to_cpu_share(0, before + 1);
    EXPECT_EQ(usable_cpus(), before) << "more ranks than cores share them all";
  }).join();
}

TEST(VisibleParts, AreTheNamedMigParts) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(visible_mig_devices("MIG-1"), Names{"MIG-1"});
  EXPECT_EQ(visible_mig_devices("MIG-1, MIG-GPU-2/7/0 "), (Names{"MIG-1", "MIG-GPU-2/7/0"}));
  for (const char* other : {"", "0", "0,1", "GPU-1,GPU-2", "NoDevFiles"})
    EXPECT_EQ(visible_mig_devices(other), Names{}) << other;
}

}  // namespace
}  // namespace gaussweep::driver
