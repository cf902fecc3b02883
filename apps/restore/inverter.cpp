/// Selection of the method that inverts: part of apps/restore/restoration.hpp.

#include <algorithm>

#include <fmt/format.h>

#include "apps/restore/restoration.hpp"
#include "driver/base/errors.hpp"
#include "driver/base/words.hpp"
#include "driver/plan/expand.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {
namespace {

/// Returns the problems whose methods invert the formula's matrix, the default one first. H is not positive
/// definite for most point-spread functions; H H^T + lambda I is.
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
  // If the GPU's libraries have no such method, use the CPU's library.
  return vendor != nullptr ? vendor : registry.reference(problem, Backend::host);
}

}  // namespace

namespace {

/// Returns the row with the name `word`, or the library's row if `word` is empty; null if there is no
/// library.
const Method* find_method(const Registry& registry, const std::vector<Problem>& problems, const char* option,
                          const std::string& word, Backend requested, const std::string& allowed) {
  if (word.empty()) return default_method(registry, problems.front(), requested);
  const Method* method = nullptr;
  for (const Method& row : registry.all()) {
    if (row.id() == word) method = &row;
  }
  if (method == nullptr) method = registry.find(problems.front(), word);
  if (method == nullptr) {
    throw UsageError(fmt::format("{} {}: there is no such method; {}{}", option, word,
                                 io::nearest_hint(word, ids_of(registry, problems)), allowed));
  }
  return method;
}

/// Returns the method with its backend. @throws UsageError if it cannot run
Inverter with_backend(const Method& method, const char* option, Backend requested, Precision precision,
                      int capability) {
  const std::optional<Backend> backend = resolve_backend(method, requested);
  if (!backend) {
    throw UsageError(fmt::format("{} {}: it does not run on the backend {}; see gaussweep methods", option,
                                 method.id(), to_string(requested)));
  }
  if (!method.has(precision)) {
    throw UsageError(
        fmt::format("--precision {}: {} has no such version", to_string(precision), method.id()));
  }
  if (*backend == Backend::cuda && method.capability > capability) {
    throw UsageError(fmt::format("{} {}: needs compute capability {}, the GPU has {}", option, method.id(),
                                 capability_text(method.capability), capability_text(capability)));
  }
  return {&method, *backend};
}

}  // namespace

Inverter choose_inverter(const Registry& registry, Formula formula, const std::string& word,
                         Backend requested, Precision precision, int capability) {
  const std::vector<Problem> problems = problems_of(formula);
  const std::string allowed = fmt::format("allowed with --formula {}: {}", to_string(formula),
                                          fmt::join(ids_of(registry, problems), ", "));
  const Method* method = find_method(registry, problems, "--method", word, requested, allowed);
  if (method == nullptr) {
    throw UsageError(fmt::format("no library inverts {} in this build; give --method, {}",
                                 to_string(problems.front()), allowed));
  }
  if (std::find(problems.begin(), problems.end(), method->problem) == problems.end()) {
    const bool wants_definite = method->problem == Problem::named("poinv") && formula == Formula::inverse;
    throw UsageError(fmt::format("--method {}: {}; {}", method->id(),
                                 wants_definite
                                     ? "it inverts symmetric positive definite matrices, which H is not"
                                     : "it does not invert a matrix",
                                 allowed));
  }
  return with_backend(*method, "--method", requested, precision, capability);
}

Inverter choose_method(const Registry& registry, Problem problem, const std::string& word, Backend requested,
                       Precision precision, int capability) {
  const std::vector<Problem> problems{problem};
  const std::string allowed = fmt::format("allowed: {}", fmt::join(ids_of(registry, problems), ", "));
  const Method* method = find_method(registry, problems, "--method", word, requested, allowed);
  if (method == nullptr)
    throw UsageError(
        fmt::format("no library has {} in this build; give --method, {}", to_string(problem), allowed));
  if (method->problem != problem)
    throw UsageError(fmt::format("--method {}: is a method of another problem than {}; {}", method->id(),
                                 to_string(problem), allowed));
  return with_backend(*method, "--method", requested, precision, capability);
}

Inverter choose_multiplier(const Registry& registry, const std::string& word, Backend requested,
                           Precision precision, int capability) {
  const std::vector<Problem> problems{Problem::named("gemm")};
  const std::string allowed = fmt::format("allowed: {}", fmt::join(ids_of(registry, problems), ", "));
  const Method* method = find_method(registry, problems, "--gemm", word, requested, allowed);
  if (method == nullptr) throw UsageError("no library multiplies in this build; give --gemm, " + allowed);
  if (method->problem != Problem::named("gemm"))
    throw UsageError(fmt::format("--gemm {}: it does not multiply matrices; {}", method->id(), allowed));
  return with_backend(*method, "--gemm", requested, precision, capability);
}

}  // namespace gaussweep::driver
