/// Which method inverts: part of driver/restore/restoration.hpp.

#include <algorithm>

#include <fmt/format.h>

#include "driver/base/errors.hpp"
#include "driver/base/words.hpp"
#include "driver/plan/expand.hpp"
#include "driver/restore/restoration.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {
namespace {

/// The problems whose methods invert the formula's matrix, the usual one first. H is not positive definite
/// for most point-spread functions; H H^T + lambda I is.
std::vector<Problem> problems_of(Formula formula) {
  if (formula == Formula::inverse) return {Problem::named("geinv")};
  return {Problem::named("poinv"), Problem::named("geinv")};
}

std::vector<std::string> ids_of(const Registry& registry, const std::vector<Problem>& problems) {
  std::vector<std::string> ids;
  for (const Method& method : registry.all()) {
    if (std::find(problems.begin(), problems.end(), method.problem) != problems.end())
      ids.push_back(method.id());
  }
  return ids;
}

const Method* default_method(const Registry& registry, Problem problem, Backend requested) {
  const Method* vendor = registry.reference(problem, requested);
  // Where a GPU's library lacks it, the CPU's serves.
  return vendor != nullptr ? vendor : registry.reference(problem, Backend::host);
}

}  // namespace

Inverter choose_inverter(const Registry& registry, Formula formula, const std::string& word,
                         Backend requested, Precision precision, int capability) {
  const std::vector<Problem> problems = problems_of(formula);
  const std::vector<std::string> ids = ids_of(registry, problems);
  const std::string allowed =
      fmt::format("allowed with --formula {}: {}", to_string(formula), fmt::join(ids, ", "));
  const Method* method = nullptr;
  if (word.empty()) {
    method = default_method(registry, problems.front(), requested);
    if (method == nullptr) {
      throw UsageError(fmt::format("no library inverts {} in this build; give --method, {}",
                                   to_string(problems.front()), allowed));
    }
  }
  for (const Method& row : registry.all()) {
    if (row.id() == word) method = &row;
  }
  if (method == nullptr) method = registry.find(problems.front(), word);
  if (method == nullptr) {
    throw UsageError(fmt::format("--method {}: there is no such method; {}{}", word, allowed,
                                 io::nearest_hint(word, ids)));
  }
  if (std::find(problems.begin(), problems.end(), method->problem) == problems.end()) {
    const bool wants_definite = method->problem == Problem::named("poinv") && formula == Formula::inverse;
    throw UsageError(fmt::format("--method {}: {}; {}", method->id(),
                                 wants_definite
                                     ? "it inverts symmetric positive definite matrices, which H is not"
                                     : "it does not invert a matrix",
                                 allowed));
  }
  const std::optional<Backend> backend = resolve_backend(*method, requested);
  if (!backend) {
    throw UsageError(fmt::format("--method {}: it does not run on the backend {}; see gaussweep methods",
                                 method->id(), to_string(requested)));
  }
  if (!method->has(precision)) {
    throw UsageError(
        fmt::format("--precision {}: {} has no such version", to_string(precision), method->id()));
  }
  if (*backend == Backend::cuda && method->capability > capability) {
    throw UsageError(fmt::format("--method {}: needs compute capability {}, the GPU has {}", method->id(),
                                 capability_text(method->capability), capability_text(capability)));
  }
  return {method, *backend};
}

}  // namespace gaussweep::driver
