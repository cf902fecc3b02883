// LU with look-ahead beside getrf/recursive and cuSOLVER, an experiment by hand (docs/performance.md):
//
//   look_ahead N[,N…] WIDTH[,WIDTH…] GPCS[,GPCS…] [trace]
//
// Blocks of WIDTH columns from left to right. While one is factored, the product that brings the columns
// beyond it up to date goes on beside it, on a stream of lower priority and on all multiprocessors but those
// of GPCS graphics processing clusters: trailing_update/update.cuh. What is left of it when the block is
// factored is done by all. In double, uniform matrices, medians of turns; the factors are compared with
// getrf/recursive's.

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/core/method.hpp"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/simt/cuda_check.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "tests/benchmark/trailing_update/update.cuh"

namespace {

using namespace gaussweep;
using cuda::lu::ReservedMultiprocessors;
using cuda::lu::UpdateCounters;
using cuda::lu::UpdateJob;
using cuda::lu::detail::multiprocessor;
using cuda::lu::detail::nanoseconds;

constexpr int most_multiprocessors = 160;

/// Where each block of each cluster runs. Each stays for 20 µs, so that clusters are spread.
__global__ void tell_places(unsigned* places) {
  if (threadIdx.x > 0) return;
  places[blockIdx.x] = multiprocessor();
  const unsigned long long begin = nanoseconds();
  for (int i = 0; i < 100000 && nanoseconds() - begin < 20000; ++i) __nanosleep(100);
}

/// The multiprocessors of each GPC that has room for a cluster of 16 blocks.
std::vector<std::vector<unsigned>> find_gpcs() {
  constexpr unsigned clusters = 256, size = 16;
  unsigned* places = nullptr;
  GAUSSWEEP_CUDA_CHECK(cudaMalloc(&places, clusters * size * sizeof(unsigned)));
  GAUSSWEEP_CUDA_CHECK(cudaFuncSetAttribute(tell_places, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(clusters * size);
  config.blockDim = dim3(1024);
  config.attrs = &attribute;
  config.numAttrs = 1;
  GAUSSWEEP_CUDA_CHECK(cudaLaunchKernelEx(&config, tell_places, places));
  std::vector<unsigned> seen(clusters * size);
  GAUSSWEEP_CUDA_CHECK(
      cudaMemcpy(seen.data(), places, seen.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  cudaFree(places);
  std::vector<unsigned> parent(most_multiprocessors);
  std::iota(parent.begin(), parent.end(), 0U);
  const std::function<unsigned(unsigned)> root = [&](unsigned sm) {
    return parent[sm] == sm ? sm : parent[sm] = root(parent[sm]);
  };
  for (std::size_t i = 0; i < seen.size(); ++i) parent[root(seen[i])] = root(seen[i / size * size]);
  std::map<unsigned, std::vector<unsigned>> groups;
  for (unsigned sm = 0; sm < most_multiprocessors; ++sm) groups[root(sm)].push_back(sm);
  std::vector<std::vector<unsigned>> gpcs;
  for (const auto& [first, group] : groups) {
    if (group.size() >= size) gpcs.push_back(group);
  }
  return gpcs;
}

ReservedMultiprocessors reserve(const std::vector<std::vector<unsigned>>& gpcs, int count) {
  ReservedMultiprocessors reserved{};
  for (int i = 0; i < count && i < static_cast<int>(gpcs.size()); ++i) {
    for (const unsigned sm : gpcs[static_cast<std::size_t>(i)]) reserved.word[sm / 32] |= 1U << sm % 32;
  }
  return reserved;
}

/// A device with another stream.
class OnStream final : public Device {
 public:
  OnStream(Device& device, cudaStream_t stream) : device_(device), stream_(stream) {}
  Backend backend() const override { return device_.backend(); }
  DeviceInfo info() const override { return device_.info(); }
  void* allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void release(void* pointer) noexcept override { device_.release(pointer); }
  void* allocate_host(std::size_t bytes) override { return device_.allocate_host(bytes); }
  void release_host(void* pointer) noexcept override { device_.release_host(pointer); }
  void to_device(void* to, const void* from, std::size_t bytes) override {
    device_.to_device(to, from, bytes);
  }
  void to_host(void* to, const void* from, std::size_t bytes) override { device_.to_host(to, from, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_));
  }
  void to_device_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                    std::size_t width, std::size_t rows) override {
    device_.to_device_2d(to, to_stride, from, from_stride, width, rows);
  }
  void to_host_2d(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                  std::size_t width, std::size_t rows) override {
    device_.to_host_2d(to, to_stride, from, from_stride, width, rows);
  }
  void fill(void* to, int byte, std::size_t bytes) override {
    GAUSSWEEP_CUDA_CHECK(cudaMemsetAsync(to, byte, bytes, stream_));
  }
  void synchronize() override { GAUSSWEEP_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  std::unique_ptr<Event> make_event() override { return device_.make_event(); }
  void* stream() const override { return stream_; }

 private:
  Device& device_;
  cudaStream_t stream_;
};

__global__ void note_time(unsigned long long* to) {
  *to = nanoseconds();
}

/// Moments on the device, by what they are of.
struct Trace {
  explicit Trace(bool wanted) : on(wanted) {
    if (on) GAUSSWEEP_CUDA_CHECK(cudaMalloc(&times, most * sizeof(unsigned long long)));
  }
  ~Trace() { cudaFree(times); }
  void note(cudaStream_t stream, const std::string& name) {
    if (!on || names.size() == most) return;
    note_time<<<1, 1, 0, stream>>>(times + names.size());
    names.push_back(name);
  }
  void print() {
    if (!on) return;
    std::vector<unsigned long long> seen(names.size());
    GAUSSWEEP_CUDA_CHECK(
        cudaMemcpy(seen.data(), times, seen.size() * sizeof(seen[0]), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < seen.size(); ++i)
      std::printf("  %10.1f us  %s\n", 1e-3 * static_cast<double>(seen[i] - seen[0]), names[i].c_str());
    names.clear();
  }
  static constexpr std::size_t most = 4096;
  bool on;
  unsigned long long* times = nullptr;
  std::vector<std::string> names;
};

__global__ void restart_permutation(int* rows_at, const int* pivots, int first, int count) {
  cuda::lu::restart(rows_at, pivots, first, count);
}

class LookAheadLu : public cuda::lu::RecursiveLu<double> {
  using Base = cuda::lu::RecursiveLu<double>;

 public:
  struct Side {
    cudaStream_t stream;
    cudaEvent_t ready, done;
    UpdateCounters* counters;  ///< two a block of columns
    ReservedMultiprocessors reserved;
    Trace& trace;
  };
  LookAheadLu(Context& context, double* a, std::int64_t lda, std::int64_t n, int* pivots, int* info,
              Workspace& workspace, Side side, int width)
      : Base(context, a, lda, n, pivots, info, workspace),
        side_(side),
        width_(width),
        main_(static_cast<cudaStream_t>(context.device.stream())) {
    GAUSSWEEP_CUDA_CHECK(cudaFuncSetAttribute(
        cuda::lu::update_trailing<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::shared_bytes));
  }

  void factor() {
    const int blocks = (n_ + width_ - 1) / width_;
    GAUSSWEEP_CUDA_CHECK(cudaMemsetAsync(
        side_.counters, 0, 2 * static_cast<std::size_t>(blocks) * sizeof(UpdateCounters), main_));
    cuda::simt::launch(context_, cuda::lu::start_permutations<int>, dim3(blocks_of(n_, 256)), dim3(256), 0,
                       rows_at_, n_);
    bool beside = false;  // a product goes on
    UpdateJob left{};
    for (int block = 0; block < blocks; ++block) {
      const int first = block * width_;
      const int count = std::min(width_, n_ - first);
      const int right = first + count;
      const int rest = n_ - right;
      side_.trace.note(main_, "factor " + std::to_string(block));
      Base::factor(first, count);
      side_.trace.note(main_, "factored " + std::to_string(block));
      if (beside) {
        update(main_, left, {});
        GAUSSWEEP_CUDA_CHECK(cudaStreamWaitEvent(main_, side_.done));
        side_.trace.note(main_, "products done " + std::to_string(block - 1));
      }
      beside = false;
      if (rest > 0) {
        exchange(first, count, width_, right, rest);
        side_.trace.note(main_, "exchanged " + std::to_string(block));
        solve(first, count, right, rest);
        side_.trace.note(main_, "solved " + std::to_string(block));
      }
      exchange_left(right);
      if (rest == 0) break;
      const int next = std::min(width_, rest);
      update(main_, update_of(first, count, right, next, side_.counters + 2 * block), {});
      side_.trace.note(main_, "next updated " + std::to_string(block));
      if (rest == next) continue;
      beside = true;
      left = update_of(first, count, right + next, rest - next, side_.counters + 2 * block + 1);
      GAUSSWEEP_CUDA_CHECK(cudaEventRecord(side_.ready, main_));
      GAUSSWEEP_CUDA_CHECK(cudaStreamWaitEvent(side_.stream, side_.ready));
      side_.trace.note(side_.stream, "  beside begins " + std::to_string(block));
      update(side_.stream, left, side_.reserved);
      side_.trace.note(side_.stream, "  beside ends " + std::to_string(block));
      GAUSSWEEP_CUDA_CHECK(cudaEventRecord(side_.done, side_.stream));
    }
  }

 private:
  /// The columns [begin, begin + columns) less L of the block's columns times U of its rows.
  UpdateJob update_of(int first, int count, int begin, int columns, UpdateCounters* counters) {
    const int below = first + count;
    return cuda::lu::update_job<Shape>(
        counters, cuda::lu::update_product<Shape>(encode_, at(below, first), lda_, at(first, begin), lda_,
                                                  at(below, begin), lda_, n_ - below, columns, count));
  }
  void update(cudaStream_t stream, UpdateJob job, const ReservedMultiprocessors& reserved) {
    job.reserved = reserved;
    const unsigned grid = cuda::lu::update_grid<Shape>(job, multiprocessors_);
    cuda::lu::update_trailing<Shape><<<grid, Shape::threads, Shape::shared_bytes, stream>>>(job);
    GAUSSWEEP_CUDA_CHECK(cudaGetLastError());
  }

  /// Of the parts of the recursion that end where column `end` begins: the right ones' exchanges in the left
  /// ones' columns; and permutations that are wanted again begin anew.
  void exchange_left(int end) {
    for (int wide = width_; wide < n_; wide *= 2) {
      const int slot = (end - 1) / wide;
      const int first = slot * wide;
      if (end < n_ && end % wide != 0) return;
      if (slot % 2 == 1) {
        exchange(first, end - first, wide, first - wide, wide);
      } else if (slot > 0 && end < n_ && wide > width_) {
        begin_anew(first - wide, wide);
      }
      if (end < n_ && slot % 2 == 0) return;
    }
  }

  /// The permutation of the part of `wide` columns from `first` on, which was used.
  void begin_anew(int first, int wide) {
    int level = 0;
    while (64 << level < wide) ++level;
    int* const rows_at = rows_at_ + (2 * level + first / wide % 2) * static_cast<std::int64_t>(n_);
    restart_permutation<<<1, 1024, 0, main_>>>(rows_at, pivots_, first, wide);
    GAUSSWEEP_CUDA_CHECK(cudaGetLastError());
  }

  using Shape = cuda::lu::UpdateShape<1, 1, 2, 64, 32, 8, 7, 2>;
  Side side_;
  int width_;
  cudaStream_t main_;
  cuda::lu::EncodeTensorMap encode_ = cuda::lu::tensor_map_encoder();
  int multiprocessors_ = cuda::simt::multiprocessors(context_);
};

std::vector<int> numbers(const char* text) {
  std::vector<int> found;
  std::stringstream list(text);
  for (std::string each; std::getline(list, each, ',');) found.push_back(std::atoi(each.c_str()));
  return found;
}

__global__ void fill_uniform(double* a, std::int64_t count) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    auto bits = static_cast<unsigned long long>(i) * 0x9e3779b97f4a7c15ULL + 0x1234567ULL;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebULL;
    bits ^= bits >> 31;
    a[i] = static_cast<double>(bits >> 11) * 0x1p-53;
  }
}

/// The largest difference and the largest element, as bits.
__global__ void compare(const double* a, const double* b, std::int64_t count, unsigned long long* found) {
  double most = 0, size = 0;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    const double difference = std::fabs(a[i] - b[i]);
    most = difference <= most ? most : difference;  // NaN too
    size = fmax(size, std::fabs(a[i]));
  }
  atomicMax(found, static_cast<unsigned long long>(__double_as_longlong(most)));
  atomicMax(found + 1, static_cast<unsigned long long>(__double_as_longlong(size)));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(int n, const std::vector<int>& widths, const std::vector<int>& gpc_counts,
             const std::vector<std::vector<unsigned>>& gpcs, bool traced) {
  const std::unique_ptr<Device> plain = make_cuda_device(0);
  int least = 0, greatest = 0;
  GAUSSWEEP_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t main = nullptr, side = nullptr;
  GAUSSWEEP_CUDA_CHECK(cudaStreamCreateWithPriority(&main, cudaStreamNonBlocking, greatest));
  GAUSSWEEP_CUDA_CHECK(cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, least));
  OnStream device(*plain, main);
  Context context(device);
  const std::int64_t lda = (n + 31) / 32 * 32;
  const std::int64_t elements = lda * n;
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(double);
  Buffer original(device, bytes), work(device, bytes), right(device, bytes);
  Buffer pivots(device, static_cast<std::size_t>(n) * sizeof(int)), info(device, sizeof(int));
  Buffer counters(device, 4096 * sizeof(UpdateCounters)), found(device, 2 * sizeof(unsigned long long));
  const std::size_t workspace_bytes = cuda::lu::workspace_bytes(n, sizeof(double));
  Buffer workspace_memory(device, workspace_bytes);
  auto* const a = static_cast<double*>(work.data());
  fill_uniform<<<1024, 256, 0, main>>>(static_cast<double*>(original.data()), elements);
  cudaEvent_t begin{}, end{}, ready{}, done{};
  for (cudaEvent_t* event : {&begin, &end}) GAUSSWEEP_CUDA_CHECK(cudaEventCreate(event));
  for (cudaEvent_t* event : {&ready, &done})
    GAUSSWEEP_CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  Trace no_trace(false), trace(traced);

  const auto seconds_of = [&](const std::function<void()>& run) {
    GAUSSWEEP_CUDA_CHECK(cudaMemcpyAsync(a, original.data(), bytes, cudaMemcpyDeviceToDevice, main));
    device.fill(info.data(), 0, sizeof(int));
    device.synchronize();
    GAUSSWEEP_CUDA_CHECK(cudaEventRecord(begin, main));
    run();
    GAUSSWEEP_CUDA_CHECK(cudaEventRecord(end, main));
    device.synchronize();
    float milliseconds = 0;
    GAUSSWEEP_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    return static_cast<double>(milliseconds);
  };
  const auto with_workspace = [&](auto&& use) {
    Workspace workspace(workspace_memory.data(), workspace_bytes);
    use(workspace);
  };
  auto* const pivot = static_cast<int*>(pivots.data());
  auto* const zero = static_cast<int*>(info.data());
  const auto vendor_run = [&] { vendor::getrf(vendor_handles(context), n, n, a, lda, pivot, zero); };
  const auto recursive = [&] {
    with_workspace([&](Workspace& workspace) {
      cuda::lu::RecursiveLu<double>(context, a, lda, n, pivot, zero, workspace).factor();
    });
  };
  const auto look_ahead = [&](int width, int gpc_count, Trace& seen) {
    with_workspace([&](Workspace& workspace) {
      LookAheadLu::Side beside{
          side, ready, done, static_cast<UpdateCounters*>(counters.data()), reserve(gpcs, gpc_count), seen};
      LookAheadLu(context, a, lda, n, pivot, zero, workspace, beside, width).factor();
    });
  };
  std::vector<int> expected(static_cast<std::size_t>(n)), seen(static_cast<std::size_t>(n));
  recursive();
  device.synchronize();
  seconds_of(recursive);
  GAUSSWEEP_CUDA_CHECK(cudaMemcpy(right.data(), a, bytes, cudaMemcpyDeviceToDevice));
  GAUSSWEEP_CUDA_CHECK(
      cudaMemcpy(expected.data(), pivot, expected.size() * sizeof(int), cudaMemcpyDeviceToHost));

  struct Way {
    std::string name;
    std::function<void()> run;
    std::vector<double> times;
  };
  std::vector<Way> ways{{"cusolver", vendor_run, {}}, {"recursive", recursive, {}}};
  for (const int width : widths) {
    for (const int gpc_count : gpc_counts) {
      const std::string name =
          "look-ahead " + std::to_string(width) + ", " + std::to_string(gpc_count) + " GPCs";
      ways.push_back({name, [&, width, gpc_count] { look_ahead(width, gpc_count, no_trace); }, {}});
      if (width >= n) continue;
      seconds_of(ways.back().run);
      GAUSSWEEP_CUDA_CHECK(cudaMemset(found.data(), 0, 2 * sizeof(unsigned long long)));
      compare<<<1024, 256>>>(a, static_cast<const double*>(right.data()), elements,
                             static_cast<unsigned long long*>(found.data()));
      double values[2];
      GAUSSWEEP_CUDA_CHECK(cudaMemcpy(values, found.data(), sizeof(values), cudaMemcpyDeviceToHost));
      GAUSSWEEP_CUDA_CHECK(cudaMemcpy(seen.data(), pivot, seen.size() * sizeof(int), cudaMemcpyDeviceToHost));
      const auto differing = std::mismatch(seen.begin(), seen.end(), expected.begin());
      std::printf("%6d  %s: largest difference %.3g of %.3g, pivots %s", n, name.c_str(), values[0],
                  values[1], differing.first == seen.end() ? "the same\n" : "DIFFER from column ");
      if (differing.first != seen.end()) std::printf("%td\n", differing.first - seen.begin());
      std::fflush(stdout);
    }
  }
  const int turns = n > 20000 ? 3 : 7;
  for (int turn = 0; turn < turns; ++turn) {
    for (Way& way : ways) way.times.push_back(seconds_of(way.run));
  }
  for (const Way& way : ways) {
    const double time = median(way.times);
    std::printf("%6d  %-24s %9.3f ms  %.3f times cusolver  %.1f TFLOP/s\n", n, way.name.c_str(), time,
                median(ways.front().times) / time, 2e-9 / 3 * n * static_cast<double>(n) * n / time);
  }
  if (traced) {
    seconds_of([&] { look_ahead(widths.front(), gpc_counts.front(), trace); });
    trace.print();
  }
  std::fflush(stdout);
  for (cudaEvent_t event : {begin, end, ready, done}) cudaEventDestroy(event);
  cudaStreamDestroy(main);
  cudaStreamDestroy(side);
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "look_ahead N[,N...] WIDTH[,WIDTH...] GPCS[,GPCS...] [trace]\n");
    return 2;
  }
  try {
    const auto gpcs = find_gpcs();
    for (const auto& gpc : gpcs) {
      std::printf("GPC:");
      for (const unsigned sm : gpc) std::printf(" %u", sm);
      std::printf("\n");
    }
    for (const int n : numbers(words[1])) measure(n, numbers(words[2]), numbers(words[3]), gpcs, count > 4);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "look_ahead: %s\n", e.what());
    return 1;
  }
  return 0;
}
