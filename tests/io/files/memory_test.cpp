// Tests the free memory and its limit: control groups of batch systems and containers, and process limits.
#include "io/files/memory.hpp"

#include "io/matrix/matrix_limits.hpp"
#include "tests/io/matrix/matrix_samples.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

/// Control groups as the system presents them, in a folder.
class GroupMemory : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text << "\n";
  }
  Memory memory() const { return group_memory(folder_ / "groups", folder_ / "top"); }
  double free_bytes() const { return memory().free; }
  const TestFolder folder_;
};

TEST_F(GroupMemory, IsThatOfTheTightestParentGroup) {
  put("groups", "0::/slurm/job_1/task_0");
  put("top/slurm/memory.max", "max");
  put("top/slurm/memory.current", "900");
  put("top/slurm/job_1/memory.max", "1000");
  put("top/slurm/job_1/memory.current", "600");
  put("top/slurm/job_1/task_0/memory.max", "5000");
  put("top/slurm/job_1/task_0/memory.current", "600");
  EXPECT_EQ(free_bytes(), 400);
  EXPECT_EQ(memory().limit, 1000);
}

TEST_F(GroupMemory, CountsCachedFilesAsFree) {
  put("groups", "0::/");
  put("top/memory.max", "1000");
  put("top/memory.current", "990");
  put("top/memory.stat", "anon 100\nfile 890\ninactive_file 600\nactive_file 200");
  EXPECT_EQ(free_bytes(), 810);
}

TEST_F(GroupMemory, ReadsVersionOne) {
  put("groups", "5:cpu,cpuacct:/other\n4:hugetlb,memory:/job_1\n0::/");
  put("top/memory/memory.limit_in_bytes", "9223372036854771712");
  put("top/memory/memory.usage_in_bytes", "100");
  put("top/memory/job_1/memory.limit_in_bytes", "1000");
  put("top/memory/job_1/memory.usage_in_bytes", "700");
  put("top/memory/job_1/memory.stat", "inactive_file 1\ntotal_inactive_file 50");
  EXPECT_EQ(free_bytes(), 350);
  EXPECT_EQ(memory().limit, 1000);
}

TEST_F(GroupMemory, IsTheLimitIfCachesExceedTheUsage) {
  put("groups", "4:memory:/");
  put("top/memory/memory.limit_in_bytes", "9223372036854771712");
  put("top/memory/memory.usage_in_bytes", "100000");
  put("top/memory/memory.stat", "total_inactive_file 90000\ntotal_active_file 20000");
  EXPECT_EQ(free_bytes(), 9223372036854771712.0);
}

TEST_F(GroupMemory, InAContainerUsesItsTopGroup) {
  put("groups", "4:memory:/docker/0123456789");
  put("top/memory/memory.limit_in_bytes", "1000");
  put("top/memory/memory.usage_in_bytes", "1200");
  EXPECT_EQ(free_bytes(), 0) << "usage above the limit leaves 0";
}

TEST_F(GroupMemory, WithoutGroupsIsUnlimited) {
  EXPECT_TRUE(std::isinf(free_bytes()));
  EXPECT_TRUE(std::isinf(memory().limit));
  put("groups", "0::/user.slice\nnonsense");
  EXPECT_TRUE(std::isinf(free_bytes()));
}

TEST(ProcessMemory, StaysWithinTheProcessLimits) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer itself needs more address space than these limits leave";
#endif
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    const pid_t child = start([resource] {
      constexpr double max_bytes = 0x1p30;
      rlimit limit{};
      getrlimit(resource, &limit);
      limit.rlim_cur = static_cast<rlim_t>(max_bytes);
      if (setrlimit(resource, &limit) != 0) return 1;
      const Memory memory = usable_memory();
      if (memory.limit > max_bytes || memory.free >= max_bytes) return 2;
      if (too_large(20000, 20000).empty()) return 3;  // 3 GiB
      return too_large(1000, 1000).empty() ? 0 : 4;
    });
    EXPECT_EQ(status_of(child), 0) << resource;
  }
}

}  // namespace
}  // namespace gaussweep::io
