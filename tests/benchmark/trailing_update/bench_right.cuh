#pragma once
/// The benchmark trailing_update.cu: what the machine can do, and whether answers are right.

#include "tests/benchmark/trailing_update/bench_common.cuh"

namespace {

template <int Inner, int Warps>
__global__ void __launch_bounds__(32 * Warps)
    instruction_rate(const double* from, double* to, int count, unsigned* clocks) {
#if __CUDA_ARCH__ >= 900
  constexpr int sums = 8;
  double c[sums][4], a[Inner / 2], b[Inner / 4];
  for (int i = 0; i < sums; ++i)
    for (int q = 0; q < 4; ++q) c[i][q] = from[threadIdx.x + 32 * (4 * i + q)];
  for (int i = 0; i < Inner / 2; ++i) a[i] = from[threadIdx.x + 1024 * (i + 1)];
  for (int i = 0; i < Inner / 4; ++i) b[i] = from[threadIdx.x + 1024 * (i + 20)] * 1e-3;
  __syncthreads();
  const unsigned begin = static_cast<unsigned>(clock64());
#pragma unroll 1
  for (int r = 0; r < count; ++r) {
#pragma unroll
    for (int i = 0; i < sums; ++i) detail::multiply_16x8(c[i], a, b);
  }
  double sum = 0;
  for (int i = 0; i < sums; ++i)
    for (int q = 0; q < 4; ++q) sum += c[i][q];
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) clocks[blockIdx.x] = static_cast<unsigned>(clock64()) - begin;
#endif
}
template <int Inner, int Warps>
bool measure_instruction(double* scratch, unsigned* clocks) {
  constexpr int count = 2000;
  cudaEvent_t e0, e1;
  MUST(cudaEventCreate(&e0));
  MUST(cudaEventCreate(&e1));
  float best = 1e30f;
  unsigned clock = 0;
  for (int r = 0; r < 4; ++r) {
    MUST(cudaEventRecord(e0, stream));
    instruction_rate<Inner, Warps>
        <<<multiprocessors, 32 * Warps, 0, stream>>>(a_data, scratch, count, clocks);
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(e1, stream));
    MUST(cudaStreamSynchronize(stream));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, e0, e1));
    best = std::min(best, ms);
    MUST(cudaMemcpy(&clock, clocks, sizeof clock, cudaMemcpyDeviceToHost));
  }
  const double operations = 2.0 * 16 * 8 * Inner * 8 * count * Warps * multiprocessors;
  say("  m16n8k%-2d, %d warps a multiprocessor: %6.1f clocks an instruction of a warp, %5.1f TFLOP/s, "
      "%.0f MHz\n",
      Inner, Warps, clock / (8.0 * count), operations / (best * 1e-3) * 1e-12, clock / (best * 1e3));
  cudaEventDestroy(e0);
  cudaEventDestroy(e1);
  return true;
}
bool machine() {
  say("\n== (0) machine: instruction alone (registers only; 8 sums a warp), copy\n");
  unsigned* clocks = nullptr;
  MUST(cudaMalloc(&clocks, 1024 * sizeof(unsigned)));
  double* const scratch = c_data;
  bool ok = measure_instruction<8, 4>(scratch, clocks) && measure_instruction<8, 8>(scratch, clocks) &&
            measure_instruction<16, 4>(scratch, clocks) && measure_instruction<16, 8>(scratch, clocks);
  cudaFree(clocks);
  cudaEvent_t e0, e1;
  MUST(cudaEventCreate(&e0));
  MUST(cudaEventCreate(&e1));
  const std::size_t bytes = 1ull << 30;
  float best = 1e30f;
  for (int r = 0; r < 4; ++r) {
    MUST(cudaEventRecord(e0, stream));
    MUST(cudaMemcpyAsync(c_data, c_data + (1ull << 27), bytes, cudaMemcpyDeviceToDevice, stream));
    MUST(cudaEventRecord(e1, stream));
    MUST(cudaStreamSynchronize(stream));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, e0, e1));
    best = std::min(best, ms);
  }
  say("  copy of 1 GiB: %.2f TB/s read and written\n", 2.0 * bytes / (best * 1e-3) * 1e-12);
  cudaEventDestroy(e0);
  cudaEventDestroy(e1);
  return ok;
}

