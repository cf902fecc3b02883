// C -= A B in double with little inner sizes, as LU's trailing updates have them, beside cuBLAS, by hand (an
// experiment, docs/performance.md):
//
//   trailing_update [SECONDS]
//
// Says of several shapes of tiles whether their answers are right, and their rates; with multiprocessors
// reserved for others, how long a cluster waits for its place there. One line of text at a time.

#include "tests/benchmark/trailing_update/bench_beside.cuh"

namespace {

bool start() {
  cudaDeviceProp properties{};
  MUST(cudaGetDeviceProperties(&properties, 0));
  multiprocessors = properties.multiProcessorCount;
  int driver = 0, clock = 0;
  cudaDriverGetVersion(&driver);
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  say("%s, %d multiprocessors, %d MHz at most, L2 %.0f MiB, driver %d, shared memory a block %zu\n",
      properties.name, multiprocessors, clock / 1000, properties.l2CacheSize / 1048576.0, driver,
      properties.sharedMemPerBlockOptin);
  if (properties.major != 9) say("WARNING: not compute capability 9.x\n");
  try {
    encode = tensor_map_encoder();
  } catch (const std::exception& e) {
    say("ERROR: %s\n", e.what());
    return false;
  }
  int low = 0, high = 0;
  MUST(cudaDeviceGetStreamPriorityRange(&low, &high));
  MUST(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, low));
  MUST(cudaStreamCreateWithPriority(&second_stream, cudaStreamNonBlocking, low));
  MUST(cudaStreamCreateWithPriority(&urgent_stream, cudaStreamNonBlocking, high));
  MUST(cublasCreate(&cublas));
  MUST(cublasSetStream(cublas, stream));
  MUST(cudaMalloc(&a_data, a_count * sizeof(double)));
  MUST(cudaMalloc(&b_data, b_count * sizeof(double)));
  MUST(cudaMalloc(&c_data, c_count * sizeof(double)));
  MUST(cudaMalloc(&reference, reference_count * sizeof(double)));
  MUST(cudaMalloc(&counters, counters_count * sizeof(UpdateCounters)));
  MUST(cudaMalloc(&comparison, sizeof(Comparison)));
  MUST(cudaEventCreate(&event0));
  MUST(cudaEventCreate(&event1));
  kernels = {kernel<A8>("A8", "128 x 128, 8 warps of 64 x 32, m16n8k8, 7 stages"),
             kernel<A16>("A16", "128 x 128, 8 warps of 64 x 32, m16n8k16, 7 stages"),
             kernel<T8>("T8", "96 x 192, 12 warps of 48 x 32, m16n8k8, 6 stages"),
             kernel<E8>("E8", "2 blocks of 128 x 64, 4 warps of 64 x 32, m16n8k8, 4 stages"),
             kernel<G8>("G8", "128 x 160, 8 warps of 64 x 40, m16n8k8, 6 stages")};
  for (const Kernel& k : kernels) {
    if (!TRY(cudaFuncSetAttribute(k.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(k.shared_bytes))))
      continue;
    TRY(cudaFuncSetAttribute(k.function, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    int blocks = 0;
    cudaFuncAttributes attributes{};
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k.function, k.threads, k.shared_bytes));
    TRY(cudaFuncGetAttributes(&attributes, k.function));
    say("  %-4s %s; %d threads, %d registers at the start, local %zu, shared %zu: %d blocks a "
        "multiprocessor\n",
        k.name, k.what, k.threads, attributes.numRegs, attributes.localSizeBytes, k.shared_bytes, blocks);
    if (blocks != k.blocks) say("WARNING: %d blocks a multiprocessor were meant\n", k.blocks);
  }
  return fill_operands();
}

}  // namespace

/// trailing_update [seconds [excluded kernels, as bits]]; what follows, it gives itself when it has to begin
/// anew after an error that has taken the context.
int main(int argc, char** argv) {
  if (argc > 1) time_limit = std::atof(argv[1]);
  if (argc > 2) excluded = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 0));
  int next_step = argc > 3 ? std::atoi(argv[3]) : 0;
  unsigned usable_bits = argc > 4 ? static_cast<unsigned>(std::strtoul(argv[4], nullptr, 0)) : 0;
  if (argc > 5) best_kernel = std::atoi(argv[5]);
  if (argc > 6) seconds_before = std::atof(argv[6]);
  if (argc > 7) errors = std::atoi(argv[7]);
  struct Step {
    const char* name;
    bool (*run)();
  };
  const Step steps[] = {{"machine", machine},           {"clusters", clusters},
                        {"correctness", correctness},   {"table", table},
                        {"variants", variants},         {"reserved", with_reserved},
                        {"two products", two_products}, {"beside", beside},
                        {"obstructed", obstructed}};
  constexpr int count = static_cast<int>(sizeof steps / sizeof steps[0]);
  if (!start()) {
    say("ENDED: nothing can be run\n");
    return 1;
  }
  usable.assign(kernels.size(), false);
  for (std::size_t i = 0; i < kernels.size(); ++i) usable[i] = (usable_bits >> i & 1u) != 0;
  if (next_step > 1) TRY(clusters() ? cudaSuccess : cudaErrorUnknown);  // where they lie is needed later
  for (int i = next_step; i < count; ++i) {
    const double begin = seconds();
    bool ok = false;
    try {
      ok = steps[i].run();
    } catch (const std::exception& e) {
      ++errors;
      say("ERROR in %s: %s\n", steps[i].name, e.what());
    }
    const cudaError_t error = cudaDeviceSynchronize();
    say("-- %s %s, %.1f s, at %.1f s\n", steps[i].name, ok ? "done" : "NOT DONE", seconds() - begin,
        seconds());
    if (error == cudaSuccess) {
      cudaGetLastError();
      continue;
    }
    ++errors;
    say("ERROR after %s: %s; begins anew with what follows\n", steps[i].name, cudaGetErrorString(error));
    const bool checking = std::strcmp(steps[i].name, "correctness") == 0;
    if (checking && current_kernel >= 0) excluded |= 1u << current_kernel;
    usable_bits = 0;
    for (std::size_t k = 0; k < usable.size(); ++k) usable_bits |= usable[k] ? 1u << k : 0u;
    const std::string values[] = {
        std::to_string(time_limit),  std::to_string(excluded),    std::to_string(checking ? i : i + 1),
        std::to_string(usable_bits), std::to_string(best_kernel), std::to_string(seconds()),
        std::to_string(errors)};
    std::vector<char*> arguments = {argv[0]};
    for (const std::string& value : values) arguments.push_back(const_cast<char*>(value.c_str()));
    arguments.push_back(nullptr);
    if (errors < 12) execv("/proc/self/exe", arguments.data());
    break;
  }
  say("end, %d errors, %.1f s\n", errors, seconds());
  return errors == 0 ? 0 : 1;
}
