/// Saves the number of BLAS threads that the user requested, and checks the memory limits for OpenBLAS.

#include "driver/system/blas.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/resource.h>

#include "driver/system/process.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* saved_variable = "GAUSSWEEP_REQUESTED_THREADS";
constexpr double kib = 0x1p10, mib = 0x1p20;

// The memory that OpenBLAS needs was measured with version 0.3.21 (x86-64, pthreads) and `ulimit -s 8192`.
// With 1, 2 and 4 threads, `gaussweep run` of gesv/lapack (n = 50, store: never) needs `ulimit -d` of at
// least 205, 418 and 714 thousand KiB. `ulimit -v` must be 90 thousand KiB more, which is the size of the
// mapped files. Each thread therefore costs about 145 MiB: OpenBLAS's buffer (about 130 MiB), its stack, and
// the stack of one thread that verifies answers. Another 116 MiB do not depend on the number of threads.
constexpr double buffer_bytes = 130 * mib;
// The 116 MiB above, 72 MiB for a thread that stores matrices, and a margin of 4 MiB.
constexpr double base_bytes = 192 * mib;

/// Returns the stack size of a new thread.
double stack_bytes() {
  rlimit limit{};
  const bool is_known = ::getrlimit(RLIMIT_STACK, &limit) == 0;
  return is_known && limit.rlim_cur != RLIM_INFINITY ? static_cast<double>(limit.rlim_cur) : 2 * mib;
}

/// Returns the bytes of the program's and its libraries' mapped files. With CUDA they are gigabytes.
double mapped_file_bytes() {
  std::ifstream file("/proc/self/maps");
  double bytes = 0;
  for (std::string line; std::getline(file, line);) {  // "begin-end rw-p offset device inode path"
    std::istringstream fields(line);
    unsigned long begin = 0, end = 0;
    char dash = 0;
    std::string access, offset, device, inode, path;
    fields >> std::hex >> begin >> dash >> end >> access >> offset >> device >> inode >> path;
    const bool is_library = access.size() == 4 && access[3] == 'p' && path.rfind('/', 0) == 0;
    if (is_library) bytes += static_cast<double>(end - begin);
  }
  return bytes;
}

/// Returns an error text if the limit of `resource` is below `need` bytes, otherwise an empty text.
std::string limit_error(int resource, const char* option, int threads, double need) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const auto allowed = static_cast<double>(limit.rlim_cur);
  if (allowed >= need) return {};
  return fmt::format(
      "the memory limit 'ulimit {}' is {:.0f} KiB; OpenBLAS with {} thread{} needs {:.0f} KiB at least: "
      "raise the limit, or use fewer CPUs (taskset)",
      option, std::floor(allowed / kib), threads, threads == 1 ? "" : "s", std::ceil(need / kib));
}

/// Returns the first number of "4" or "4,2", because OMP_NUM_THREADS may list one number per nesting level.
/// Returns 0 if the text is malformed.
int first_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = end == text.data() + text.size() || *end == ',';
  return error == std::errc() && is_whole && number > 0 ? number : 0;
}

}  // namespace

std::string blas_memory_error(int threads) {
  const double data = base_bytes + threads * (buffer_bytes + 2 * stack_bytes());
  const std::string address_space_error = limit_error(RLIMIT_AS, "-v", threads, data + mapped_file_bytes());
  return address_space_error.empty() ? limit_error(RLIMIT_DATA, "-d", threads, data) : address_space_error;
}

void save_requested_threads() {
  if (std::getenv(saved_variable) != nullptr) return;
  std::string request;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const std::string value = environment_value(name);
    if (!request.empty() || first_number(value) == 0) continue;
    request = std::string(name) + "=" + value;
  }
  ::setenv(saved_variable, request.c_str(), 1);
}

RequestedThreads requested_threads() {
  const std::string saved_request = environment_value(saved_variable);
  const std::size_t equals = saved_request.find('=');
  if (equals == std::string::npos) return {};
  return {first_number(saved_request.substr(equals + 1)), saved_request.substr(0, equals)};
}

}  // namespace gaussweep::driver
