/// Chooses the method for programs that name only a problem.

#include "kernels/preferred.hpp"

#include <array>
#include <string_view>

namespace gaussweep {
namespace {

/// The variants (names of methods) of a problem for single systems, with the preferred one first. Batches
/// need no list, because their variant is always `batched`.
struct Variants {
  std::string_view problem;
  std::array<std::string_view, 3> names;
};
constexpr std::array<Variants, 8> single_systems{{
    {"gemm", {"cublas", "direct"}},
    {"getrf", {"recursive", "cusolver", "batched"}},
    {"gesv", {"recursive", "cusolver", "batched"}},
    {"potrf", {"recursive", "cusolver", "batched"}},
    {"posv", {"recursive", "cusolver", "batched"}},
    {"geinv", {"recursive", "cusolver", "batched"}},
    {"poinv", {"recursive", "cusolver"}},
    {"trtri", {"levels", "cusolver"}},
}};

bool is_suitable(const Method& method, const MethodTarget& target, const Shape& shape) {
  return method.runs_on(target.backend) && method.has(target.precision) &&
         method.layout == Layout::column_major &&
         (target.backend != Backend::cuda || method.capability <= target.capability) &&
         shape.nrhs <= method.max_nrhs && shape.batch <= method.max_batch &&
         (method.accepts == nullptr || method.accepts(shape, defaults(method.parameters)));
}

}  // namespace

const Method* preferred_method(const Registry& registry, Problem problem, const MethodTarget& target,
                               const Shape& shape) {
  const auto suitable = [&](std::string_view variant) -> const Method* {
    const Method* method = registry.find(problem, variant);
    return method != nullptr && is_suitable(*method, target, shape) ? method : nullptr;
  };
  if (shape.batch > 1) return suitable("batched");
  for (const Variants& variants : single_systems) {
    if (variants.problem != problem->name) continue;
    for (const std::string_view name : variants.names) {
      if (const Method* method = suitable(name)) return method;
    }
  }
  return nullptr;
}

}  // namespace gaussweep
