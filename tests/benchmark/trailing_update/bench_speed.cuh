#pragma once
/// The benchmark trailing_update.cu: rates, beside cuBLAS and of variants.

#include "tests/benchmark/trailing_update/bench_right.cuh"

namespace {

struct Shape3 {
  int m, n, k;
};
cudaEvent_t event0 = nullptr, event1 = nullptr;
/// ms of one call, out of `repetitions` back to back. Each has a counter of its own, set to 0 before.
bool time_once(const Contender& contender, const Shape3& x, int repetitions,
               const ReservedMultiprocessors& reserved, double& ms) {
  const int lda = x.m, ldb = x.k, ldc = x.m;
  if (contender.kernel < 0) {
    MUST(cudaEventRecord(event0, stream));
    for (int r = 0; r < repetitions; ++r)
      if (!multiply_by_cublas(x.m, x.n, x.k, a_data, lda, b_data, ldb, c_data, ldc)) return false;
    MUST(cudaEventRecord(event1, stream));
  } else {
    const Kernel& kernel = kernels[static_cast<std::size_t>(contender.kernel)];
    UpdateJob job = prepare(contender, x.m, x.n, x.k, a_data, lda, b_data, ldb, c_data, ldc);
    job.reserved = reserved;
    const unsigned grid = kernel.grid(job, multiprocessors, 20000, 64);
    MUST(cudaMemsetAsync(counters, 0, counters_count * sizeof(UpdateCounters), stream));
    MUST(cudaEventRecord(event0, stream));
    for (int r = 0; r < repetitions; ++r) {
      job.counters = counters + r;
      kernel.launch(job, grid, stream);
    }
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(event1, stream));
  }
  MUST(cudaStreamSynchronize(stream));
  float all = 0;
  MUST(cudaEventElapsedTime(&all, event0, event1));
  ms = all / repetitions;
  return true;
}
double operations(const Shape3& x) {
  return 2.0 * x.m * x.n * x.k;
}
/// Medians in TFLOP/s, by turns.
bool measure(const std::vector<Contender>& contenders, const Shape3& x, int rounds,
             std::vector<double>& rates, const std::vector<ReservedMultiprocessors>& reserved = {}) {
  const double expected = operations(x) / 50e12 * 1e3;  // ms
  const int repetitions = std::min(std::max(static_cast<int>(1.0 / expected), 1), 64);
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      double ms = 0;
      const ReservedMultiprocessors set = reserved.empty() ? ReservedMultiprocessors{} : reserved[i];
      if (!time_once(contenders[i], x, round < 0 ? 1 : repetitions, set, ms)) return false;
      if (round >= 0) times[i].push_back(ms);
    }
  }
  rates.clear();
  for (const auto& t : times) rates.push_back(operations(x) / (median(t) * 1e-3) * 1e-12);
  return true;
}
bool fill_operands() {
  fill<<<2048, 256, 0, stream>>>(a_data, a_count, 1);
  fill<<<2048, 256, 0, stream>>>(b_data, b_count, 2);
  fill<<<2048, 256, 0, stream>>>(c_data, c_count, 3);
  MUST(cudaGetLastError());
  MUST(cudaStreamSynchronize(stream));
  return true;
}

int best_kernel = -1;
bool table() {
  say("\n== (b) TFLOP/s, medians of 5 by turns (counters set to 0 outside of the time; ld = m; C is not "
      "reset)\n");
  if (!fill_operands()) return false;
  std::vector<Contender> contenders(1);
  contenders[0].name = "cuBLAS";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!usable[i]) continue;
    Contender c;
    c.name = kernels[i].name;
    c.kernel = static_cast<int>(i);
    contenders.push_back(c);
  }
  say("      m     n    k");
  for (const auto& c : contenders) say(" %8s", c.name.c_str());
  say("   best/cuBLAS\n");
  std::vector<double> logs(contenders.size(), 0);
  for (const auto& mn : std::vector<std::pair<int, int>>{
           {2048, 2048}, {4096, 4096}, {8192, 8192}, {16384, 16384}, {16384, 512}, {8192, 512}}) {
    for (const int k : {128, 256, 512, 1024}) {
      const Shape3 x{mn.first, mn.second, k};
      if (!time_left(operations(x) / 40e12 * 6 * contenders.size() + 0.1, "a line of the table")) continue;
      std::vector<double> rates;
      if (!measure(contenders, x, 5, rates)) return false;
      say("  %5d %5d %4d", x.m, x.n, x.k);
      double best = 0;
      for (std::size_t i = 0; i < rates.size(); ++i) {
        say(" %8.1f", rates[i]);
        if (i > 0) best = std::max(best, rates[i]);
        if (k <= 512) logs[i] += std::log(rates[i]);
      }
      say("   %.2f\n", best / rates[0]);
    }
  }
  double most = -1e300;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    if (logs[i] > most) {
      most = logs[i];
      best_kernel = contenders[i].kernel;
    }
  }
  if (best_kernel >= 0)
    say("  best in the geometric mean over k <= 512: %s\n",
        kernels[static_cast<std::size_t>(best_kernel)].name);
  return true;
}
bool variants_of(int which) {
  const Kernel& kernel = kernels[static_cast<std::size_t>(which)];
  say("\n== (b2) variants of %s: lead l, no prefetch of C (np), hints h (default 1), tile columns a group "
      "w\n",
      kernel.name);
  std::vector<Contender> contenders;
  const auto add = [&](const char* name, int lead, int prefetch, int hints, int width) {
    Contender c;
    c.name = name;
    c.kernel = which;
    c.lead = lead;
    c.prefetch = prefetch;
    c.hints = hints;
    c.group_columns = width;
    contenders.push_back(c);
  };
  add("default", -1, 1, 1, 0);
  if (kernel.groups > 1) {
    for (const int lead : {0, 1, 2, 4, 5, 6}) {
      static const char* const names[] = {"l0", "l1", "l2", "l3", "l4", "l5", "l6"};
      add(names[lead], lead, 1, 1, 0);
    }
  }
  add("np", -1, 0, 1, 0);
  add("h0", -1, 1, 0, 0);
  add("h2", -1, 1, 2, 0);
  add("w2", -1, 1, 1, 2);
  add("w4", -1, 1, 1, 4);
  add("w16", -1, 1, 1, 16);
  say("      m     n    k");
  for (const auto& c : contenders) say(" %7s", c.name.c_str());
  say("\n");
  for (const Shape3& x : std::vector<Shape3>{{16384, 16384, 128},
                                             {16384, 16384, 256},
                                             {16384, 16384, 512},
                                             {8192, 8192, 128},
                                             {8192, 8192, 256},
                                             {8192, 8192, 512},
                                             {16384, 512, 256},
                                             {4096, 4096, 256}}) {
    if (!time_left(operations(x) / 40e12 * 6 * contenders.size() + 0.1, "a line of the variants")) continue;
    std::vector<double> rates;
    if (!measure(contenders, x, 5, rates)) return false;
    say("  %5d %5d %4d", x.m, x.n, x.k);
    for (const double r : rates) say(" %7.1f", r);
    say("\n");
  }
  return true;
}
/// Of the best kernel, and of the two that were expected to be.
bool variants() {
  if (best_kernel < 0) return false;
  bool ok = variants_of(best_kernel);
  for (int i = 0; i < 2 && ok; ++i) {
    if (i != best_kernel && usable[static_cast<std::size_t>(i)]) ok = variants_of(i);
  }
  return ok;
}

}  // namespace
