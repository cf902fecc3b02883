#pragma once
/// Help for fuzz targets whose readers run in child processes. A child that crashes in a library's code is no
/// finding. A child in which a sanitizer reports an error of our own code is a finding: the target aborts.

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

// Symbols that exist only in builds with sanitizers or libFuzzer.
extern "C" {
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
__attribute__((weak)) void __asan_set_error_report_callback(void (*callback)(const char* report));
extern char* fuzz_counters[2];  ///< begin and end of the branch counters; null without libFuzzer
}
// In assembler, because the compiler would rename its own use of these two symbols if C++ used them too.
__asm__(R"(
  .pushsection .data
  .weak __start___sancov_cntrs
  .hidden __start___sancov_cntrs
  .weak __stop___sancov_cntrs
  .hidden __stop___sancov_cntrs
  .balign 8
  .globl fuzz_counters
fuzz_counters:
  .quad __start___sancov_cntrs, __stop___sancov_cntrs
  .popsection
)");

namespace gaussweep::fuzz {

/// Returns memory that this process shares with its children.
/// @param address where to put it, in place of what is there; null: anywhere
inline void* shared_memory(void* address, std::size_t bytes) {
  void* memory = mmap(address, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | (address != nullptr ? MAP_FIXED : 0), -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return memory;
}

/// Returns true if a report of the address sanitizer blames our code, and not a library that it called. The
/// innermost frame of our code or of a library decides; those of the sanitizer, libc and libstdc++ are
/// skipped.
inline bool blames_our_code(const std::string& report) {
  for (std::size_t at = report.find("    #"); at != std::string::npos; at = report.find("    #", at + 1)) {
    const std::string frame = report.substr(at, report.find('\n', at) - at);
    if (frame.find("gaussweep::") != std::string::npos) return true;
    const bool is_runtime =
        frame.find("libc.so") != std::string::npos || frame.find("libstdc++") != std::string::npos;
    if (!is_runtime && frame.find(".so") != std::string::npos) return false;
  }
  return true;
}

/// Set by a child that died from an error in our code.
inline volatile bool* fault_in_our_code = nullptr;
inline bool reported = false;  ///< in a child: the address sanitizer has reported the cause

/// Makes a new child set `fault_in_our_code` before a sanitizer ends it.
inline void install_callbacks() {
  // libFuzzer's own callback would save the input as if it had crashed the fuzzer.
  if (__sanitizer_set_death_callback != nullptr)
    __sanitizer_set_death_callback([] {
      // Without a report it is undefined behaviour, which is checked only in our code.
      if (!reported) *fault_in_our_code = true;
    });
  if (__asan_set_error_report_callback != nullptr)
    __asan_set_error_report_callback([](const char* report) {
      reported = true;
      if (blames_our_code(report)) *fault_in_our_code = true;
    });
}

/// Prepares this process for children. Shares libFuzzer's branch counters with them, so that libFuzzer sees
/// the branches that children take.
inline void prepare_for_children() {
  fault_in_our_code = static_cast<volatile bool*>(shared_memory(nullptr, sizeof(bool)));
  pthread_atfork(nullptr, nullptr, install_callbacks);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(fuzz_counters[0]) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(fuzz_counters[1]) / page * page;
  if (begin >= end) return;
  char* counters = reinterpret_cast<char*>(begin);
  const std::string values(counters, end - begin);
  shared_memory(counters, values.size());
  std::memcpy(counters, values.data(), values.size());
}

/// Aborts if a child died from an error in our code. Call it after every input.
inline void require_no_fault_in_our_code() {
  if (*fault_in_our_code) std::abort();
}

}  // namespace gaussweep::fuzz
