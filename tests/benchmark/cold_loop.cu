// The time of a run as nvbench's cold measurement takes it, beside gaussweep's own (`cache: cold`), by hand:
//
//   cold_loop METHOD N     cold_loop gemm/shared 2048, in double, defaults; prints seconds
//   cold_loop copy BYTES   a copy on the device; prints bytes read and written per second
//
// As nvbench does: wait for the device, empty the L2, start a kernel that waits for the host, queue event,
// run and event behind it, release it; at least 10 samples, until the scatter of one is below 0.5 % of their
// mean or 5 s of GPU time are spent. The figure is the mean.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/cache_flush.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/simt/cuda_check.hpp"
#include "kernels/staging/method_run.hpp"

namespace {

using namespace gaussweep;

/// Waits until the host says go, a second at most.
__global__ void wait_for_host(const volatile int* go, volatile int* gave_up) {
  const long long start = clock64();
  while (*go == 0) {
    if (clock64() - start > 2'000'000'000LL) {
      *gave_up = 1;
      return;
    }
  }
}

struct Blocker {
  Blocker() {
    GAUSSWEEP_CUDA_CHECK(
        cudaHostAlloc(reinterpret_cast<void**>(&flags), 2 * sizeof(int), cudaHostAllocMapped));
    GAUSSWEEP_CUDA_CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&on_device), flags, 0));
  }
  ~Blocker() { cudaFreeHost(flags); }
  int* flags = nullptr;
  int* on_device = nullptr;
};

double mean_seconds(Device& device, const std::function<void()>& prepare, const std::function<void()>& run) {
  auto* const stream = static_cast<cudaStream_t>(device.stream());
  Blocker blocker;
  CacheFlush flush(device);
  const auto begin = device.make_event(), end = device.make_event();
  std::vector<double> samples;
  double sum = 0;
  for (int warm = 0; warm < 2; ++warm) {
    prepare();
    run();
  }
  for (;;) {
    prepare();
    flush();
    device.synchronize();
    blocker.flags[0] = blocker.flags[1] = 0;
    wait_for_host<<<1, 1, 0, stream>>>(blocker.on_device, blocker.on_device + 1);
    GAUSSWEEP_CUDA_CHECK(cudaGetLastError());
    begin->record();
    run();
    end->record();
    *static_cast<volatile int*>(blocker.flags) = 1;
    device.synchronize();
    if (blocker.flags[1] != 0) {
      std::fprintf(stderr, "cold_loop: the host queued for longer than the blocking kernel waits\n");
      std::exit(1);
    }
    samples.push_back(end->seconds_since(*begin));
    sum += samples.back();
    const double mean = sum / static_cast<double>(samples.size());
    double squares = 0;
    for (const double s : samples) squares += (s - mean) * (s - mean);
    const double scatter = std::sqrt(squares / static_cast<double>(samples.size() - 1)) / mean;
    if (samples.size() >= 10 && (scatter < 0.005 || sum > 5)) {
      std::fprintf(stderr, "%zu samples, one scatters by %.2f %%\n", samples.size(), 100 * scatter);
      return mean;
    }
  }
}

void time_copy(Device& device, std::size_t bytes) {
  Buffer from(device, bytes), to(device, bytes);
  device.fill(from.data(), 1, bytes);
  const double seconds = mean_seconds(
      device, [] {}, [&] { device.copy(to.data(), from.data(), bytes); });
  std::printf("%.6e\n", 2 * static_cast<double>(bytes) / seconds);
}

void time_method(Device& device, const std::string& id, std::int64_t n) {
  const Registry registry = builtin_registry();
  const std::size_t slash = id.find('/');
  const auto problem = from_string<Problem>(id.substr(0, slash));
  const Method* method = problem ? registry.find(*problem, id.substr(slash + 1)) : nullptr;
  if (method == nullptr || *problem != Problem::named("gemm")) {
    std::fprintf(stderr, "cold_loop: '%s' is no method of gemm\n", id.c_str());
    std::exit(2);
  }
  Parameters parameters;
  for (const Parameter& parameter : method->parameters) parameters.set(parameter.name, parameter.fallback);
  Inputs<double> inputs;
  inputs.shape = {n, n, n, 1, Uplo::lower};
  MatrixSpec spec;
  spec.rows = spec.cols = n;
  inputs.a = generate<double>(spec);
  spec.seed = 2;
  inputs.b = generate<double>(spec);
  Context context(device);
  MethodRun<double> run(context, *method, Backend::cuda, parameters, inputs.shape);
  run.upload(inputs);
  run.warm_up();
  const double seconds = mean_seconds(
      device, [&] { run.queue(1, false); }, [&] { run.run(); });
  std::printf("%.6e\n", seconds);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: cold_loop copy BYTES | cold_loop gemm/VARIANT N\n");
    return 2;
  }
  const auto device = make_cuda_device(0);
  if (std::strcmp(words[1], "copy") == 0) {
    time_copy(*device, std::strtoull(words[2], nullptr, 10));
  } else {
    time_method(*device, words[1], std::strtoll(words[2], nullptr, 10));
  }
  return 0;
}
