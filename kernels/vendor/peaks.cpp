/// Measures the peak rates of a device: copy bandwidth and the rates of the vendor's GEMM.

#include "kernels/vendor/peaks.hpp"

#include <algorithm>

#include "kernels/vendor/blas.hpp"
#ifdef GAUSSWEEP_HAS_CUDA
#include "kernels/vendor/cuda_blas.hpp"
#endif

namespace gaussweep {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// As a float, such bytes are 0.75; as a double they are 0.0005. Products therefore neither overflow nor
/// underflow.
constexpr int filler_byte = 0x3f;

/// Returns the memory that a measurement may use: at most a quarter of the free memory.
std::size_t memory_limit(const Device& device) {
  const std::size_t free_bytes = device.info().free_bytes;
  return free_bytes == 0 ? 512 * mebibyte : std::min(free_bytes / 4, 2048 * mebibyte);
}

/// Returns the seconds of `work` on the device's stream.
template <class Work>
double seconds_of(Device& device, Work&& work) {
  const auto start = device.make_event();
  const auto stop = device.make_event();
  start->record();
  work();
  stop->record();
  return stop->seconds_since(*start);
}

/// Runs `work` at least three times, and up to 100 times within `budget` seconds. Returns `amount` /
/// (shortest time).
template <class Work>
double best_rate(Device& device, double amount, double budget, Work&& work) {
  double best = 0;
  double spent = 0;
  for (int run = 0; run < 3 || (spent < budget && run < 100); ++run) {
    const double seconds = seconds_of(device, work);
    if (seconds > 0) best = std::max(best, amount / seconds);
    spent += seconds;
  }
  return best;
}

/// Returns the rate of copies within the device: bytes read plus bytes written, per second. `budget`: the
/// seconds that the measurement may take. The buffers exceed the caches if the budget allows.
double copy_rate(Device& device, double budget) {
  const std::size_t max_bytes = std::max<std::size_t>(memory_limit(device) / 2, mebibyte);
  for (std::size_t bytes = std::min(max_bytes, 16 * mebibyte);; bytes = std::min(max_bytes, bytes * 4)) {
    const Buffer from(device, bytes);
    const Buffer to(device, bytes);
    const auto copy = [&] { device.copy(to.data(), from.data(), bytes); };
    const double first_seconds = seconds_of(device, [&] {  // touches every page before the timed copies
      device.fill(from.data(), filler_byte, bytes);
      device.fill(to.data(), /*byte=*/0, bytes);
      copy();
    });
    const double run_seconds = seconds_of(device, copy);
    // Ends if the first run and four more runs with the next buffer would exceed half of the budget. Each of
    // them takes four times as long.
    if (bytes == max_bytes || (first_seconds + run_seconds * 4) * 4 > budget / 2)
      return best_rate(device, 2.0 * bytes, budget / 2, copy);
  }
}

/// Computes C = A B (n x n) with the vendor's library on the buffers' device.
template <class T>
void vendor_product([[maybe_unused]] Context& context, std::int64_t n, const T* a, const T* b, T* c) {
  using namespace vendor;
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) {
    gemm(vendor_handles(context), Op::none, Op::none, n, n, n, T(1), a, n, b, n, T(0), c, n);
    return;
  }
#endif
  gemm(Op::none, Op::none, n, n, n, T(1), a, n, b, n, T(0), c, n);
}

/// Returns the rate of the vendor's product of n x n matrices in operations per second. It doubles n until
/// the next n would exceed `budget` seconds or the memory limit.
template <class T>
double gemm_rate(Context& context, double budget) {
  Device& device = context.device;
  const std::size_t max_bytes = memory_limit(device);
  constexpr std::int64_t largest = 8192;
  for (std::int64_t n = 256;; n *= 2) {
    const std::size_t bytes = static_cast<std::size_t>(n * n) * sizeof(T);
    const Buffer a(device, bytes);
    const Buffer b(device, bytes);
    const Buffer c(device, bytes);
    const auto product = [&] {
      vendor_product(context, n, static_cast<const T*>(a.data()), static_cast<const T*>(b.data()),
                     static_cast<T*>(c.data()));
    };
    product();  // warm-up: the library creates handles and threads, and loads its kernels
    const double first_seconds = seconds_of(device, [&] {
      device.fill(a.data(), filler_byte, bytes);
      device.fill(b.data(), filler_byte, bytes);
      product();
    });
    const double run_seconds = seconds_of(device, product);
    // A run with the next n takes eight times as long, and at least three timed runs are needed.
    const bool last =
        n == largest || 3 * 4 * bytes > max_bytes || (first_seconds + run_seconds * 5) * 8 > budget;
    if (last) return best_rate(device, 2.0 * n * n * n, budget / 4, product);
  }
}

}  // namespace

Peaks measure_peaks(Context& context, double seconds) {
  Peaks peaks;
  peaks.copy_bytes_per_second = copy_rate(context.device, seconds / 4);
  peaks.gemm_flops_float = gemm_rate<float>(context, seconds / 3);
  peaks.gemm_flops_double = gemm_rate<double>(context, seconds / 3);
  return peaks;
}

}  // namespace gaussweep
