#pragma once
/// The benchmark trailing_update.cu: where clusters lie, and rates with multiprocessors reserved.

#include "tests/benchmark/trailing_update/bench_speed.cuh"

namespace {

struct Stamp {
  unsigned long long begin, end;
  unsigned id, cluster;
};
/// Notes where and when each block ran; spins `ns`, in a loop that ends in any case.
__global__ void __launch_bounds__(128)
    note(Stamp* stamps, unsigned long long ns, unsigned blocks_in_cluster) {
  extern __shared__ unsigned char unused_shared[];
  if (threadIdx.x == 0) {
    const unsigned long long begin = detail::nanoseconds();
    unsigned long long now = begin;
    for (int i = 0; i < 1 << 14 && now - begin < ns; ++i) {
      __nanosleep(100);
      now = detail::nanoseconds();
    }
    stamps[blockIdx.x] = {begin, now, detail::multiprocessor(), blockIdx.x / blocks_in_cluster};
  }
}
cudaError_t launch_clusters(unsigned blocks, unsigned clusters, std::size_t shared_bytes, cudaStream_t on,
                            Stamp* to, unsigned long long ns) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks * clusters);
  config.blockDim = dim3(128);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = on;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, note, to, ns, blocks);
}
std::vector<std::vector<int>> placements;  // of clusters of 16, the most frequent lone one first
bool clusters() {
  say("\n== (d) which multiprocessors belong together\n");
  constexpr std::size_t one_a_multiprocessor = 160 * 1024;
  constexpr unsigned most = 160;
  Stamp* stamps = nullptr;
  MUST(cudaMalloc(&stamps, most * sizeof(Stamp)));
  MUST(cudaFuncSetAttribute(note, cudaFuncAttributeMaxDynamicSharedMemorySize, one_a_multiprocessor));
  MUST(cudaFuncSetAttribute(note, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  std::vector<int> parent(160);
  for (int i = 0; i < 160; ++i) parent[static_cast<std::size_t>(i)] = i;
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) i = parent[static_cast<std::size_t>(i)];
    return i;
  };
  std::set<int> seen;
  std::vector<Stamp> host(most);
  const auto run = [&](unsigned blocks, unsigned count, std::map<unsigned, std::vector<int>>& sets) {
    MUST(cudaMemset(stamps, 0xff, most * sizeof(Stamp)));
    MUST(launch_clusters(blocks, count, one_a_multiprocessor, stream, stamps, 20000));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(host.data(), stamps, most * sizeof(Stamp), cudaMemcpyDeviceToHost));
    sets.clear();
    for (unsigned i = 0; i < blocks * count; ++i) {
      const int id = static_cast<int>(host[i].id);
      if (id < 0 || id >= 160) continue;
      sets[host[i].cluster].push_back(id);
      seen.insert(id);
    }
    for (auto& set : sets) {
      std::sort(set.second.begin(), set.second.end());
      for (const int id : set.second) parent[static_cast<std::size_t>(root(id))] = root(set.second[0]);
    }
    return true;
  };
  const auto show = [](const std::vector<int>& set) {
    for (const int id : set) say(" %d", id);
    say("\n");
  };
  std::map<unsigned, std::vector<int>> sets;
  bool ok = true;
  for (const unsigned blocks : {16u, 8u, 4u, 2u}) {
    for (int r = 0; r < 3 && ok; ++r) {
      ok = run(blocks, 132 / blocks, sets);
      if (ok && r == 0 && blocks >= 8) {
        unsigned long long first = ~0ull;
        for (unsigned i = 0; i < blocks * (132 / blocks); ++i) first = std::min(first, host[i].begin);
        say("  %u clusters of %u at once:\n", 132 / blocks, blocks);
        for (const auto& set : sets) {
          say("    cluster %2u, begins after %6.1f us:", set.first,
              (static_cast<double>(host[set.first * blocks].begin) - static_cast<double>(first)) * 1e-3);
          show(set.second);
        }
      }
    }
  }
  if (ok) {
    std::map<int, std::vector<int>> groups;
    for (const int id : seen) groups[root(id)].push_back(id);
    say("  multiprocessors that ever shared a cluster (%zu seen, %zu groups):\n", seen.size(), groups.size());
    for (const auto& group : groups) {
      say("    %2zu:", group.second.size());
      show(group.second);
    }
  }
  std::map<std::vector<int>, int> lone;
  for (int r = 0; r < 10 && ok; ++r) {
    ok = run(16, 1, sets);
    if (ok && !sets.empty()) ++lone[sets.begin()->second];
  }
  std::vector<std::pair<int, std::vector<int>>> sorted;
  for (const auto& x : lone) sorted.push_back({x.second, x.first});
  std::sort(sorted.rbegin(), sorted.rend());
  say("  a lone cluster of 16, 10 times, on an idle GPU:\n");
  for (const auto& x : sorted) {
    say("    %2d times:", x.first);
    show(x.second);
    placements.push_back(x.second);
  }
  if (ok && run(16, 2, sets)) {
    for (const auto& set : sets) {
      say("    of two at once, cluster %u:", set.first);
      show(set.second);
      bool apart = set.second.size() == 16;
      for (const auto& other : placements)
        for (const int id : set.second)
          apart = apart && std::find(other.begin(), other.end(), id) == other.end();
      if (apart) placements.push_back(set.second);
    }
  }
  // Should the lone ones have lain in different places, two that do not meet are looked for below.
  cudaFree(stamps);
  return ok;
}
ReservedMultiprocessors set_of(const std::vector<int>& ids, const std::vector<int>* more = nullptr) {
  ReservedMultiprocessors set{};
  for (const int id : ids) set.word[id / 32] |= 1u << (id % 32);
  if (more != nullptr)
    for (const int id : *more) set.word[id / 32] |= 1u << (id % 32);
  return set;
}
bool placement_pair(std::vector<int>& first, std::vector<int>& other) {
  if (placements.empty() || placements[0].size() != 16) return false;
  first = placements[0];
  other.clear();
  for (std::size_t i = 1; i < placements.size() && other.empty(); ++i) {
    bool apart = placements[i].size() == 16;
    for (const int id : placements[i])
      apart = apart && std::find(first.begin(), first.end(), id) == first.end();
    if (apart) other = placements[i];
  }
  return true;
}

