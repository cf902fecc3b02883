// Tests that syncs which a signal interrupts are repeated. The test replaces fsync and fdatasync.
#include <sys/syscall.h>

#include "io/files/atomic_file.hpp"
#include "io/records/journal.hpp"
#include "tests/testing.hpp"

namespace {

/// The number of the next syncs that a signal interrupts, as can happen on file systems in user space.
int interruptions = 0;
int syncs = 0;

int sync_or_not(long number, int fd) {
  ++syncs;
  if (interruptions == 0) return static_cast<int>(::syscall(number, fd));
  --interruptions;
  errno = EINTR;
  return -1;
}

}  // namespace

// Functions of these names in the program replace those of the C library.
extern "C" int fsync(int fd) {
  return sync_or_not(SYS_fsync, fd);
}
extern "C" int fdatasync(int fd) {
  return sync_or_not(SYS_fdatasync, fd);
}

namespace gaussweep::io {
namespace {

class InterruptedSync : public ::testing::Test {
 protected:
  void SetUp() override { interruptions = syncs = 0; }
  void TearDown() override { interruptions = 0; }
  const TestFolder folder_;
};

TEST_F(InterruptedSync, OfTheJournalIsRetried) {
  JournalWriter journal(folder_ / "journal.jsonl");
  journal.append_note(note::End{});
  syncs = 0;
  interruptions = 2;
  EXPECT_NO_THROW(journal.sync());
  EXPECT_EQ(syncs, 3);
  EXPECT_EQ(read_journal(folder_ / "journal.jsonl").notes.size(), 1u);
}

TEST_F(InterruptedSync, OfAFileAndItsFolderIsRetried) {
  interruptions = 1;
  EXPECT_NO_THROW(write_atomically(folder_ / "file", "text", 4));
  EXPECT_EQ(syncs, 3) << "the file twice, and the folder";
  interruptions = 1;
  EXPECT_NO_THROW(sync_folder(folder_.folder()));
}

TEST_F(InterruptedSync, AnotherErrorIsReported) {
  EXPECT_EQ(sync_descriptor(-1), EBADF);
  EXPECT_EQ(sync_descriptor(-1, Sync::data), EBADF);
}

}  // namespace
}  // namespace gaussweep::io
