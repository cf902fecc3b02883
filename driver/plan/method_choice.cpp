/// Finds the method that an option of a command selects.

#include "driver/plan/method_choice.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "driver/base/errors.hpp"
#include "driver/plan/expand.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

ChosenMethod choose_method(const Registry& registry, const MethodQuery& query) {
  const auto fits = [&](const Method& method) {
    return std::count(query.problems.begin(), query.problems.end(), method.problem) > 0;
  };
  const Problem problem = query.problems.front();
  std::vector<std::string> ids, names;
  const Method* method = nullptr;
  for (const Method& row : registry.all()) {
    if (fits(row)) {
      ids.push_back(row.id());
      names.insert(names.end(), {row.id(), row.variant});
    }
    if (row.id() == query.name) method = &row;
  }
  const std::string allowed = fmt::format("{}: {}", query.allowed, fmt::join(ids, ", "));
  if (query.name.empty()) {
    method = registry.reference(problem, query.requested);
    // If the GPU's libraries have no such method, use the CPU's library.
    if (method == nullptr) method = registry.reference(problem, Backend::host);
    if (method == nullptr)
      throw UsageError(fmt::format("no library has {} in this build; give {}, {}", to_string(problem),
                                   query.option, allowed));
  }
  if (method == nullptr) method = registry.find(problem, query.name);
  for (const Method& row : registry.all()) {  // a method of another problem is refused below, with the reason
    if (method == nullptr && row.variant == query.name) method = &row;
  }
  if (method == nullptr) {
    throw UsageError(fmt::format("{} {}: there is no such method; {}{}", query.option, query.name,
                                 io::nearest_hint(query.name, names), allowed));
  }
  if (!fits(*method)) {
    const std::string reason = query.wrong_problem_reason.empty()
                                   ? fmt::format("is a method of another problem than {}", to_string(problem))
                                   : query.wrong_problem_reason;
    throw UsageError(fmt::format("{} {}: {}; {}", query.option, method->id(), reason, allowed));
  }
  const std::optional<Backend> backend = resolve_backend(*method, query.requested);
  if (!backend) {
    throw UsageError(fmt::format("{} {}: it does not run on the backend {}; see gaussweep methods",
                                 query.option, method->id(), to_string(query.requested)));
  }
  if (!method->has(query.precision)) {
    throw UsageError(
        fmt::format("--precision {}: {} has no such version", to_string(query.precision), method->id()));
  }
  if (*backend == Backend::cuda) {
    const std::string fault = capability_fault(*method, query.capability);
    if (!fault.empty()) throw UsageError(fmt::format("{} {}: {}", query.option, method->id(), fault));
  }
  return {method, *backend};
}

}  // namespace gaussweep::driver
