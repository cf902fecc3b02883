#include "driver/expand.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "driver/matrix_request.hpp"
#include "io/matrix_file.hpp"
#include "kernels/check/check.hpp"

namespace gaussweep::driver {
namespace {

using io::fail_at;
using io::Scalar;

/// One choice on every axis: name → value.
using Assignment = std::map<std::string, Scalar>;
/// An axis (each choice sets one name), or a zip (each choice sets several).
using Dimension = std::vector<Assignment>;

constexpr std::int64_t largest_size = 1'000'000;
constexpr std::int64_t most_repeats = 1'000'000;

bool is_fixed_axis(const std::string& name) {
  static const std::set<std::string> fixed = {"n", "m", "k", "nrhs", "uplo", "precision", "seed"};
  return fixed.count(name) > 0;
}

bool has_parameter(const Method& method, const std::string& name) {
  return std::any_of(method.parameters.begin(), method.parameters.end(),
                     [&](const Parameter& p) { return p.name == name; });
}

bool matches(const std::string& pattern, const Method& method) {
  return pattern == "all" || fnmatch(pattern.c_str(), method.variant.c_str(), 0) == 0 ||
         fnmatch(pattern.c_str(), method.id().c_str(), 0) == 0;
}

std::vector<std::string> variants_of(const Registry& registry, Problem problem) {
  std::vector<std::string> names;
  for (const Method& method : registry.all()) {
    if (method.problem == problem) names.push_back(method.variant);
  }
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

template <class E>
E parse_enum(const Scalar& scalar) {
  const auto value = from_string<E>(scalar.text);
  if (value) return *value;
  std::vector<std::string> names;
  for (const auto& [key, name] : EnumNames<E>::table) names.emplace_back(name);
  fail_at(scalar.place, fmt::format("'{}' is no {}; allowed: {}{}", scalar.text, EnumNames<E>::what,
                                    allowed_names<E>(), io::nearest_hint(scalar.text, names)));
}

std::vector<const Method*> select_methods(const io::Entry& entry, Problem problem, const Registry& registry) {
  std::vector<const Method*> selected;
  for (const Scalar& pattern : entry.methods) {
    bool any = false;
    for (const Method& method : registry.all()) {
      if (method.problem != problem || !matches(pattern.text, method)) continue;
      any = true;
      if (std::find(selected.begin(), selected.end(), &method) == selected.end()) selected.push_back(&method);
    }
    if (any) continue;
    const std::vector<std::string> names = variants_of(registry, problem);
    fail_at(pattern.place, fmt::format("{} has no method '{}'; it has: {}{}", to_string(problem),
                                       pattern.text, joined(names), io::nearest_hint(pattern.text, names)));
  }
  return selected;
}

/// Every axis of an entry must mean something: an axis of the problem, or a parameter of some selected
/// method.
void check_axis(const std::string& name, const io::Place& place, Problem problem,
                const std::vector<const Method*>& methods) {
  if (name == "m" || name == "k") {
    if (problem == Problem::gemm) return;
    fail_at(place, fmt::format("{} is an axis of gemm only; {} has n", name, to_string(problem)));
  }
  if (name == "nrhs" && problem != Problem::gesv && problem != Problem::trsv) {
    fail_at(place, fmt::format("nrhs is an axis of gesv and trsv only, not of {}", to_string(problem)));
  }
  if (name == "uplo" && problem != Problem::trsv && problem != Problem::potrf && problem != Problem::trtri) {
    fail_at(place,
            fmt::format("uplo is an axis of trsv, potrf and trtri only, not of {}", to_string(problem)));
  }
  if (is_fixed_axis(name)) return;
  std::set<std::string> known = {"n", "m", "k", "nrhs", "uplo", "precision", "seed"};
  for (const Method* method : methods) {
    if (has_parameter(*method, name)) return;
    for (const Parameter& parameter : method->parameters) known.insert(parameter.name);
  }
  known.insert(io::entry_words().begin(), io::entry_words().end());
  const std::vector<std::string> names(known.begin(), known.end());
  fail_at(
      place,
      fmt::format("'{}' is neither a key, an axis nor a parameter of a selected method; allowed here: {}{}",
                  name, joined(names), io::nearest_hint(name, names)));
}

const std::vector<Scalar>& values_for(const std::string& name, const io::Axis& axis, Backend backend,
                                      Backend requested) {
  if (axis.by_backend.empty()) return axis.values;
  for (Backend wanted : {backend, requested}) {
    const auto found = axis.by_backend.find(std::string(to_string(wanted)));
    if (found != axis.by_backend.end()) return found->second;
  }
  fail_at(axis.place, fmt::format("{} says nothing for the backend {}", name, to_string(backend)));
}

/// The dimensions that a method varies over, in the order: precision, then axes by name, then zips.
std::vector<Dimension> dimensions_of(const io::Plan& plan, const io::Entry& entry, const Method& method,
                                     Backend backend, Backend requested) {
  const auto concerns = [&](const std::string& name) {
    return is_fixed_axis(name) || has_parameter(method, name);
  };
  std::vector<Dimension> dimensions;
  std::set<std::string> named;
  for (const auto& zip : entry.zips) {
    Dimension dimension;
    for (const auto& [name, axis] : zip) {
      named.insert(name);
      if (!concerns(name)) continue;
      const std::vector<Scalar>& values = values_for(name, axis, backend, requested);
      dimension.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) dimension[i].emplace(name, values[i]);
    }
    if (!dimension.empty()) dimensions.push_back(std::move(dimension));
  }
  std::vector<Dimension> axes;
  if (entry.axes.count("precision") == 0 && named.count("precision") == 0) {
    Dimension precisions;
    for (const Scalar& precision : plan.precision) precisions.push_back({{"precision", precision}});
    axes.push_back(std::move(precisions));
  }
  for (const auto& [name, axis] : entry.axes) {
    if (!concerns(name)) continue;
    Dimension dimension;
    for (const Scalar& value : values_for(name, axis, backend, requested))
      dimension.push_back({{name, value}});
    axes.push_back(std::move(dimension));
  }
  dimensions.insert(dimensions.begin(), axes.begin(), axes.end());
  return dimensions;
}

/// Calls `visit` with every combination, the last dimension fastest.
template <class Visit>
void for_each_combination(const std::vector<Dimension>& dimensions, std::size_t depth, Assignment& current,
                          Visit&& visit) {
  if (depth == dimensions.size()) {
    visit(current);
    return;
  }
  for (const Assignment& choice : dimensions[depth]) {
    for (const auto& [name, value] : choice) current[name] = value;
    for_each_combination(dimensions, depth + 1, current, visit);
  }
}

ParameterValue parse_parameter(const Parameter& parameter, const Scalar& scalar) {
  if (std::holds_alternative<std::int64_t>(parameter.fallback)) {
    return io::parse_integer(scalar, static_cast<std::int64_t>(parameter.low),
                             static_cast<std::int64_t>(parameter.high), parameter.name);
  }
  if (std::holds_alternative<double>(parameter.fallback)) {
    return io::parse_real(scalar, parameter.low, parameter.high, parameter.name);
  }
  if (std::find(parameter.choices.begin(), parameter.choices.end(), scalar.text) == parameter.choices.end()) {
    fail_at(scalar.place,
            fmt::format("'{}' is no value of {}; allowed: {}{}", scalar.text, parameter.name,
                        joined(parameter.choices), io::nearest_hint(scalar.text, parameter.choices)));
  }
  return scalar.text;
}

/// A condition of `exclude`: ">4096", "<=64", a value, or (for methods) a glob.
bool condition_holds(const std::string& condition, const std::string& value) {
  const auto number = [](const std::string& text, double& out) {
    const Scalar scalar{text, {}};
    try {
      out = io::parse_real(scalar, -1e300, 1e300, "");
      return true;
    } catch (const io::InputError&) {
      try {
        out = static_cast<double>(io::parse_integer(scalar, INT64_MIN / 2, INT64_MAX / 2, ""));
        return true;
      } catch (const io::InputError&) {
        return false;
      }
    }
  };
  double a = 0, b = 0;
  for (const char* op : {">=", "<=", ">", "<"}) {
    if (condition.rfind(op, 0) != 0) continue;
    if (!number(value, a) || !number(condition.substr(std::string(op).size()), b)) return false;
    const std::string o = op;
    return o == ">=" ? a >= b : o == "<=" ? a <= b : o == ">" ? a > b : a < b;
  }
  if (number(value, a) && number(condition, b)) return a == b;
  return fnmatch(condition.c_str(), value.c_str(), 0) == 0;
}

std::string value_text(const ParameterValue& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

std::map<std::string, std::string> facts_of(const Trial& trial) {
  std::map<std::string, std::string> facts = {{"method", trial.method},
                                              {"n", std::to_string(trial.shape.n)},
                                              {"m", std::to_string(trial.shape.m)},
                                              {"k", std::to_string(trial.shape.k)},
                                              {"nrhs", std::to_string(trial.shape.nrhs)},
                                              {"uplo", std::string(to_string(trial.shape.uplo))},
                                              {"precision", std::string(to_string(trial.precision))},
                                              {"seed", std::to_string(trial.matrix.spec.seed)},
                                              {"matrix", trial.matrix.kind},
                                              {"backend", std::string(to_string(trial.backend))}};
  for (const auto& [name, value] : trial.parameters.all()) facts[name] = value_text(value);
  return facts;
}

void check_excludes(const io::Entry& entry, const std::vector<const Method*>& methods) {
  std::set<std::string> known = {"method", "n",         "m",    "k",      "nrhs",
                                 "uplo",   "precision", "seed", "matrix", "backend"};
  for (const Method* method : methods) {
    for (const Parameter& parameter : method->parameters) known.insert(parameter.name);
  }
  const std::vector<std::string> names(known.begin(), known.end());
  for (const io::Exclude& exclude : entry.excludes) {
    for (const auto& [name, values] : exclude.conditions) {
      if (known.count(name) > 0) continue;
      fail_at(values.empty() ? exclude.place : values.front().place,
              fmt::format("exclude knows no '{}'; allowed: {}{}", name, joined(names),
                          io::nearest_hint(name, names)));
    }
  }
}

bool is_excluded(const io::Entry& entry, const Trial& trial) {
  const std::map<std::string, std::string> facts = facts_of(trial);
  return std::any_of(entry.excludes.begin(), entry.excludes.end(), [&](const io::Exclude& exclude) {
    return std::all_of(exclude.conditions.begin(), exclude.conditions.end(), [&](const auto& condition) {
      const auto fact = facts.find(condition.first);
      return fact != facts.end() &&
             std::any_of(condition.second.begin(), condition.second.end(),
                         [&](const Scalar& s) { return condition_holds(s.text, fact->second); });
    });
  });
}

std::vector<std::string> expected_statuses(const io::Entry& entry, const Method& method) {
  std::vector<std::string> statuses;
  for (const auto& [pattern, expectation] : entry.expect) {
    if (!matches(pattern, method)) continue;
    for (const Scalar& status : expectation.second) statuses.push_back(status.text);
  }
  return statuses;
}

void check_expect(const io::Entry& entry, Problem problem, const Registry& registry) {
  const std::vector<std::string> statuses(std::begin(trial_statuses), std::end(trial_statuses));
  for (const auto& [pattern, expectation] : entry.expect) {
    const bool any = std::any_of(
        registry.all().begin(), registry.all().end(),
        [&, &wanted = pattern](const Method& m) { return m.problem == problem && matches(wanted, m); });
    if (!any) {
      const std::vector<std::string> names = variants_of(registry, problem);
      fail_at(expectation.first,
              fmt::format("expect: {} has no method '{}'; it has: {}{}", to_string(problem), pattern,
                          joined(names), io::nearest_hint(pattern, names)));
    }
    for (const Scalar& status : expectation.second) {
      if (std::find(statuses.begin(), statuses.end(), status.text) == statuses.end()) {
        fail_at(status.place, fmt::format("'{}' is no status; allowed: {}{}", status.text, joined(statuses),
                                          io::nearest_hint(status.text, statuses)));
      }
    }
  }
}

double tolerance_of(const io::Plan& plan, const io::Entry& entry, Problem problem) {
  const std::string name(to_string(problem));
  for (const auto* tolerances : {&entry.tolerance, &plan.tolerance}) {
    const auto own = tolerances->find(name);
    if (own != tolerances->end())
      return io::parse_real(own->second, 1e-300, 1e300, "the tolerance of " + name);
    const auto factor = tolerances->find("");
    if (factor != tolerances->end()) {
      return default_tolerance(problem) * io::parse_real(factor->second, 1e-300, 1e300, "tolerance");
    }
  }
  return default_tolerance(problem);
}

void check_tolerances(const std::map<std::string, Scalar>& tolerances) {
  std::vector<std::string> names;
  for (const auto& [problem, name] : EnumNames<Problem>::table) names.emplace_back(name);
  for (const auto& [name, value] : tolerances) {
    if (!name.empty() && !from_string<Problem>(name)) {
      fail_at(value.place, fmt::format("tolerance: '{}' is no problem; allowed: {}{}", name, joined(names),
                                       io::nearest_hint(name, names)));
    }
  }
}

/// Why a trial cannot run here; empty where it can.
std::string reason_to_skip(const Method& method, const Trial& trial, std::optional<Backend> backend,
                           Backend requested, int capability) {
  if (!backend) return fmt::format("{} does not run on the backend {}", method.id(), to_string(requested));
  if (!method.has(trial.precision))
    return fmt::format("{} has no {} version", method.id(), to_string(trial.precision));
  if (*backend == Backend::cuda && capability > 0 && method.capability > capability) {
    return fmt::format("needs compute capability {}.{}, the GPU has {}.{}", method.capability / 10,
                       method.capability % 10, capability / 10, capability % 10);
  }
  if (trial.shape.nrhs > method.max_nrhs) {
    return fmt::format("{} takes at most {} right-hand sides", method.id(), method.max_nrhs);
  }
  if (method.accepts != nullptr && !method.accepts(trial.shape, trial.parameters)) {
    return fmt::format("{} does not take this shape with these parameters", method.id());
  }
  return {};
}

std::string key_of(const Trial& t) {
  nlohmann::json j = to_json(t);
  for (const char* other : {"key", "tolerance", "expect", "timeout_seconds", "skip_reason"}) j.erase(other);
  // a matrix is what its digest says; its place in the file system decides nothing
  j["matrix"] = t.matrix.digest;
  if (t.matrix_b) j["matrix_b"] = t.matrix_b->digest;
  return io::sha256(j.dump()).substr(0, 32);
}

struct Maker {
  const io::Plan& plan;
  const io::Entry& entry;
  const Method& method;
  Problem problem;
  std::optional<Backend> backend;
  Backend requested;
  int capability;
  const FileLookup& lookup;
  const io::MatrixBlock& block;

  std::int64_t size(const Assignment& chosen, const char* name, std::int64_t otherwise) const {
    const auto found = chosen.find(name);
    return found == chosen.end() ? otherwise : io::parse_integer(found->second, 1, largest_size, name);
  }

  Trial make(const Assignment& chosen) const {
    Trial t;
    t.problem = problem;
    t.method = method.variant;
    t.precision = parse_enum<Precision>(chosen.at("precision"));
    t.backend = backend.value_or(requested);
    if (chosen.count("uplo") > 0) t.shape.uplo = parse_enum<Uplo>(chosen.at("uplo"));
    t.shape.nrhs = size(chosen, "nrhs", 1);
    t.parameters = parameters(chosen);
    const Scalar* seed = chosen.count("seed") > 0 ? &chosen.at("seed") : nullptr;
    t.matrix = request_matrix(block, seed, lookup);
    set_sizes(t, chosen);
    finish_request(t.matrix, t.precision, problem == Problem::gemm ? 1 : t.shape.nrhs);
    if (t.matrix_b) finish_request(*t.matrix_b, t.precision, 1);
    const auto count = [&](const std::optional<Scalar>& own, const Scalar& otherwise, std::int64_t low,
                           const char* what) {
      return io::parse_integer(own.value_or(otherwise), low, most_repeats, what);
    };
    t.repeats = count(entry.repeats, plan.repeats, 1, "repeats");
    t.warmup = count(entry.warmup, plan.warmup, 0, "warmup");
    t.inner_repeats = count(entry.inner_repeats, plan.inner_repeats, 1, "inner_repeats");
    t.timeout_seconds = io::parse_duration(entry.timeout.value_or(plan.timeout), "timeout");
    t.tolerance = tolerance_of(plan, entry, problem);
    t.expect = expected_statuses(entry, method);
    t.skip_reason = reason_to_skip(method, t, backend, requested, capability);
    t.key = key_of(t);
    return t;
  }

  Parameters parameters(const Assignment& chosen) const {
    Parameters result;
    for (const Parameter& parameter : method.parameters) {
      const auto given = chosen.find(parameter.name);
      result.set(parameter.name,
                 given == chosen.end() ? parameter.fallback : parse_parameter(parameter, given->second));
    }
    return result;
  }

  void set_sizes(Trial& t, const Assignment& chosen) const {
    const bool from_file = t.matrix.kind == "file";
    const auto n_given = chosen.find("n");
    if (!from_file && n_given == chosen.end())
      fail_at(entry.place, "n is missing; give a size, a list or a range");
    if (problem == Problem::gemm) {
      const std::int64_t n = n_given == chosen.end() ? t.matrix.spec.cols : size(chosen, "n", 1);
      t.shape.n = n;
      t.shape.m = from_file ? t.matrix.spec.rows : size(chosen, "m", n);
      t.shape.k = from_file ? t.matrix.spec.cols : size(chosen, "k", n);
      t.matrix.spec.rows = t.shape.m;
      t.matrix.spec.cols = t.shape.k;
      t.matrix_b = second_operand(t, chosen);
      return;
    }
    const std::int64_t n = from_file ? t.matrix.spec.rows : size(chosen, "n", 1);
    if (from_file && t.matrix.spec.rows != t.matrix.spec.cols) {
      fail_at(block.place, fmt::format("{} is {} x {}; {} needs a square matrix", t.matrix.file,
                                       t.matrix.spec.rows, t.matrix.spec.cols, to_string(problem)));
    }
    if (from_file && n_given != chosen.end() && size(chosen, "n", 1) != n) {
      fail_at(n_given->second.place, fmt::format("n = {}, but {} is {} x {}; leave n out",
                                                 n_given->second.text, t.matrix.file, n, n));
    }
    t.shape.m = t.shape.n = t.shape.k = t.matrix.spec.rows = t.matrix.spec.cols = n;
    t.matrix.spec.uplo = t.shape.uplo;
  }

  /// gemm's B: `matrix_b`, or the kind of A with the next seed.
  MatrixRequest second_operand(const Trial& t, const Assignment& chosen) const {
    MatrixRequest b = t.matrix;
    if (entry.matrix_b) {
      io::MatrixBlock own = *entry.matrix_b;
      if (plan.store) own.values.emplace("store", *plan.store);
      b = request_matrix(own, nullptr, lookup);
      if (b.kind == "file" && (b.spec.rows != t.shape.k || b.spec.cols != t.shape.n)) {
        fail_at(entry.matrix_b->place, fmt::format("{} is {} x {}; B must be k x n = {} x {}", b.file,
                                                   b.spec.rows, b.spec.cols, t.shape.k, t.shape.n));
      }
    } else if (b.kind == "file") {
      fail_at(block.place, "gemm with a matrix from a file needs matrix_b too");
    } else {
      b.spec.seed += 1;
    }
    (void)chosen;
    b.spec.rows = t.shape.k;
    b.spec.cols = t.shape.n;
    return b;
  }
};

}  // namespace

std::optional<Backend> resolve_backend(const Method& method, Backend requested) {
  if (method.runs_on(requested)) return requested;
  const bool portable = method.entry(Backend::cuda) || method.entry(Backend::emulated);
  if (!portable && method.runs_on(Backend::host)) return Backend::host;
  return std::nullopt;
}

Expansion expand(const io::Plan& plan, const Registry& registry, Backend requested, int capability,
                 const FileLookup& lookup) {
  Expansion result;
  std::unordered_set<std::string> keys;
  std::set<std::string> said;
  const auto say_once = [&](const std::string& words) {
    if (said.insert(words).second) result.notes.push_back(words);
  };
  check_tolerances(plan.tolerance);
  for (const io::Entry& entry : plan.sweep) {
    const Problem problem = parse_enum<Problem>(entry.problem);
    const std::vector<const Method*> methods = select_methods(entry, problem, registry);
    check_tolerances(entry.tolerance);
    check_expect(entry, problem, registry);
    check_excludes(entry, methods);
    std::vector<std::pair<std::string, io::Place>> named;
    for (const auto& [name, axis] : entry.axes) named.emplace_back(name, axis.place);
    for (const auto& zip : entry.zips) {
      for (const auto& [name, axis] : zip) named.emplace_back(name, axis.place);
    }
    for (const auto& [name, place] : named) {
      check_axis(name, place, problem, methods);
      for (const Method* method : methods) {
        if (is_fixed_axis(name) || has_parameter(*method, name)) continue;
        say_once(fmt::format("{} is no parameter of {}: ignored for it", name, method->id()));
      }
    }
    std::vector<io::MatrixBlock> blocks = entry.matrices.empty() ? plan.matrices : entry.matrices;
    if (blocks.empty()) blocks.push_back(default_matrix_block(entry.place));
    if (plan.store) {
      for (io::MatrixBlock& block : blocks) block.values.emplace("store", *plan.store);
    }
    for (const io::MatrixBlock& block : blocks) {
      for (const Method* method : methods) {
        const std::optional<Backend> backend = resolve_backend(*method, requested);
        const Maker maker{plan, entry, *method, problem, backend, requested, capability, lookup, block};
        Assignment current;
        for_each_combination(dimensions_of(plan, entry, *method, backend.value_or(requested), requested), 0,
                             current, [&](const Assignment& chosen) {
                               Trial trial = maker.make(chosen);
                               if (is_excluded(entry, trial) || !keys.insert(trial.key).second) return;
                               result.trials.push_back(std::move(trial));
                             });
      }
    }
  }
  if (result.trials.empty())
    throw io::InputError(plan.file + ": the plan has no trials: everything is excluded");
  return result;
}

}  // namespace gaussweep::driver
