/// Chooses the methods that `try` runs on a matrix, and writes a plan for them.

#include "driver/plan/try_plan.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/cost_model.hpp"
#include "driver/plan/plan_names.hpp"

namespace gaussweep::driver {
namespace {

/// The largest fraction of the time limit that the estimated times of all chosen trials may add up to. An
/// emulated kernel is added only if the sum then is at most `emulated_fraction`. The rest is for starting
/// workers, reading the matrix, verification and further rounds.
constexpr double time_fraction = 0.6, emulated_fraction = 0.3;

/// A method that may be tried, with its estimated time.
struct Candidate {
  const Method* method;
  Suitability suitability;
  bool is_emulated = false;
  double seconds = 0;         ///< estimate for its trials that can run
  bool can_run = false;       ///< true if a trial can run here
  std::string skip_reason{};  ///< why a trial cannot run here
};

/// Returns the problems that read a triangle of A (if `triangular`), or those that read all of A. Leaves out
/// problems of two matrices.
std::vector<Problem> problems_of_one_matrix(bool triangular) {
  std::vector<Problem> chosen;
  for (const Problem problem : all_problems()) {
    const bool is_of_triangles = problem->used_of_a == UsedElements::triangle;
    if (problem->second != SecondOperand::matrix && is_of_triangles == triangular) chosen.push_back(problem);
  }
  return chosen;
}

/// Returns the requested problems, else those that suit the matrix.
std::vector<Problem> problems_for(const TryRequest& request, const InspectedMatrix& matrix) {
  if (!request.problems.empty()) return request.problems;
  if (matrix.facts.is_triangular() && matrix.facts.lower_bandwidth + matrix.facts.upper_bandwidth > 0)
    return problems_of_one_matrix(true);
  return problems_of_one_matrix(false);
}

/// Returns true if the matrix was factored and its condition number is infinite: a pivot is exactly 0, or
/// LAPACK estimates a reciprocal condition number of 0.
bool is_singular(const InspectedMatrix& matrix) {
  return matrix.conditioning && std::isinf(matrix.conditioning->condition);
}

Uplo uplo_for(const TryRequest& request, const InspectedMatrix& matrix) {
  return request.uplo.value_or(matrix.facts.is_triangular() ? matrix.facts.triangle() : Uplo::lower);
}

bool is_requested(const TryRequest& request, const Method& method) {
  if (request.methods.empty())
    return method.column_block == nullptr;  // methods for several GPUs equal other methods on one GPU
  return std::any_of(request.methods.begin(), request.methods.end(),
                     [&](const std::string& word) { return matches(word, method); });
}

/// Throws for a requested name or glob that matches no method of the problems.
void refuse_unknown_methods(const TryRequest& request, const std::vector<Problem>& problems,
                            const Registry& registry) {
  std::vector<std::string> names, all_names;
  for (const Method& method : registry.all()) {
    if (std::find(problems.begin(), problems.end(), method.problem) == problems.end()) continue;
    names.push_back(method.id());
    all_names.insert(all_names.end(), {method.id(), method.variant});
  }
  for (const std::string& word : request.methods) {
    const bool any = std::any_of(problems.begin(), problems.end(),
                                 [&](Problem problem) { return matches_a_method(word, problem, registry); });
    if (!any)
      throw UsageError(fmt::format("--method {}: there is none here; {}allowed: {}", word,
                                   io::nearest_hint(word, all_names), joined(names)));
  }
}

/// Quotes a string for YAML, which accepts JSON strings.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

/// Returns the text of a plan for the candidates, one entry per problem and number of rounds.
std::string plan_text(const TryRequest& request, const InspectedMatrix& matrix, const FileFacts& file,
                      const std::vector<Problem>& problems, const std::vector<Candidate>& candidates,
                      const RoundsOf& rounds_of) {
  std::vector<std::string> precisions;
  for (const Precision precision : request.precisions) precisions.emplace_back(to_string(precision));
  std::string text = fmt::format(
      "name: {}\nprecision: [{}]\nrepeats: {{min: {}, noise: 1%, time: 20ms}}\nstages: never\n"
      "matrix: {{file: {}{}}}\n",
      quoted(std::filesystem::path(file.path).stem().string()), joined(precisions), request.repeats,
      quoted(file.path), request.dataset.empty() ? "" : ", dataset: " + quoted(request.dataset));
  std::set<std::string> libraries;
  for (const Candidate& candidate : candidates) {
    if (!candidate.method->library.empty()) libraries.insert(quoted(candidate.method->library));
  }
  if (!libraries.empty()) text += fmt::format("libraries: [{}]\n", fmt::join(libraries, ", "));
  text += "sweep:\n";
  const Uplo uplo = uplo_for(request, matrix);
  bool is_empty = true;
  for (const Problem problem : problems) {
    struct Entry {
      std::vector<std::string> methods, doubtful;
    };
    std::map<std::int64_t, Entry> entries;  // by number of rounds
    for (const Candidate& candidate : candidates) {
      if (candidate.method->problem != problem) continue;
      Entry& entry = entries[rounds_of(*candidate.method)];
      entry.methods.push_back(candidate.method->variant);
      const bool may_be_singular = !matrix.conditioning || is_singular(matrix);
      const bool may_fail = may_be_singular && needs_nonsingular(problem);
      if (may_fail || !candidate.suitability.known || !candidate.suitability.fits) {
        entry.doubtful.push_back(
            fmt::format("{}: [pass, suspect, failed, diverged]", candidate.method->variant));
      }
    }
    for (const auto& [rounds, entry] : entries) {
      if (rounds == 0) continue;
      is_empty = false;
      text += fmt::format("  - problem: {}\n    method: [{}]\n", to_string(problem), joined(entry.methods));
      if (rounds > 1) text += fmt::format("    rounds: {}\n", rounds);
      if (problem->has_axis("nrhs")) text += fmt::format("    nrhs: [{}]\n", fmt::join(request.nrhs, ", "));
      if (problem->has_axis("uplo")) text += fmt::format("    uplo: {}\n", to_string(uplo));
      if (!entry.doubtful.empty()) text += fmt::format("    expect: {{{}}}\n", joined(entry.doubtful));
    }
  }
  if (is_empty) return {};
  return text;
}

/// Collects the methods that are left out, by the reason. If all methods of a problem are left out for the
/// same reason, the result has the problem's name instead of their names.
class Refusals {
 public:
  explicit Refusals(const Registry& registry) : registry_(registry) {}
  void add(const Method& method, const std::string& why) {
    auto found = std::find_if(all_.begin(), all_.end(), [&](const LeftOut& l) { return l.why == why; });
    if (found == all_.end()) found = all_.insert(all_.end(), LeftOut{{}, why});
    found->methods.push_back(method.id());
    ++count_;
  }
  std::size_t count() const { return count_; }
  std::vector<LeftOut> result() const {
    std::vector<LeftOut> result = all_;
    for (LeftOut& left : result) {
      std::vector<std::string> names;
      for (const auto& [problem, name] : EnumNames<Problem>::table) {
        std::vector<std::string> ids, refused;  // of the problem
        for (const Method& method : registry_.all()) {
          if (method.problem != problem) continue;
          const std::string id = method.id();
          const bool is_refused = std::count(left.methods.begin(), left.methods.end(), id) > 0;
          if (is_refused) refused.push_back(id);
          // Methods for several GPUs are tried only if the user names them. Otherwise they do not count for
          // "all".
          if (is_refused || method.column_block == nullptr) ids.push_back(id);
        }
        if (!ids.empty() && refused == ids) refused = {std::string(name)};
        names.insert(names.end(), refused.begin(), refused.end());
      }
      left.methods = names;
    }
    return result;
  }

