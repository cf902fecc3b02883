// Tests that the name of the current step survives the death of its process.

#include "driver/system/step_note.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

TEST(StepNote, SurvivesItsWriter) {
  const StepNote note = StepNote::make();
  ASSERT_GE(note.descriptor(), 10) << "above the descriptors that a child gets";
  EXPECT_EQ(note.read(), "");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    StepNote note_in_child = StepNote::from_descriptor(::dup(note.descriptor()));
    note_in_child.write("upload");
    note_in_child.write("warm-up");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(note.read(), "warm-up");
}

TEST(StepNote, TruncatesALongStep) {
  StepNote note = StepNote::make();
  note.write(std::string(100, 'x'));
  EXPECT_EQ(note.read(), std::string(31, 'x'));
  note.write("");
  EXPECT_EQ(note.read(), "");
}

TEST(StepNote, WithoutAPageKeepsNothing) {
  StepNote none;
  none.write("samples");
  EXPECT_EQ(none.read(), "");
  EXPECT_EQ(none.descriptor(), -1);
  EXPECT_EQ(StepNote::from_descriptor(-1).read(), "");
}

TEST(StepNote, RefusesADescriptorOfAnotherKind) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  StepNote note = StepNote::from_descriptor(ends[0]);
  note.write("samples");
  EXPECT_EQ(note.read(), "");
  ::close(ends[1]);
}

}  // namespace
}  // namespace gaussweep::driver
