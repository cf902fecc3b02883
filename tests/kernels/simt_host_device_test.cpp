/// Tests the CPU as a device, and the messages of a build or machine without a GPU.

#include "kernels/core/errors.hpp"
#include "kernels/device/device.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

double ticks = 0;
double count_up() {
  return ticks += 0.25;
}

TEST(HostDevice, DescribesItself) {
  const auto device = make_host_device(Backend::emulated, count_up, "Some CPU");
  EXPECT_EQ(device->backend(), Backend::emulated);
  EXPECT_EQ(device->stream(), nullptr);
  const DeviceInfo info = device->info();
  EXPECT_EQ(std::tuple(info.name, info.uuid, info.capability), std::tuple("Some CPU", "", 0));
  EXPECT_GT(info.total_bytes, std::size_t{1} << 27);
  EXPECT_GT(info.free_bytes, 0u);
  EXPECT_LT(info.free_bytes, info.total_bytes);
  EXPECT_EQ(make_host_device(Backend::host, count_up)->info().multiprocessors, 0);
  EXPECT_THROW(make_host_device(Backend::cuda, count_up), std::invalid_argument);
}

TEST(HostDevice, AllocatesAlignedMemoryOrThrows) {
  const auto device = make_host_device(Backend::host, count_up);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const Buffer buffer(*device, bytes);
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0u);
  }
  EXPECT_THROW(Buffer(*device, std::size_t{1} << 60), OutOfMemory);
  const std::string message = message_of<OutOfMemory>([&] { device->allocate(std::size_t{1} << 60); });
  EXPECT_NE(message.find("1152921504606846976 bytes"), std::string::npos) << message;
}

TEST(HostDevice, CopiesAndFills) {
  const auto device = make_host_device(Backend::host, count_up);
  const std::vector<int> values{1, 2, 3, 4, 5, 6};
  const Buffer a(*device, 24), b(*device, 24);
  device->to_device(a.data(), values.data(), 24);
  device->copy(b.data(), a.data(), 24);
  std::vector<int> back(6);
  device->to_host(back.data(), b.data(), 24);
  EXPECT_EQ(back, values);
  device->fill(b.data(), 0xff, 8);
  device->to_host(back.data(), b.data(), 24);
  EXPECT_EQ(back, (std::vector<int>{-1, -1, 3, 4, 5, 6}));
  device->copy(nullptr, nullptr, 0);
  device->fill(nullptr, 0, 0);
  device->synchronize();
}

TEST(HostDevice, CopiesRowsWithStrides) {
  const auto device = make_host_device(Backend::host, count_up);
  const std::vector<int> values{1, 2, 9, 3, 4, 9, 5, 6, 9};
  const Buffer packed(*device, 24);
  device->to_device_2d(packed.data(), 8, values.data(), 12, 8, 3);
  std::vector<int> back(6);
  device->to_host(back.data(), packed.data(), 24);
  EXPECT_EQ(back, (std::vector<int>{1, 2, 3, 4, 5, 6}));
  std::vector<int> wide(12, 7);
  device->to_host_2d(wide.data(), 16, packed.data(), 8, 8, 3);
  EXPECT_EQ(wide, (std::vector<int>{1, 2, 7, 7, 3, 4, 7, 7, 5, 6, 7, 7}));
}

TEST(HostDevice, EventsReadTheGivenClock) {
  const auto device = make_host_device(Backend::host, count_up);
  const auto first = device->make_event(), second = device->make_event();
  first->record();
  count_up();
  second->record();
  EXPECT_EQ(second->seconds_since(*first), 0.5);
  EXPECT_THROW(make_host_device(Backend::host, nullptr)->make_event(), std::logic_error);
}

TEST(CudaDevice, ReportsWhyThereIsNone) {
  std::string why;
  const int count = cuda_device_count(&why);
  EXPECT_EQ(count == 0, !why.empty()) << why;
  EXPECT_EQ(cuda_device_count(), count);
  EXPECT_THROW(make_cuda_device(count), DeviceError);
  EXPECT_THROW(make_cuda_device(-1), DeviceError);
}

}  // namespace
}  // namespace gaussweep
