// Tests that a Staging can take over the inputs that another Staging left on the GPU, for any pair of
// layouts. The converted inputs must equal uploaded ones.

#include "tests/kernels/method_run.hpp"
#include "tests/testing.hpp"

namespace gaussweep {
namespace {

/// Returns a method that has only the properties that Staging reads.
Method method_with(Layout layout) {
  Method method;
  method.problem = Problem::named("gesv");
  method.variant = "staged";
  method.layout = layout;
  method.answer = AnswerIn::b;
  return method;
}

/// Returns A and b of the pristine set, without the padding between lines.
template <class T>
std::vector<T> elements(Device& device, const Staging<T>& staging, std::int64_t n, std::int64_t nrhs) {
  std::vector<std::byte> bytes(staging.pristine().bytes());
  device.to_host(bytes.data(), staging.pristine().data(), bytes.size());
  std::vector<T> all;
  const auto add = [&](const StridedView<T>& view, std::int64_t cols) {
    const auto offset = reinterpret_cast<const std::byte*>(view.data) -
                        static_cast<const std::byte*>(staging.pristine().data());
    const T* const data = reinterpret_cast<const T*>(bytes.data() + offset);
    for (std::int64_t j = 0; j < cols; ++j) {
      for (std::int64_t i = 0; i < n; ++i) all.push_back(data[i * view.row_stride + j * view.col_stride]);
    }
  };
  add(staging.pristine_a(), n);
  add(staging.pristine_b(), nrhs);
  return all;
}

template <class T>
void expect_reusable_inputs(std::int64_t n, std::int64_t nrhs) {
  const std::unique_ptr<Device> device = make_cuda_device(0);
  Context context(*device);
  const Shape shape{n, n, n, nrhs, Uplo::lower};
  const Inputs<T> inputs = make_inputs<T>(Problem::named("gesv"), shape, MatrixKind::uniform);
  const InputViews<T> views = views_of(inputs);
  for (const Layout from : {Layout::column_major, Layout::row_major, Layout::augmented}) {
    for (const Layout to : {Layout::column_major, Layout::row_major, Layout::augmented}) {
      const Method first = method_with(from), second = method_with(to);
      Staging<T> previous(*device, first, /*parameters=*/{}, shape, /*sets=*/1),
          fresh(*device, second, /*parameters=*/{}, shape, /*sets=*/1);
      previous.upload(inputs);
      fresh.upload(inputs);
      Staging<T> staging(*device, second, /*parameters=*/{}, shape, /*sets=*/1, previous.release_inputs());
      EXPECT_EQ(staging.has_resident_inputs(), from == to);
      staging.upload_from(context, views);
      EXPECT_EQ(elements(*device, staging, n, nrhs), elements(*device, fresh, n, nrhs))
          << n << ", from " << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

TEST(ResidentOnGpu, ServesEveryLayout) {
  std::string why;
  if (cuda_device_count(&why) == 0) GTEST_SKIP() << "no GPU: " << why;
  for (const std::int64_t n : {1, 31, 33, 100, 1027}) {
    for (const std::int64_t nrhs : {1, 5}) {
      expect_reusable_inputs<float>(n, nrhs);
      expect_reusable_inputs<double>(n, nrhs);
    }
  }
}

}  // namespace
}  // namespace gaussweep
