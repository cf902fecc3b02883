// Tests the results of a journal that several starts of a run wrote.

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

TEST(JournalResults, ARunResumedWithOtherThreadsHasTwoHosts) {
  io::JournalContents journal;
  for (const std::int64_t threads : {2, 1, 2}) {
    io::HostRow row;
    row.host = "node1";
    row.cpu = "Xeon";
    row.blas_threads = threads;
    journal.notes.push_back(io::note::Host{row});
    io::Record record;
    record.key = std::to_string(journal.notes.size());
    record.host = "node1";
    journal.records.push_back(record);
    journal.notes_before.push_back(journal.notes.size());
  }
  const io::Results results = results_of(std::move(journal));
  ASSERT_EQ(results.hosts.size(), 2U);
  EXPECT_EQ(results.hosts[1].host, "node1 (1 thread)");
  EXPECT_EQ(results.hosts[1].blas_threads, 1);
  EXPECT_EQ(results.records[0].host, "node1");
  EXPECT_EQ(results.records[1].host, "node1 (1 thread)");
  EXPECT_EQ(results.records[2].host, "node1");
}

TEST(JournalResults, ANewVersionOfALibraryReplacesTheTrialsThatItRepeats) {
  io::JournalContents journal;
  for (const auto& [key, method] :
       {std::pair("old", "mine"), std::pair("new", "mine"), std::pair("other", "gone")}) {
    io::Record record;
    record.key = key;
    record.method = method;
    record.library = "mine.so";
    record.library_digest = key == std::string("new") ? "2b" : "1a";
    journal.records.push_back(record);
    journal.notes_before.push_back(0);
  }
  journal.notes.push_back(io::note::Vanished{{"old", "other"}});
  const io::Results results = results_of(std::move(journal));
  ASSERT_EQ(results.records.size(), 2U);
  EXPECT_EQ(results.records[0].key, "new");
  EXPECT_EQ(results.records[1].key, "other") << "nothing replaced it";
}

}  // namespace
}  // namespace gaussweep::driver
