/// Fuzzes the plan reader: it must return a plan, or an InputError with a message.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/plan/plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const gaussweep::io::Plan plan = gaussweep::io::parse_plan(text, "fuzz.yaml", {"gesv", "gemm"});
    if (plan.sweep.empty() || plan.text != text) std::abort();
  } catch (const gaussweep::io::InputError& error) {
    if (std::string(error.what()).rfind("fuzz.yaml:", 0) != 0) std::abort();
  }
  return 0;
}
