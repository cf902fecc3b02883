// Tests the cache of device buffers (kernels/device/scratch.hpp).
#include "kernels/device/scratch.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

double no_clock() {
  return 0;
}

class ScratchTest : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = make_host_device(Backend::emulated, no_clock);
  Context context_{*device_};
  Scratch& scratch_ = scratch_of(context_);
};

TEST_F(ScratchTest, ReturnedPiecesAreReused) {
  const char* first = nullptr;
  {
    const Scratch::PooledBuffer piece = scratch_.take(5000);
    first = piece.as<char>();
    const Scratch::PooledBuffer other = scratch_.take(5000);
    EXPECT_NE(other.as<char>(), first) << "it is in use";
  }
  const Scratch::PooledBuffer again = scratch_.take(8000), more = scratch_.take(6000);
  EXPECT_TRUE(again.as<char>() == first || more.as<char>() == first);
  EXPECT_EQ(&scratch_of(context_), &scratch_) << "one per context";
}

TEST_F(ScratchTest, PiecesHaveTheRequestedSize) {
  for (const std::size_t bytes : {0u, 1u, 4096u, 4097u, (1u << 22) - 1, (1u << 22) + 1, 6000000u}) {
    const Scratch::PooledBuffer piece = scratch_.take(bytes);
    std::fill_n(piece.as<unsigned char>(), bytes,
                static_cast<unsigned char>(1));  // sanitizers report writes beyond the end
    scratch_.free_large();
  }
}

TEST_F(ScratchTest, LargePiecesAreNotKept) {
  { const Scratch::PooledBuffer small = scratch_.take(5000), large = scratch_.take(6000000); }
  EXPECT_EQ(scratch_.idle_bytes(), 8192u + 6000000u);
  scratch_.free_large();
  EXPECT_EQ(scratch_.idle_bytes(), 8192u);
}

}  // namespace
}  // namespace gaussweep
