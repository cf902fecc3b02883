#pragma once
/// Fuzz targets whose readers run in children. There a library may die: the program survives that, so it is
/// no finding. A child in which a sanitizer accuses our own code is one.

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

// What only a build with sanitizers, or with libFuzzer, has.
extern "C" {
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
__attribute__((weak)) void __asan_set_error_report_callback(void (*callback)(const char* report));
extern char* fuzz_counters[2];  ///< where the counters of branches begin and end; null without libFuzzer
}
// In assembler: were these two names used in C++, the compiler would give its own use of them other names.
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

/// Memory of this process and of its children.
inline void* shared_memory(void* place, std::size_t bytes) {
  void* memory = mmap(place, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | (place != nullptr ? MAP_FIXED : 0), -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return memory;
}

/// Whether a report of the address sanitizer accuses our code, and not a library that it called. The
/// innermost of the frames that are one or the other's decides. (Those of the sanitizer, of C and of C++ are
/// neither.)
inline bool accuses_us(const std::string& report) {
  for (std::size_t at = report.find("    #"); at != std::string::npos; at = report.find("    #", at + 1)) {
    const std::string frame = report.substr(at, report.find('\n', at) - at);
    if (frame.find("gaussweep::") != std::string::npos) return true;
    const bool basic =
        frame.find("libc.so") != std::string::npos || frame.find("libstdc++") != std::string::npos;
    if (!basic && frame.find(".so") != std::string::npos) return false;
  }
  return true;
}

/// Set by a child that died of our own fault.
inline volatile bool* fault_of_ours = nullptr;
inline bool reported = false;  ///< in a child: the address sanitizer has said whose fault it is

inline void in_child() {
  // libFuzzer's callback would keep the input as if it had killed the fuzzer.
  if (__sanitizer_set_death_callback != nullptr)
    __sanitizer_set_death_callback([] {
      if (!reported) *fault_of_ours = true;  // undefined behaviour: no library is watched for it
    });
  if (__asan_set_error_report_callback != nullptr)
    __asan_set_error_report_callback([](const char* report) {
      reported = true;
      if (accuses_us(report)) *fault_of_ours = true;
    });
}

/// Call it before the first child: what is counted in children leads libFuzzer too.
inline void prepare_for_children() {
  fault_of_ours = static_cast<volatile bool*>(shared_memory(nullptr, sizeof(bool)));
  pthread_atfork(nullptr, nullptr, in_child);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(fuzz_counters[0]) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(fuzz_counters[1]) / page * page;
  if (begin >= end) return;
  char* counters = reinterpret_cast<char*>(begin);
  const std::string kept(counters, end - begin);
  shared_memory(counters, kept.size());
  std::memcpy(counters, kept.data(), kept.size());
}

/// Call it after every input.
inline void require_no_fault_of_ours() {
  if (*fault_of_ours) std::abort();
}

}  // namespace gaussweep::fuzz