 private:
  const Registry& registry_;
  std::vector<LeftOut> all_;
  std::size_t count_ = 0;
};

/// Returns the methods that suit the matrix, or that the user named; refuses the others.
std::vector<Candidate> suitable_methods(const TryRequest& request, const InspectedMatrix& matrix,
                                        const std::vector<Problem>& problems, const Registry& registry,
                                        Backend requested, Refusals& refusals) {
  const Uplo uplo = uplo_for(request, matrix);
  const bool is_named = !request.methods.empty();
  std::vector<Candidate> candidates;
  for (const Problem problem : problems) {
    for (const Method& method : registry.all()) {
      if (method.problem != problem || !is_requested(request, method)) continue;
      const Suitability suitability = suitability_of(matrix, method, uplo);
      if (is_singular(matrix) && needs_nonsingular(problem) && !is_named) {
        refusals.add(method, "the matrix is singular: nothing solves or inverts it");
      } else if (suitability.fits || (is_named && !ignores_elements(matrix.facts, problem, uplo))) {
        candidates.push_back({&method, suitability, resolve_backend(method, requested) == Backend::emulated});
      } else {
        refusals.add(method, "needs " + need_text(suitability.unmet));
      }
    }
  }
  return candidates;
}

/// Sets the candidates' times, or the reasons why they cannot run.
void estimate(std::vector<Candidate>& candidates, const Expansion& expansion, const Registry& registry) {
  const CostModel model(registry);
  for (const Trial& trial : expansion.trials) {
    const Method* method = registry.find(trial.problem, trial.method);
    Candidate& candidate = *std::find_if(candidates.begin(), candidates.end(),
                                         [&](const Candidate& each) { return each.method == method; });
    if (trial.skip_reason.empty()) {
      candidate.can_run = true;
      candidate.seconds += model.estimate(trial);
    } else {
      candidate.skip_reason = trial.skip_reason;
    }
  }
}

/// Returns the candidates whose times add up to less than the time limit, the fastest first; refuses the
/// others.
std::vector<Candidate> fitting_methods(const TryRequest& request, std::vector<Candidate> candidates,
                                       const Registry& registry, Backend requested, Refusals& refusals) {
  // Solving a system is the most frequent use. Its vendor method is therefore always tried.
  const auto sort_key = [&](const Candidate& c) {
    const bool is_first = c.method->problem->second == SecondOperand::right_hand_sides &&
                          c.suitability.known &&
                          c.method == registry.reference(c.method->problem, requested, 1);
    return std::tuple(!is_first, c.is_emulated, c.seconds);
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) { return sort_key(a) < sort_key(b); });
  std::vector<Candidate> chosen;
  double total = 0;
  for (const Candidate& candidate : candidates) {
    const double limit = (candidate.is_emulated ? emulated_fraction : time_fraction) * request.seconds;
    if (!candidate.can_run) {
      // Removes the method's name from the reason, because the list of methods contains it.
      std::string why = candidate.skip_reason;
      const std::string id = candidate.method->id() + " ";
      if (why.compare(0, id.size(), id) == 0) why.erase(0, id.size());
      refusals.add(*candidate.method, why);
    } else if (request.methods.empty() && !chosen.empty() && total + candidate.seconds > limit) {
      refusals.add(*candidate.method,
                   fmt::format("may not fit into {} (raise --time-limit, or name the method with --method)",
                               duration_text(request.seconds)));
    } else {
      total += candidate.seconds;
      chosen.push_back(candidate);
    }
  }
  return chosen;
}

}  // namespace

