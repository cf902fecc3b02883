/// Expands a plan to its trials, and collects all of its mistakes. io::Mistakes::attempt runs a function,
/// keeps its io::InputError and returns false if there was one.

#include "driver/plan/expand.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "driver/base/lookup.hpp"
#include "driver/plan/exclude.hpp"
#include "driver/plan/needs.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/plan/trial_maker.hpp"
#include "io/plan/mistakes.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::fail_at;
using io::Scalar;

/// The maximum number of trials of a plan. More are probably a mistake, and run directories are not designed
/// for more.
constexpr std::size_t max_trials = 1'000'000;

/// Returns true if the pattern selects the method. A method for several GPUs (Method::column_block is set)
/// must be named in full, unless the entry has the axis `gpus`. Otherwise globs would add it on one GPU,
/// where it does the same as another method.
bool is_selected(const Method& method, const std::string& pattern, const io::Entry& entry) {
  if (!matches(pattern, method)) return false;
  if (method.column_block == nullptr || pattern == method.variant || pattern == method.id()) return true;
  return entry.axes.count("gpus") > 0 || std::any_of(entry.zips.begin(), entry.zips.end(),
                                                     [](const auto& zip) { return zip.count("gpus") > 0; });
}

/// Returns the methods that an entry selects. Adds a mistake and returns an empty list if a pattern matches
/// no method.
std::vector<const Method*> select_methods(const io::Entry& entry, Problem problem, const Registry& registry,
                                          io::Mistakes& mistakes) {
  std::vector<const Method*> selected;
  bool is_complete = true;
  std::set<std::string> patterns;
  for (const Scalar& pattern : entry.methods) {
    if (!patterns.insert(pattern.text).second) continue;
    for (const Method& method : registry.all()) {
      if (method.problem != problem || !is_selected(method, pattern.text, entry)) continue;
      if (std::find(selected.begin(), selected.end(), &method) == selected.end()) selected.push_back(&method);
    }
    const auto check = [&, &checked = pattern] {
      if (!matches_a_method(checked.text, entry, registry))
        fail_no_method(checked.location, "", checked.text, problem, registry);
    };
    is_complete = mistakes.attempt(check) && is_complete;
  }
  if (!is_complete) return {};
  const Scalar& first = entry.methods.front();
  if (selected.empty())
    mistakes.attempt([&] { fail_no_method(first.location, "", first.text, problem, registry); });
  return selected;
}

/// Returns the names of the problems that have the axis: "trsv, potrf and trtri".
std::string problems_with(const std::string& axis) {
  std::vector<std::string> names;
  for (const Problem problem : all_problems()) {
    if (problem->has_axis(axis)) names.push_back(problem->name);
  }
  if (names.size() < 2) return joined(names);
  const std::string last = names.back();
  names.pop_back();
  return joined(names) + " and " + last;
}

/// Throws unless the name is an axis of the problem or a parameter of a selected method.
void check_axis(const std::string& name, const io::Location& location, Problem problem,
                const std::vector<const Method*>& methods) {
  if (name == "m" || name == "k") {
    if (problem->has_axis(name)) return;
    fail_at(location,
            fmt::format("{} is an axis of {} only; {} has n", name, problems_with(name), problem->name));
  }
  if ((name == "nrhs" || name == "uplo") && !problem->has_axis(name)) {
    fail_at(location,
            fmt::format("{} is an axis of {} only, not of {}", name, problems_with(name), problem->name));
  }
  if (fixed_axes().count(name) > 0) return;
  std::set<std::string> known = fixed_axes();
  for (const Method* method : methods) {
    if (has_parameter(*method, name)) return;
    for (const Parameter& parameter : method->parameters) known.insert(parameter.name);
  }
  known.insert(io::reserved_entry_keys().begin(), io::reserved_entry_keys().end());
  const std::vector<std::string> names(known.begin(), known.end());
  fail_at(
      location,
      fmt::format("'{}' is neither a key, an axis nor a parameter of a selected method; {}allowed here: {}",
                  name, io::nearest_hint(name, names), joined(names)));
}

/// Throws if a pattern of `expect` matches no method.
void check_expect(const io::Entry& entry, Problem problem, const Registry& registry) {
  for (const auto& [pattern, expectation] : entry.expect) {
    if (!matches_a_method(pattern, entry, registry))
      fail_no_method(expectation.first, "expect: ", pattern, problem, registry);
  }
}

/// Axis → ids of the methods that ignore it.
using Ignored = std::map<std::string, std::set<std::string>>;

