// Tests HostArray, the elements of a matrix on the host, and the large blocks of memory that it reuses.
#include "kernels/core/host_array.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

TEST(HostArray, IsZeroWithoutValues) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{9} << 20}) {
    const HostArray<double> zeros(count);
    EXPECT_EQ(zeros.size(), count);
    EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](double x) { return x == 0; }));
  }
}

TEST(HostArray, TakesAVectorOverWithoutCopying) {
  std::vector<float> vector(100);
  std::iota(vector.begin(), vector.end(), 0.F);
  const float* address = vector.data();
  const HostArray<float> elements = std::move(vector);
  EXPECT_EQ(elements.data(), address);
  EXPECT_EQ(elements.size(), 100);
  EXPECT_EQ(elements.back(), 99);
}

TEST(HostArray, CopiesAreIndependent) {
  HostArray<double> first = {1, 2, 3};
  HostArray<double> second = first;
  second[1] = 7;
  EXPECT_EQ(first, (HostArray<double>{1, 2, 3}));
  first = second;
  EXPECT_EQ(first, (HostArray<double>{1, 7, 3}));
  EXPECT_NE(first.data(), second.data());
}

TEST(HostArray, MovedFromIsEmpty) {
  HostArray<double> first = {1, 2, 3};
  const HostArray<double> second = std::move(first);
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): the test is about the moved-from object
  EXPECT_EQ(first.begin(), first.end());
  EXPECT_EQ(second.size(), 3);
}

TEST(HostArray, LargeOneBeginsAtAHugePage) {
  HostArray<double> large = HostArray<double>::uninitialized(std::size_t{9} << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % (2 << 20), 0U);
  large[large.size() - 1] = 1;
  EXPECT_EQ(large.back(), 1);
}

TEST(HostArray, RefusesMoreThanTheMemory) {
  EXPECT_THROW(HostArray<double>::uninitialized(SIZE_MAX / 8), std::bad_alloc);
  EXPECT_THROW(HostArray<double>::uninitialized(SIZE_MAX), std::bad_alloc);
}

TEST(HostArray, SizeZeroIsEmpty) {
  EXPECT_TRUE(HostArray<float>().empty());
  EXPECT_TRUE(HostArray<float>(0).empty());
  EXPECT_TRUE(HostArray<float>::uninitialized(0) == HostArray<float>(std::vector<float>{}));
}

class LargeElements : public testing::Test {
 protected:
  static constexpr std::size_t count = std::size_t{1} << 20;  // 8 MiB
  static HostArray<double> large(std::size_t elements = count) {
    return HostArray<double>::uninitialized(elements);
  }
  LargeBlocks& blocks = LargeBlocks::of_process();
  ~LargeElements() override { blocks.keep_no_blocks(); }
};

TEST_F(LargeElements, AreFreedByDefault) {
  large();
  EXPECT_EQ(blocks.idle_bytes(), 0U);
  blocks.keep(0);
  large();
  EXPECT_EQ(blocks.idle_bytes(), count * sizeof(double));
  blocks.trim();
  EXPECT_EQ(blocks.idle_bytes(), 0U);
}

TEST_F(LargeElements, AreReusedIfKept) {
  blocks.keep(0);
  const double* first = nullptr;
  {
    const HostArray<double> elements = large();
    first = elements.data();
  }
  const HostArray<double> again = large(count - 1000);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(blocks.idle_bytes(), 0U);
  const HostArray<double> other = large();
  EXPECT_NE(other.data(), again.data());
}

TEST_F(LargeElements, OfAnotherSizeFreeTheKeptOnes) {
  blocks.keep(0);
  large();
  const HostArray<double> larger = large(2 * count);
  EXPECT_EQ(blocks.idle_bytes(), 0U);
  large();
  const HostArray<double> much_smaller = large(count / 2);
  EXPECT_EQ(blocks.idle_bytes(), 0U);
}

TEST_F(LargeElements, KeptBytesAreLimited) {
  constexpr std::size_t bytes = count * sizeof(double);
  blocks.keep(bytes);
  { const HostArray<double> a = large(), b = large(), c = large(), d = large(); }
  EXPECT_EQ(blocks.idle_bytes(), 3 * bytes);
  const HostArray<double> used = large();
  EXPECT_EQ(blocks.idle_bytes(), 2 * bytes);
}

TEST_F(LargeElements, ReusedOnesAreZeroOnRequest) {
  blocks.keep(0);
  {
    HostArray<double> written = large();
    std::fill(written.begin(), written.end(), 5.0);
  }
  const HostArray<double> zeros(count);
  EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](double x) { return x == 0; }));
}

}  // namespace
}  // namespace gaussweep
