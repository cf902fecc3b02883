// Tests that the difference of two answers is the same wherever each answer is: on the device or on the host.

#include "driver/worker/cached_inputs.hpp"
#include "tests/kernels/method_run.hpp"
#include "tests/kernels/short_of_memory.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {
namespace {

class ComparedAnswers : public testing::Test {
 protected:
  static constexpr std::int64_t n = 150;  // too large for the host's fast path
  ComparedAnswers() {
    for (HeldAnswer<double>* held : {&own, &reference}) {
      held->answer.x = HostMatrix<double>(n, n);
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i)
          held->answer.x(i, j) =
              1.0 / static_cast<double>(1 + i + 2 * j) + (held == &own ? 1e-9 * double(i % 7) : 0);
      }
    }
    norm = norm_of_answer(potrf, shape, reference.answer);
    expected = difference(potrf, shape, own.answer, reference.answer, norm);
  }
  void put_on_device(HeldAnswer<double>& held) {
    const HostMatrix<double>& x = held.answer.x;
    held.x = copy_on_device<double>(context, {x.data.data(), 1, n}, {n, n});
    ASSERT_TRUE(held.is_on_device());
    held.free_host_copy();
    ASSERT_TRUE(held.answer.x.empty());
  }
  void expect_same_difference() {
    EXPECT_EQ(norm_of(context, potrf, shape, reference), norm);
    const Difference actual = difference_of(context, potrf, shape, own, reference, norm);
    EXPECT_EQ(actual.largest, expected.largest);
    EXPECT_EQ(actual.largest_relative, expected.largest_relative);
    EXPECT_EQ(actual.mean_relative, expected.mean_relative);
    EXPECT_EQ(actual.mean_absolute, expected.mean_absolute);
  }
  const Problem potrf = Problem::named("potrf");
  const Shape shape{n, n, n, 1, Uplo::lower};
  LimitedAllocation device{cpu(Backend::emulated), std::size_t(-1)};
  Context context{device};
  HeldAnswer<double> own, reference;
  double norm = 0;
  Difference expected{};
};

TEST_F(ComparedAnswers, CompareOnTheHost) {
  EXPECT_GT(expected.largest, 0);
  expect_same_difference();
}

TEST_F(ComparedAnswers, CompareOnTheDevice) {
  put_on_device(own);
  put_on_device(reference);
  expect_same_difference();
  EXPECT_TRUE(own.answer.x.empty()) << "the host did not need it";
}

TEST_F(ComparedAnswers, CompareWithOneOnTheDevice) {
  put_on_device(own);
  expect_same_difference();
  own.answer.x = HostMatrix<double>::uninitialized(n, n);
  device.to_host(own.answer.x.data.data(), own.x.data(), own.x.bytes());
  own.x.reset();
  put_on_device(reference);
  expect_same_difference();
}

TEST_F(ComparedAnswers, CompareOnADeviceWithoutRoomForTheOther) {
  put_on_device(reference);
  device.limit = 1000;
  expect_same_difference();
  EXPECT_GT(device.refused, 0);
  EXPECT_FALSE(reference.answer.x.empty());
}

TEST_F(ComparedAnswers, StayOnTheHostIfSmallOrWithoutRoom) {
  EXPECT_FALSE(copy_on_device<double>(context, {own.answer.x.data.data(), 1, 128}, {128, 128}).data());
  device.limit = 1000;
  EXPECT_FALSE(copy_on_device<double>(context, {own.answer.x.data.data(), 1, n}, {n, n}).data());
  own.free_host_copy();
  EXPECT_FALSE(own.answer.x.empty());
}

}  // namespace
}  // namespace gaussweep::driver