/// Returns "parameters of some methods, ignored where …: blocks for gesv/lapack; tile for 17 methods".
std::string ignored_text(const Ignored& ignored) {
  constexpr std::size_t max_named = 3;
  std::string text;
  for (const auto& [name, methods] : ignored) {
    text += fmt::format("{}{} for {}", text.empty() ? "" : "; ", name,
                        methods.size() > max_named ? fmt::format("{} methods", methods.size())
                                                   : fmt::format("{}", fmt::join(methods, ", ")));
  }
  return "parameters of some methods, ignored where a method has none of that name: " + text;
}

/// Checks the axes of an entry; an axis that no method has is a mistake. Adds to `ignored` each axis that
/// only some methods have.
/// @return true if there was no mistake
bool check_axes(const io::Entry& entry, Problem problem, const std::vector<const Method*>& methods,
                Ignored& ignored, io::Mistakes& mistakes) {
  std::vector<std::pair<std::string, io::Location>> named;
  for (const auto& [name, axis] : entry.axes) named.emplace_back(name, axis.location);
  for (const auto& zip : entry.zips) {
    for (const auto& [name, axis] : zip) named.emplace_back(name, axis.location);
  }
  bool is_correct = true;
  for (const auto& [name, location] : named) {
    is_correct = mistakes.attempt([&, &one = name, &at = location] {
      check_axis(one, at, problem, methods);
    }) && is_correct;
    for (const Method* method : methods) {
      if (fixed_axes().count(name) > 0 || has_parameter(*method, name)) continue;
      ignored[name].insert(method->id());
    }
  }
  return is_correct;
}

/// Warns if matrices of this kind lack a property that a method needs. The caller omits the call if the plan
/// expects failures.
void warn_of_kind(const io::MatrixBlock& block, const Method& method,
                  const std::function<void(const std::string&)>& warn) {
  const Scalar* name = find_in(block.values, "kind");
  const auto kind = name == nullptr ? std::nullopt : from_string<MatrixKind>(name->text);
  if (!kind) return;
  for (const Need need : method.needs) {
    if (!kind_lacks(*kind, method.problem, need)) continue;
    warn(fmt::format("{} needs {}, which a matrix of kind {} is not: it may fail (expect can allow it)",
                     method.id(), need_text(need), to_string(*kind)));
  }
}

/// Warns if the matrix of a file lacks a property that the trial needs.
void warn_of_file(const InspectedMatrix& inspected, const Method& method, const Trial& trial,
                  const std::function<void(const std::string&)>& warn) {
  const std::string name = std::filesystem::path(trial.matrix.file).filename().string();
  for (const std::string& sentence : unmet_needs(inspected, method, trial.shape.uplo, trial.precision, name))
    warn(sentence + " (expect can allow a failure)");
}

/// Merges a trial that the plan contains twice, because it runs and is judged only once.
/// @param first the trial from the entry at `location`; receives the expected statuses of `again`
/// @throws io::InputError if the plan gives the trial two different tolerances
void merge_duplicate(Trial& first, const io::Location& location, const Trial& again, const io::Entry& entry) {
  if (first.tolerance != again.tolerance) {
    fail_at(entry.location,
            fmt::format(
                "{} is in the entry at line {} too, with tolerance {:g}; here it is {:g}. A trial has one "
                "tolerance: give both the same, or exclude it from one of them",
                describe(first), location.line, first.tolerance, again.tolerance));
  }
  if (first.expect == again.expect) return;
  // A status is expected if at least one of the entries expects it. The command `verify` has the same rule.
  const std::vector<std::string> pass{name_of(io::Status::pass)};
  const std::vector<std::string>& more = again.expect.empty() ? pass : again.expect;
  if (first.expect.empty()) first.expect = pass;
  first.expect.insert(first.expect.end(), more.begin(), more.end());
}

}  // namespace

std::optional<Backend> resolve_backend(const Method& method, Backend requested) {
  if (method.runs_on(requested)) return requested;
  const bool has_gpu_code = method.entry(Backend::cuda) || method.entry(Backend::emulated);
  if (!has_gpu_code && method.runs_on(Backend::host)) return Backend::host;
  return std::nullopt;
}

namespace {

/// Expands the entries of a plan one after the other.
class Expander {
 public:
  Expander(const io::Plan& plan, const Registry& registry, Backend requested, int capability,
           const FileLookup& lookup)
      : plan_(plan), registry_(registry), requested_(requested), capability_(capability), lookup_(lookup) {}

