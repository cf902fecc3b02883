// Tests the names of statuses, and names of later versions.
#include "io/records/status.hpp"
#include "tests/testing.hpp"

namespace gaussweep::io {
namespace {

TEST(Status, NamesHaveTheDocumentedOrder) {
  EXPECT_EQ(status_names(), (std::vector<std::string>{"pass", "suspect", "failed", "diverged", "skipped",
                                                      "timeout", "crashed", "oom", "error"}));
  for (std::size_t i = 0; i < status_names().size(); ++i)
    EXPECT_EQ(status_named(status_names()[i]), static_cast<Status>(i)) << status_names()[i];
}

TEST(Status, AnUnknownNameEqualsNoStatus) {
  EXPECT_FALSE(status_named("lost"));
  EXPECT_FALSE(status_named(""));
  const std::string later = "lost";
  EXPECT_TRUE(later != Status::error);
  EXPECT_FALSE(later == Status::error);
  EXPECT_TRUE(Status::oom == "oom");
  EXPECT_TRUE(Status::oom != "OOM");
}

}  // namespace
}  // namespace gaussweep::io