struct Case {
  int m, n, k, a_pad, b_pad, c_pad;
};
enum class Mode { plain, reserved, shared_by_two, two_products, other_order };
const char* to_string(Mode mode) {
  switch (mode) {
    case Mode::plain:
      return "plain";
    case Mode::reserved:
      return "reserved";
    case Mode::shared_by_two:
      return "two launches";
    case Mode::two_products:
      return "two products";
    case Mode::other_order:
      return "other order";
  }
  return "?";
}
ReservedMultiprocessors every(int step, int first) {
  ReservedMultiprocessors set{};
  for (int id = first; id < multiprocessors; id += step) set.word[id / 32] |= 1u << (id % 32);
  return set;
}
bool check_case(int which, const Case& x, std::uint64_t& hash, bool& hashed, int& failures) {
  const int lda = (x.m + 1) / 2 * 2 + x.a_pad, ldb = x.k + x.b_pad, ldc = (x.m + 1) / 2 * 2 + x.c_pad;
  constexpr int before = 2, behind = 2;
  const std::int64_t c_used = static_cast<std::int64_t>(ldc) * (x.n + before + behind);
  if (static_cast<std::int64_t>(lda) * (x.k + 2) > a_count ||
      static_cast<std::int64_t>(ldb) * (x.n + 2) > b_count || c_used > c_count || c_used > reference_count) {
    say("  case too large for the buffers\n");
    return false;
  }
  // Rows of A and B beyond the matrix, and columns after it, are NaN: whatever reads them shows.
  fill_guarded<<<1024, 256, 0, stream>>>(a_data, x.m, x.k, lda, 0, 1, 11);
  fill_guarded<<<1024, 256, 0, stream>>>(b_data, x.k, x.n, ldb, 0, 1, 12);
  fill_guarded<<<1024, 256, 0, stream>>>(reference, x.m, x.n, ldc, before, behind, 13);
  MUST(cudaGetLastError());
  double* const c = c_data + static_cast<std::int64_t>(before) * ldc;
  if (!multiply_by_cublas(x.m, x.n, x.k, a_data, lda, b_data, ldb,
                          reference + static_cast<std::int64_t>(before) * ldc, ldc))
    return false;
  MUST(cudaStreamSynchronize(stream));
  for (const Mode mode :
       {Mode::plain, Mode::reserved, Mode::shared_by_two, Mode::two_products, Mode::other_order}) {
    if (mode == Mode::two_products && x.n < 16) continue;
    Contender contender;
    contender.kernel = which;
    if (mode == Mode::other_order) {
      contender.lead = 0;
      contender.prefetch = 0;
      contender.hints = 2;
      contender.group_columns = 3;
    }
    fill_guarded<<<1024, 256, 0, stream>>>(c_data, x.m, x.n, ldc, before, behind, 13);
    MUST(cudaMemsetAsync(counters, 0, sizeof(UpdateCounters), stream));
    MUST(cudaMemsetAsync(comparison, 0, sizeof(Comparison), stream));
    MUST(cudaStreamSynchronize(stream));
    UpdateJob job = prepare(contender, x.m, x.n, x.k, a_data, lda, b_data, ldb, c, ldc,
                            mode == Mode::two_products ? std::max(x.n / 3, 1) : 0);
    const Kernel& kernel = kernels[static_cast<std::size_t>(which)];
    if (mode == Mode::reserved || mode == Mode::shared_by_two) job.reserved = every(4, 1);
    const unsigned grid = kernel.grid(job, multiprocessors, 20000, 64);
    kernel.launch(job, grid, stream);
    MUST(cudaGetLastError());
    if (mode == Mode::shared_by_two) {
      UpdateJob helper = job;
      helper.reserved = ReservedMultiprocessors{};
      const unsigned helpers = kernel.grid(helper, multiprocessors, 20000, 64);
      kernel.launch(helper, helpers, second_stream);
      MUST(cudaGetLastError());
    }
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaStreamSynchronize(second_stream));
    compare<<<1024, 256, 0, stream>>>(c_data, reference, x.m, x.n, ldc, before, behind, comparison);
    MUST(cudaGetLastError());
    Comparison result{};
    MUST(cudaMemcpyAsync(&result, comparison, sizeof result, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    double difference, largest;
    std::memcpy(&difference, &result.difference, 8);
    std::memcpy(&largest, &result.largest, 8);
    const double ratio = difference / (x.k * 0x1p-52 * std::max(largest, 1.0));
    if (!hashed) {
      hash = result.hash;
      hashed = true;
    }
    const bool passed = ratio < 1 && result.nans == 0 && result.strays == 0 && result.hash == hash;
    if (!passed) ++failures;
    if (!passed || mode == Mode::plain)
      say("  %-4s %5d x %5d x %4d %-12s max diff / (k eps max) %.2e, NaN %llu, stray writes %llu, bits %s  "
          "%s\n",
          kernel.name, x.m, x.n, x.k, to_string(mode), ratio, result.nans, result.strays,
          result.hash == hash ? "same" : "DIFFERENT", passed ? "ok" : "FAILED");
  }
  return true;
}
unsigned excluded = 0;  // kernels that ended in an error before
int current_kernel = -1;
std::vector<bool> usable;
bool correctness() {
  say("\n== (a) correctness against cuBLAS (each: plain, reserved, two launches, two products, other order; "
      "all must "
      "have\n   the same bits, over kernels too; A's, B's surroundings are NaN, C's are guarded). Only plain "
      "runs and "
      "failures are printed.\n");
  const std::vector<Case> cases = {{1000, 777, 128, 6, 0, 10}, {256, 4096, 512, 0, 2, 0},
                                   {5000, 3001, 256, 4, 4, 2}, {129, 131, 16, 0, 0, 0},
                                   {17, 9, 48, 2, 2, 2},       {1, 1, 16, 0, 0, 0},
                                   {127, 3000, 112, 8, 6, 6},  {3001, 515, 1024, 2, 8, 4}};
  std::vector<std::uint64_t> hashes(cases.size());
  std::vector<bool> known(cases.size(), false);
  usable.assign(kernels.size(), false);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if ((excluded >> i & 1u) != 0) continue;
    current_kernel = static_cast<int>(i);
    int failures = 0;
    bool ran = true;
    for (std::size_t c = 0; c < cases.size() && ran; ++c) {
      std::uint64_t hash = hashes[c];
      bool hashed = known[c];
      // k16 adds in an order of its own, maybe: its bits are compared with its own first run only.
      const bool own = std::strstr(kernels[i].name, "16") != nullptr;
      if (own) hashed = false;
      ran = check_case(static_cast<int>(i), cases[c], hash, hashed, failures);
      if (own) {
        if (known[c] && hash != hashes[c] && c < 3)
          say("  (%s: other bits than k8, as may be)\n", kernels[i].name);
      } else {
        hashes[c] = hash;
        known[c] = hashed;
      }
    }
    usable[i] = ran && failures == 0;
    say("  %-4s %s\n", kernels[i].name, usable[i] ? "all ok" : ran ? "FAILED" : "NOT RUN TO THE END");
    if (!ran) return false;
  }
  return true;
}

}  // namespace