  /// Adds the trials of an entry. If the entry has mistakes, adds these to `mistakes` and no trials.
  void add(const io::Entry& entry, io::Mistakes& mistakes) {
    const Problem problem = parse_enum<Problem>(entry.problem);
    const std::vector<const Method*> selected = select_methods(entry, problem, registry_, mistakes);
    bool is_correct = !selected.empty();
    const auto attempt = [&](const auto& action) { is_correct = mistakes.attempt(action) && is_correct; };
    // If a method is misspelt, any method of the problem may be meant. The checks below therefore allow the
    // names of all of them.
    std::vector<const Method*> methods = selected;
    if (selected.empty()) {
      for (const Method& method : registry_.all()) {
        if (method.problem == problem) methods.push_back(&method);
      }
    }
    attempt([&] { check_expect(entry, problem, registry_); });
    attempt([&] { check_excludes(entry, problem, methods, registry_); });
    attempt([&] {
      if (!entry.matrix_b || problem->second == SecondOperand::matrix) return;
      fail_at(entry.matrix_b->location,
              fmt::format("matrix_b is for {} only, not for {}", problems_with("k"), problem->name));
    });
    is_correct = check_axes(entry, problem, methods, ignored_, mistakes) && is_correct;
    std::vector<RequestedMatrices> matrices;
    for (const io::MatrixBlock& block : entry.matrices)
      attempt([&] { matrices.push_back(request_matrices(entry, block, lookup_)); });
    if (!is_correct) return;
    const Exclusions exclusions(entry);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      for (const Method* method : selected) add(entry, entry.matrices[i], matrices[i], *method, exclusions);
    }
  }

  Expansion result() {
    if (!ignored_.empty()) result_.notes.push_back(ignored_text(ignored_));
    if (result_.trials.empty())
      throw io::InputError(plan_.file + ": the plan has no trials: everything is excluded");
    return std::move(result_);
  }

 private:
  /// The first occurrence of a trial.
  struct Occurrence {
    std::size_t index;  ///< index into the trials
    const io::Entry* entry;
  };

  void note(const std::string& text) {
    if (known_notes_.insert(text).second) result_.notes.push_back(text);
  }

  /// Adds the trials of one method on one matrix.
  void add(const io::Entry& entry, const io::MatrixBlock& block, const RequestedMatrices& matrices,
           const Method& method, const Exclusions& exclusions) {
    const std::vector<std::string> expected = expected_statuses(entry, method);
    const std::optional<Backend> backend = resolve_backend(method, requested_);
    const auto warn = [&](const std::string& text) { note(text); };
    if (backend && expected.empty()) warn_of_kind(block, method, warn);
    const TrialMaker maker{entry,       method,   backend,        requested_,
                           capability_, matrices, block.location, expected};
    const std::vector<Dimension> dimensions =
        dimensions_of(plan_, entry, method, backend.value_or(requested_), requested_);
    const std::int64_t rounds = entry.settings.rounds;
    if (count_combinations(dimensions, max_trials) * static_cast<std::size_t>(rounds) >
        max_trials - result_.trials.size()) {
      fail_at(entry.location,
              fmt::format("with this entry the plan has more than {} trials; split it", max_trials));
    }
    Assignment current;
    for_each_combination(dimensions, 0, current, [&](const Assignment& chosen) {
      for (std::int64_t round = 1; round <= rounds; ++round) {
        Trial trial = maker.make(chosen, round);
        if (exclusions.excludes(trial, method)) return;
        if (trial.energy_seconds > 0 && trial.backend != Backend::cuda && trial.skip_reason.empty())
          note(fmt::format("energy is measured on GPUs only: ignored for {} on the backend {}", method.id(),
                           to_string(trial.backend)));
        const auto [first, is_new] =
            occurrences_.try_emplace(trial.key, Occurrence{result_.trials.size(), &entry});
        if (is_new) {
          if (matrices.inspected && trial.skip_reason.empty() && expected.empty())
            warn_of_file(*matrices.inspected, method, trial, warn);
          result_.trials.push_back(std::move(trial));
        } else {
          Trial& known = result_.trials[first->second.index];
          if (known.matrix.file != trial.matrix.file)
            note(fmt::format("{} has the same content as {}: equal trials run once", trial.matrix.file,
                             known.matrix.file));
          merge_duplicate(known, first->second.entry->location, trial, entry);
        }
      }
    });
  }

  const io::Plan& plan_;
  const Registry& registry_;
  Backend requested_;
  int capability_;
  const FileLookup& lookup_;
  Expansion result_;
  std::unordered_map<std::string, Occurrence> occurrences_;  ///< by trial key
  std::set<std::string> known_notes_;
  Ignored ignored_;
};

}  // namespace

Expansion expand(const io::Plan& plan, const Registry& registry, Backend requested, int capability,
                 const FileLookup& lookup) {
  Expander expander(plan, registry, requested, capability, lookup);
  io::Mistakes mistakes;
  for (const io::Entry& entry : plan.sweep) mistakes.attempt([&] { expander.add(entry, mistakes); });
  mistakes.refuse();
  return expander.result();
}

}  // namespace gaussweep::driver