bool with_reserved() {
  if (best_kernel < 0) return false;
  std::vector<int> first, other;
  ReservedMultiprocessors sixteen = every(8, 0), thirty_two = every(4, 0);
  const char* origin = "spread evenly: no cluster was placed";
  if (placement_pair(first, other)) {
    sixteen = set_of(first);
    thirty_two = other.empty() ? every(4, 0) : set_of(first, &other);
    origin = other.empty() ? "16 of one cluster; 32 (33) spread evenly" : "of one cluster, of two";
  }
  say("\n== (c) %s with reserved multiprocessors (%s): TFLOP/s, and share of what it is without\n",
      kernels[static_cast<std::size_t>(best_kernel)].name, origin);
  if (!fill_operands()) return false;
  Contender c;
  c.kernel = best_kernel;
  const std::vector<Contender> contenders(3, c);
  const std::vector<ReservedMultiprocessors> sets = {ReservedMultiprocessors{}, sixteen, thirty_two};
  for (const Shape3& x : std::vector<Shape3>{{8192, 8192, 256},
                                             {8192, 8192, 512},
                                             {16384, 16384, 256},
                                             {16384, 16384, 512},
                                             {16384, 512, 512}}) {
    if (!time_left(operations(x) / 40e12 * 6 * 3 + 0.1, "a line of the reserved")) continue;
    std::vector<double> rates;
    if (!measure(contenders, x, 5, rates, sets)) return false;
    say("  %5d %5d %4d  none %6.1f   16: %6.1f (%.3f, multiprocessors %.3f)   32: %6.1f (%.3f, %.3f)\n", x.m,
        x.n, x.k, rates[0], rates[1], rates[1] / rates[0], (multiprocessors - 16.0) / multiprocessors,
        rates[2], rates[2] / rates[0], (multiprocessors - 32.0) / multiprocessors);
  }
  return true;
}
__global__ void __launch_bounds__(128) obstruct(unsigned long long ns) {
  extern __shared__ unsigned char unused_shared[];
  const unsigned long long begin = detail::nanoseconds();
  for (int i = 0; i < 1 << 14 && detail::nanoseconds() - begin < ns; ++i) __nanosleep(100);
}
bool obstructed() {
  if (best_kernel < 0) return false;
  const Kernel& kernel = kernels[static_cast<std::size_t>(best_kernel)];
  say("\n== (c2) %s started while half of the multiprocessors are busy for 200 us more, 16 reserved, m = n = "
      "8192, "
      "k = 512:\n   blocks at work in the end and ms, by patience and spare blocks\n",
      kernel.name);
  constexpr std::size_t bytes = 200 * 1024;
  MUST(cudaFuncSetAttribute(obstruct, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  std::vector<int> first, other;
  const ReservedMultiprocessors set = placement_pair(first, other) ? set_of(first) : every(8, 0);
  Contender c;
  c.kernel = best_kernel;
  struct Setting {
    unsigned patience, spare;
    bool blocked;
  };
  for (const Setting s :
       {Setting{20000, 64, false}, Setting{1, 0, true}, Setting{1, 64, true}, Setting{20000, 0, true},
        Setting{20000, 64, true}, Setting{20000, 256, true}, Setting{400000, 64, true}}) {
    if (!time_left(0.2, "obstruction")) break;
    UpdateJob job = prepare(c, 8192, 8192, 512, a_data, 8192, b_data, 512, c_data, 8192);
    job.reserved = set;
    unsigned grid = kernel.grid(job, multiprocessors, s.patience, s.spare);
    MUST(cudaMemsetAsync(counters, 0, sizeof(UpdateCounters), stream));
    MUST(cudaStreamSynchronize(stream));
    if (s.blocked)
      obstruct<<<static_cast<unsigned>(multiprocessors / 2), 128, bytes, second_stream>>>(200000);
    MUST(cudaGetLastError());
    std::this_thread::sleep_for(std::chrono::microseconds(30));
    MUST(cudaEventRecord(event0, stream));
    kernel.launch(job, grid, stream);
    MUST(cudaGetLastError());
    MUST(cudaEventRecord(event1, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaStreamSynchronize(second_stream));
    float ms = 0;
    MUST(cudaEventElapsedTime(&ms, event0, event1));
    UpdateCounters seen{};
    MUST(cudaMemcpy(&seen, counters, sizeof seen, cudaMemcpyDeviceToHost));
    say("  %-10s patience %6u ns, spare %3u, grid %3u: %3u of %3u blocks at work, %.3f ms\n",
        s.blocked ? "obstructed" : "free", s.patience, s.spare, grid, seen.started, job.wanted, ms);
  }
  return true;
}

}  // namespace
