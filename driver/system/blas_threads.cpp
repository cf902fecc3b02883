#include "driver/system/blas_threads.hpp"

#include <charconv>
#include <cstdlib>

#include "driver/system/process.hpp"

namespace gaussweep::driver {
namespace {

constexpr const char* kept_name = "GAUSSWEEP_REQUESTED_THREADS";

/// Reads the first number of "4" or "4,2", as OMP_NUM_THREADS may have one per level.
int first_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = end == text.data() + text.size() || *end == ',';
  return error == std::errc() && is_whole && number > 0 ? number : 0;
}

}  // namespace

void keep_requested_threads() {
  if (std::getenv(kept_name) != nullptr) return;
  std::string request;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const std::string value = environment_value(name);
    if (!request.empty() || first_number(value) == 0) continue;
    request = std::string(name) + "=" + value;
  }
  ::setenv(kept_name, request.c_str(), 1);
}

RequestedThreads requested_threads() {
  const std::string kept = environment_value(kept_name);
  const std::size_t equals = kept.find('=');
  if (equals == std::string::npos) return {};
  return {first_number(kept.substr(equals + 1)), kept.substr(0, equals)};
}

}  // namespace gaussweep::driver
