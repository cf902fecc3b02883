#include "driver/results/journal_results.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

std::string dirty_after(const std::vector<bool>& starts) {
  io::JournalContents journal;
  for (const bool is_dirty : starts) {
    io::note::Run run;
    run.provenance = {{"dirty", is_dirty}};
    journal.notes.emplace_back(run);
  }
  return results_of(std::move(journal)).attributes.at("dirty");
}

TEST(JournalResults, RememberUncommittedChangesOfEarlierStarts) {
  EXPECT_EQ(dirty_after({true, false}), "true");
  EXPECT_EQ(dirty_after({false, true}), "true");
  EXPECT_EQ(dirty_after({false, false}), "false");
}

}  // namespace
}  // namespace gaussweep::driver
