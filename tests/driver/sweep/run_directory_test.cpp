// Tests the locks, the journal and the results file of a run directory.

#include "driver/sweep/run_directory.hpp"

#include <sys/syscall.h>

#include "driver/base/errors.hpp"
#include "driver/summary/sweep_status.hpp"
#include "io/files/errors.hpp"
#include "io/records/results.hpp"
#include "tests/io/records/record_samples.hpp"
#include "tests/testing.hpp"

namespace {

/// The first `passing_locks` calls of flock succeed; the next `failing_locks` calls fail with `lock_error`.
int lock_error = 0, passing_locks = 0, failing_locks = 0;
/// Called before the next lock is taken.
std::function<void()> before_lock;

}  // namespace

// A function of this name in the program replaces the one of the C library.
extern "C" int flock(int fd, int operation) {
  if (before_lock) std::exchange(before_lock, nullptr)();
  if (failing_locks == 0 || passing_locks-- > 0) return static_cast<int>(::syscall(SYS_flock, fd, operation));
  passing_locks = 0;
  --failing_locks;
  errno = lock_error;
  return -1;
}

namespace gaussweep::driver {
namespace {

io::Record record_of(const std::string& key) {
  io::Record record;
  record.key = key;
  record.status = "pass";
  return record;
}

class RunDirectoryFiles : public ::testing::Test {
 protected:
  void TearDown() override {
    failing_locks = passing_locks = 0;
    before_lock = nullptr;
  }
  std::string refusal_of(int error) const {
    lock_error = error;
    failing_locks = 1;
    return message_of<io::StorageError>([&] { const RunDirectory directory(folder_ / "run", true); });
  }
  const TestFolder folder_;
};

TEST_F(RunDirectoryFiles, RefusesAFileSystemWithoutLocksAndNamesTheRemedy) {
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP})
    EXPECT_THAT(refusal_of(error), HasSubstr("Lustre needs the mount option flock"));
  EXPECT_THAT(refusal_of(EIO), HasSubstr("Input/output error"));
}

TEST_F(RunDirectoryFiles, RetriesAnInterruptedLockAndStartsAfterARefusal) {
  refusal_of(ENOLCK);
  EXPECT_EQ(refusal_of(EINTR), "");
}

TEST_F(RunDirectoryFiles, NewRunIsRefusedIfAnotherOneWasFaster) {
  const auto run = folder_ / "run";
  before_lock = [&] { set_file_text(run / "plan.yaml", "of the other"); };
  EXPECT_THROW(RunDirectory(run, false), UsageError);
  EXPECT_EQ(file_text(run / "plan.yaml"), "of the other");
}

TEST_F(RunDirectoryFiles, LocksTheJournalToo) {
  const auto run = folder_ / "run";
  RunDirectory directory(run, false);
  std::filesystem::remove(run / "lock");
  EXPECT_TRUE(is_locked(run / "journal.jsonl"));
  lock_error = EIO;   // ends the wait for the journal's lock
  passing_locks = 2;  // the new file `lock`, and the first attempt on the journal
  failing_locks = 1;
  EXPECT_THROW(RunDirectory(run, true), io::StorageError);
}

TEST_F(RunDirectoryFiles, RelocksAReplacedLockFile) {
  const auto run = folder_ / "run";
  std::filesystem::create_directories(run);
  before_lock = [&] { std::filesystem::remove(run / "lock"); };
  const RunDirectory directory(run, false);
  EXPECT_TRUE(is_locked(run / "lock"));
}

TEST_F(RunDirectoryFiles, AppendsNothingToAReplacedJournal) {
  const auto journal = folder_ / "run" / "journal.jsonl";
  RunDirectory directory(folder_ / "run", false);
  directory.append(record_of("a"));
  directory.sync();
  std::filesystem::rename(journal, folder_ / "moved");
  set_file_text(journal, "");
  const std::string before = file_text(folder_ / "moved");
  directory.append(record_of("b"));
  EXPECT_THROW(directory.flush(), io::StorageError);
  EXPECT_EQ(file_text(folder_ / "moved"), before);
  EXPECT_EQ(file_text(journal), "");
}

TEST_F(RunDirectoryFiles, WritesDueResultsInTheBackground) {
  const auto results = folder_ / "run" / "results.h5";
  {
    RunDirectory directory(folder_ / "run", false, 0);
    directory.write_results(false);
    EXPECT_FALSE(std::filesystem::exists(results)) << "there is nothing to write yet";
    directory.append(record_of("a"));
    directory.write_results(false);
  }
  EXPECT_EQ(io::read_results(results).records.size(), 1U);
  RunDirectory again(folder_ / "run", true);
  again.append(record_of("b"));
  again.write_results(false);
  EXPECT_EQ(io::read_results(results).records.size(), 1U) << "ten seconds have not passed";
  again.write_results(true);
  EXPECT_EQ(io::read_results(results).records.size(), 2U);
}

TEST_F(RunDirectoryFiles, ResultsContainWhatTheJournalHas) {
  for (const bool now : {false, true}) {
    const auto run = folder_ / (now ? "now" : "due");
    RunDirectory directory(run, false, 0);
    directory.append(record_of("a"));
    directory.write_results(now);
    while (!std::filesystem::exists(run / "results.h5")) std::this_thread::yield();
    EXPECT_EQ(io::read_journal(run / "journal.jsonl").records.size(), 1U);
  }
}

TEST_F(RunDirectoryFiles, WritesNoResultsWithoutAJournalOnDisk) {
  const auto run = folder_ / "run";
  RunDirectory directory(run, false, 0);
  directory.append(record_of("a"));
  std::filesystem::remove(run / "journal.jsonl");
  EXPECT_THROW(directory.write_results(false), io::StorageError);
  EXPECT_THROW(directory.write_results(true), io::StorageError);
  EXPECT_FALSE(std::filesystem::exists(run / "results.h5"));
}

TEST_F(RunDirectoryFiles, ReportsAFailedResultsWriteLater) {
  RunDirectory directory(folder_ / "run", false, 0);
  // a file cannot be renamed over a folder
  std::filesystem::create_directory(folder_ / "run" / "results.h5");
  directory.append(record_of("a"));
  directory.write_results(false);
  EXPECT_THROW(directory.write_results(true), io::StorageError);
}

TEST_F(RunDirectoryFiles, RecordsAreDurableAfterTheirSyncIsSettled) {
  RunDirectory directory(folder_ / "run", false);
  directory.append(record_of("a"));
  directory.begin_sync();
  directory.append(record_of("b"));
  while (!directory.is_settled()) std::this_thread::yield();
  EXPECT_EQ(directory.safe_records(), 1U);
  directory.sync();
  EXPECT_EQ(directory.safe_records(), 2U);
}

}  // namespace
}  // namespace gaussweep::driver
