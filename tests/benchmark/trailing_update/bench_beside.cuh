#pragma once
/// The benchmark trailing_update.cu: how long a panel waits beside it; two products in one launch.

#include "tests/benchmark/trailing_update/bench_places.cuh"

namespace {

__global__ void stamp_time(unsigned long long* to) {
  *to = detail::nanoseconds();
}
bool beside() {
  if (best_kernel < 0) return false;
  const Kernel& kernel = kernels[static_cast<std::size_t>(best_kernel)];
  say("\n== (e) a cluster of 16 on a stream of highest priority beside the update (m = n = 16384, k = 512): "
      "us from a stamp "
      "before it in its\n   stream to the beginning of its first and last block, 20 times; blocks spin 5 "
      "us\n");
  constexpr int times = 20;
  Stamp* stamps = nullptr;
  unsigned long long* before = nullptr;
  MUST(cudaMalloc(&stamps, times * 16 * sizeof(Stamp)));
  MUST(cudaMalloc(&before, (times + 2) * sizeof(unsigned long long)));
  std::vector<int> first, other;
  const bool placed = placement_pair(first, other);
  ReservedMultiprocessors whole_group = placed ? set_of(first) : every(8, 0);
  struct Setting {
    const char* name;
    int kind;  // 0: nothing beside it, 1: reserved set, 2: none reserved
    unsigned patience, spare;
    std::size_t shared;
  };
  for (const Setting s :
       {Setting{"alone", 0, 0, 0, 32768}, Setting{"reserved, patience 20 us", 1, 20000, 64, 32768},
        Setting{"reserved, patience 20 us, 160 KiB", 1, 20000, 64, 160 * 1024},
        Setting{"reserved, no patience", 1, 0, 0, 32768}, Setting{"none reserved", 2, 0, 0, 32768}}) {
    if (!time_left(0.5, s.name)) break;
    if (s.kind == 1 && !placed) {
      say("  %s: no cluster was placed\n", s.name);
      continue;
    }
    MUST(cudaMemset(stamps, 0, times * 16 * sizeof(Stamp)));
    MUST(cudaMemset(before, 0, (times + 2) * sizeof(unsigned long long)));
    MUST(cudaMemset(counters, 0, sizeof(UpdateCounters)));
    MUST(cudaDeviceSynchronize());
    if (s.kind != 0) {
      Contender c;
      c.kernel = best_kernel;
      UpdateJob job = prepare(c, 16384, 16384, 512, a_data, 16384, b_data, 512, c_data, 16384);
      if (s.kind == 1) job.reserved = whole_group;
      const unsigned grid = kernel.grid(job, multiprocessors, s.patience, s.spare);
      stamp_time<<<1, 1, 0, stream>>>(before + times);
      kernel.launch(job, grid, stream);
      MUST(cudaGetLastError());
      stamp_time<<<1, 1, 0, stream>>>(before + times + 1);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    for (int i = 0; i < times; ++i) {
      stamp_time<<<1, 1, 0, urgent_stream>>>(before + i);
      MUST(launch_clusters(16, 1, s.shared, urgent_stream, stamps + i * 16, 5000));
    }
    MUST(cudaDeviceSynchronize());
    std::vector<Stamp> seen(times * 16);
    std::vector<unsigned long long> stamped(times + 2);
    MUST(cudaMemcpy(seen.data(), stamps, seen.size() * sizeof(Stamp), cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(stamped.data(), before, stamped.size() * sizeof(unsigned long long),
                    cudaMemcpyDeviceToHost));
    say("  %-34s", s.name);
    std::vector<double> waits;
    double worst = 0;
    int inside = 0, elsewhere = 0;
    for (int i = 0; i < times; ++i) {
      unsigned long long begin = ~0ull, last = 0;
      for (int b = 0; b < 16; ++b) {
        const Stamp& x = seen[static_cast<std::size_t>(i * 16 + b)];
        begin = std::min(begin, x.begin);
        last = std::max(last, x.begin);
        if (!whole_group.has(x.id)) ++elsewhere;
      }
      const double wait_first =
          (static_cast<double>(begin) - static_cast<double>(stamped[static_cast<std::size_t>(i)])) * 1e-3;
      const double wait_last =
          (static_cast<double>(last) - static_cast<double>(stamped[static_cast<std::size_t>(i)])) * 1e-3;
      waits.push_back(wait_last);
      worst = std::max(worst, wait_last);
      if (stamped[static_cast<std::size_t>(i)] > stamped[times] && last < stamped[times + 1]) ++inside;
      say(" %.1f/%.1f", wait_first, wait_last);
    }
    say("\n     median %.1f, worst %.1f us; %d of %d while the update ran; %d blocks outside of the reserved "
        "set",
        median(waits), worst, inside, times, elsewhere);
    if (s.kind != 0)
      say("; update %.2f ms",
          (static_cast<double>(stamped[times + 1]) - static_cast<double>(stamped[times])) * 1e-6);
    say("\n");
  }
  cudaFree(stamps);
  cudaFree(before);
  return true;
}

bool two_products() {
  if (best_kernel < 0) return false;
  say("\n== (f) %s: the first 512 columns and the rest as two products in one launch, one after the other in "
      "two "
      "launches,\n   and both launches on two streams with counters of their own; ms\n",
      kernels[static_cast<std::size_t>(best_kernel)].name);
  const Kernel& kernel = kernels[static_cast<std::size_t>(best_kernel)];
  Contender c;
  c.kernel = best_kernel;
  for (const Shape3& x : std::vector<Shape3>{{4096, 4096, 256}, {8192, 8192, 256}, {8192, 8192, 512}}) {
    if (!time_left(0.5, "two products")) break;
    std::vector<double> once, twice, whole;
    for (int r = 0; r < 6; ++r) {
      for (int way = 0; way < 3; ++way) {
        MUST(cudaMemsetAsync(counters, 0, 2 * sizeof(UpdateCounters), stream));
        MUST(cudaEventRecord(event0, stream));
        if (way == 0 || way == 1) {
          UpdateJob job =
              prepare(c, x.m, x.n, x.k, a_data, x.m, b_data, x.k, c_data, x.m, way == 0 ? 512 : 0);
          const unsigned grid = kernel.grid(job, multiprocessors, 20000, 64);
          kernel.launch(job, grid, stream);
        } else {
          UpdateJob job = prepare(c, x.m, 512, x.k, a_data, x.m, b_data, x.k, c_data, x.m);
          unsigned grid = kernel.grid(job, multiprocessors, 20000, 64);
          kernel.launch(job, grid, stream);
          job = prepare(c, x.m, x.n - 512, x.k, a_data, x.m, b_data + 512ll * x.k, x.k, c_data + 512ll * x.m,
                        x.m);
          job.counters = counters + 1;
          grid = kernel.grid(job, multiprocessors, 20000, 64);
          kernel.launch(job, grid, stream);
        }
        MUST(cudaGetLastError());
        MUST(cudaEventRecord(event1, stream));
        MUST(cudaStreamSynchronize(stream));
        float ms = 0;
        MUST(cudaEventElapsedTime(&ms, event0, event1));
        if (r > 0) (way == 0 ? once : way == 1 ? whole : twice).push_back(ms);
      }
    }
    say("  %5d %5d %4d  two products in a launch %.3f, one product %.3f, two launches %.3f\n", x.m, x.n, x.k,
        median(once), median(whole), median(twice));
  }
  return true;
}

}  // namespace
