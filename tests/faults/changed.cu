// A method that an environment variable makes slower, to test comparisons of times.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernels/simt/simt.hpp"
#include "kernels/tables.hpp"

GAUSSWEEP_DECLARE_IN(GAUSSWEEP_BACKEND, gemm_shared)

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Returns the number of `what` in GAUSSWEEP_FAULT_CHANGE, which is "work=1.01" (a factor), "launches=2" (a
/// factor) or "waits=1" (added); `otherwise` if the variable has another name or is not set.
double value_from_environment(const std::string& what, double otherwise) {
  const char* const text = std::getenv("GAUSSWEEP_FAULT_CHANGE");
  const std::string change = text == nullptr ? "" : text;
  return change.rfind(what + "=", 0) == 0 ? std::stod(change.substr(what.size() + 1)) : otherwise;
}

/// Computes a chain of products, each of which depends on the previous one.
template <class T>
__global__ void chain(T* never_written, std::int64_t steps) {
  T x = 1;
  for (std::int64_t step = 0; step < steps; ++step) x = x * T(0.5) + T(1);
  if (x > T(3)) *never_written = x;
}

}  // namespace

/// Computes the product with gemm/shared, then does adjustable work. If `steps` is 0, it computes half of the
/// columns again, otherwise a chain of `steps` products in `launches` kernels. Last it reads an element
/// `waits` times.
template <class T>
void gemm_fault_changed(Context& ctx, Operands<T>& op, const Parameters& parameters) {
  const double work = value_from_environment("work", 1);
  gemm_shared<T>(ctx, op, parameters);
  if (parameters.integer("steps") == 0) {
    Operands<T> part = op;
    const double share = 0.5 * (3 * work - 2);  // all work, 1 + share, becomes 1.5 x `work`
    part.b.cols = part.x.cols =
        std::min(op.x.cols, static_cast<std::int64_t>(share * static_cast<double>(op.x.cols)));
    gemm_shared<T>(ctx, part, parameters);
  }
  const auto launches = static_cast<std::int64_t>(value_from_environment("launches", 1) *
                                                  static_cast<double>(parameters.integer("launches")));
  const auto steps = static_cast<std::int64_t>(work * static_cast<double>(parameters.integer("steps")));
  for (std::int64_t i = 0; i < launches && steps > 0; ++i)
    simt::launch(ctx, chain<T>, dim3(1), dim3(1), 0, op.x.data, steps / launches);
  const auto waits =
      parameters.integer("waits") + static_cast<std::int64_t>(value_from_environment("waits", 0));
  for (std::int64_t i = 0; i < waits; ++i) {
    T element = 0;
    ctx.device.to_host(&element, op.x.data, sizeof element);
  }
}

GAUSSWEEP_INSTANTIATE(gemm_fault_changed)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