TryPlan plan_try(const TryRequest& request, const InspectedMatrix& matrix, const FileFacts& file,
                 const Registry& registry, Backend requested, int capability) {
  if (!matrix.facts.is_square()) {
    throw UsageError(fmt::format("{} is {} x {}: try needs a square matrix", file.path, matrix.facts.rows,
                                 matrix.facts.cols));
  }
  const std::vector<Problem> problems = problems_for(request, matrix);
  refuse_unknown_methods(request, problems, registry);
  Refusals refusals(registry);
  std::vector<Candidate> candidates =
      suitable_methods(request, matrix, problems, registry, requested, refusals);
  TryPlan result;
  if (!candidates.empty()) {
    const auto once = [](const Method&) -> std::int64_t { return 1; };
    const io::Plan plan = io::parse_plan(plan_text(request, matrix, file, problems, candidates, once), "try",
                                         enum_names<Problem>());
    const Expansion expansion = expand(plan, registry, requested, capability,
                                       [&](const std::string&, const std::string&) { return file; });
    estimate(candidates, expansion, registry);
    const std::vector<Candidate> chosen =
        fitting_methods(request, std::move(candidates), registry, requested, refusals);
    if (!chosen.empty()) {
      result.in_rounds = [=](const RoundsOf& rounds) {
        return plan_text(request, matrix, file, problems, chosen, rounds);
      };
      result.text = result.in_rounds(once);
      for (const Candidate& candidate : chosen) result.methods.push_back(candidate.method);
      for (const Trial& trial : expansion.trials) {
        const Method* method = registry.find(trial.problem, trial.method);
        if (std::count(result.methods.begin(), result.methods.end(), method) == 0) continue;
        ++result.trials;
        if (trial.backend == Backend::emulated) ++result.emulated_trials;
      }
    }
  }
  result.left_out = refusals.result();
  result.left_out_count = refusals.count();
  return result;
}

}  // namespace gaussweep::driver
