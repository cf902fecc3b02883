#include "driver/plan/trial_maker.hpp"

#include "driver/base/words.hpp"
#include "driver/plan/blur_request.hpp"
#include "driver/plan/matrix_request.hpp"
#include "driver/plan/plan_words.hpp"
#include "io/matrix/matrix_file.hpp"
#include "kernels/check/check.hpp"
#include "kernels/matrix/condition.hpp"

namespace gaussweep::driver {
namespace {

ParameterValue parse_parameter(const Parameter& parameter, const io::Scalar& scalar) {
  if (std::holds_alternative<std::int64_t>(parameter.fallback)) {
    return io::parse_integer(scalar, static_cast<std::int64_t>(parameter.low),
                             static_cast<std::int64_t>(parameter.high), parameter.name);
  }
  if (std::holds_alternative<double>(parameter.fallback)) {
    return io::parse_real(scalar, parameter.low, parameter.high, parameter.name);
  }
  if (std::find(parameter.choices.begin(), parameter.choices.end(), scalar.text) == parameter.choices.end()) {
    io::fail_at(scalar.place,
                fmt::format("'{}' is no value of {}; allowed: {}{}", scalar.text, parameter.name,
                            joined(parameter.choices), io::nearest_hint(scalar.text, parameter.choices)));
  }
  return scalar.text;
}

std::vector<std::string> expected_statuses(const io::Entry& entry, const Method& method) {
  std::vector<std::string> statuses;
  for (const auto& [pattern, expectation] : entry.expect) {
    if (!matches(pattern, method)) continue;
    for (const io::Scalar& status : expectation.second) statuses.push_back(status.text);
  }
  return statuses;
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

Sampling sampling_of(const io::Plan& plan, const io::Entry& entry) {
  constexpr std::int64_t most_by_default = 200;
  constexpr double noise_by_default = 0.01;
  const auto& repeats = entry.repeats.empty() ? plan.repeats : entry.repeats;
  Sampling sampling;
  const auto fixed = repeats.find("");
  if (fixed != repeats.end()) {
    sampling.least = sampling.most = io::parse_integer(fixed->second, 1, io::largest_count, "repeats");
  } else {
    const auto given = [&](const char* name) {
      const auto found = repeats.find(name);
      return found == repeats.end() ? nullptr : &found->second;
    };
    const auto *least = given("min"), *most = given("max"), *noise = given("noise"), *time = given("time"),
               *throttled = given("throttled");
    if (least != nullptr) sampling.least = io::parse_integer(*least, 1, io::largest_count, "repeats.min");
    if (most != nullptr) {
      sampling.most = io::parse_integer(*most, 1, io::largest_count, "repeats.max");
      sampling.least = std::min(sampling.least, sampling.most);
    } else {
      sampling.most = std::max(sampling.least, most_by_default);
    }
    sampling.noise = noise == nullptr ? noise_by_default : io::parse_share(*noise, "repeats.noise");
    sampling.seconds = time == nullptr ? 0 : io::parse_duration(*time, "repeats.time");
    sampling.throttled_again = throttled != nullptr && throttled->text == "again";
  }
  const io::Scalar& warmup = entry.warmup ? *entry.warmup : plan.warmup;
  if (io::is_duration(warmup)) {
    sampling.warmup = 1;
    sampling.warmup_seconds = io::parse_duration(warmup, "warmup");
  } else {
    sampling.warmup = io::parse_integer(warmup, 0, io::largest_count, "warmup");
  }
  sampling.cold = (entry.cache ? *entry.cache : plan.cache).text == "cold";
  return sampling;
}

/// Why a trial cannot run here; empty where it can.
std::string reason_to_skip(const Method& method, const Trial& trial, std::optional<Backend> backend,
                           Backend requested, int capability) {
  if (!backend) return fmt::format("{} does not run on the backend {}", method.id(), to_string(requested));
  if (!method.has(trial.precision))
    return fmt::format("{} has no {} version", method.id(), to_string(trial.precision));
  if (*backend == Backend::cuda && capability > 0 && method.capability > capability) {
    return fmt::format("needs compute capability {}, the GPU has {}", capability_text(method.capability),
                       capability_text(capability));
  }
  if (trial.shape.nrhs > method.max_nrhs) {
    return fmt::format("{} takes at most {} right-hand sides", method.id(), method.max_nrhs);
  }
  if (method.accepts != nullptr && !method.accepts(trial.shape, trial.parameters)) {
    return fmt::format("{} does not take this shape with these parameters", method.id());
  }
  const std::string fault = condition_fault(trial.matrix.spec, trial.precision);
  return fault.empty() && trial.matrix_b ? condition_fault(trial.matrix_b->spec, trial.precision) : fault;
}

std::string key_of(const Trial& t) {
  nlohmann::json j = to_json(t);
  for (const char* other : {"key", "tolerance", "expect", "timeout_seconds", "stages", "skip_reason"})
    j.erase(other);
  // a matrix is what its digest says; its place in the file system decides nothing
  j["matrix"] = t.matrix.digest;
  if (t.matrix_b) j["matrix_b"] = t.matrix_b->digest;
  return io::sha256(j.dump()).substr(0, 32);
}

/// A size that the plan gives must be the file's.
void require_size(const Assignment& chosen, const char* name, std::int64_t size, const MatrixRequest& file) {
  const auto given = chosen.find(name);
  if (given == chosen.end() || io::parse_integer(given->second, 1, io::largest_size, name) == size) return;
  io::fail_at(given->second.place,
              fmt::format("{} = {}, but {} is {} x {}; leave {} out", name, given->second.text, file.file,
                          file.spec.rows, file.spec.cols, name));
}

bool is_file(const MatrixRequest& request) {
  return request.kind == "file";
}

/// Sizes of a generated matrix. Most kinds are square.
void set_size(MatrixRequest& request, std::int64_t rows, std::int64_t cols, const io::Place& place) {
  if (!is_file(request) && rows != cols && !may_be_rectangular(request.spec.kind)) {
    io::fail_at(place,
                fmt::format("a matrix of kind {} must be square, here it is {} x {}; uniform, ones, hilbert, "
                            "cauchy and blur may be rectangular",
                            request.kind, rows, cols));
  }
  request.spec.rows = rows;
  request.spec.cols = cols;
}

}  // namespace

std::int64_t TrialMaker::size(const Assignment& chosen, const char* name, std::int64_t otherwise) const {
  const auto found = chosen.find(name);
  return found == chosen.end() ? otherwise : io::parse_integer(found->second, 1, io::largest_size, name);
}

Parameters TrialMaker::parameters(const Assignment& chosen) const {
  Parameters result;
  for (const Parameter& parameter : method.parameters) {
    const auto given = chosen.find(parameter.name);
    result.set(parameter.name,
               given == chosen.end() ? parameter.fallback : parse_parameter(parameter, given->second));
  }
  return result;
}

std::int64_t TrialMaker::rounds() const {
  return io::parse_integer(entry.rounds.value_or(plan.rounds), 1, io::most_rounds, "rounds");
}

Trial TrialMaker::make(const Assignment& chosen, std::int64_t round) const {
  Trial t;
  t.round = round;
  t.problem = method.problem;
  t.method = method.variant;
  t.precision = parse_enum<Precision>(chosen.at("precision"));
  t.backend = backend.value_or(requested);
  if (chosen.count("uplo") > 0) t.shape.uplo = parse_enum<Uplo>(chosen.at("uplo"));
  t.shape.nrhs = size(chosen, "nrhs", 1);
  t.parameters = parameters(chosen);
  const io::Scalar* seed = chosen.count("seed") > 0 ? &chosen.at("seed") : nullptr;
  t.matrix = request_matrix(block, seed, lookup);
  const bool product = t.problem->second == SecondOperand::matrix;
  if (product) {
    set_product(t, chosen);
    finish_request(*t.matrix_b, t.precision, 1);
  } else {
    set_square(t, chosen);
  }
  finish_request(t.matrix, t.precision, product ? 1 : t.shape.nrhs);
  t.sampling = sampling_of(plan, entry);
  t.inner_repeats = io::parse_integer(entry.inner_repeats.value_or(plan.inner_repeats), 1, io::largest_count,
                                      "inner_repeats");
  t.pinned = entry.host_memory.value_or(plan.host_memory).text == "pinned";
  const io::Scalar energy = entry.energy.value_or(plan.energy);
  t.energy_seconds = energy.text == "never" ? 0 : io::parse_duration(energy, "energy");
  t.stages = parse_enum<Stages>(entry.stages.value_or(plan.stages));
  t.timeout_seconds = io::parse_duration(entry.timeout.value_or(plan.timeout), "timeout");
  t.tolerance = tolerance_of(plan, entry, t.problem);
  t.expect = expected_statuses(entry, method);
  t.skip_reason = reason_to_skip(method, t, backend, requested, capability);
  t.key = key_of(t);
  return t;
}

void TrialMaker::set_square(Trial& t, const Assignment& chosen) const {
  const bool from_file = is_file(t.matrix);
  const std::int64_t implied = t.matrix.spec.kind == MatrixKind::blur ? blur_order(t.matrix.spec.blur) : 0;
  if (!from_file && implied == 0 && chosen.count("n") == 0)
    io::fail_at(entry.place, "n is missing; give a size, a list or a range");
  if (from_file && t.matrix.spec.rows != t.matrix.spec.cols) {
    io::fail_at(block.place, fmt::format("{} is {} x {}; {} needs a square matrix", t.matrix.file,
                                         t.matrix.spec.rows, t.matrix.spec.cols, to_string(t.problem)));
  }
  if (from_file) require_size(chosen, "n", t.matrix.spec.rows, t.matrix);
  const std::int64_t n = from_file ? t.matrix.spec.rows : size(chosen, "n", implied);
  t.shape.m = t.shape.n = t.shape.k = t.matrix.spec.rows = t.matrix.spec.cols = n;
  t.matrix.spec.uplo = t.shape.uplo;
  settle_size(t.matrix, block.place);
}

/// A is m x k, B is k x n: `matrix_b`, or the kind of A with the next seed. Files say their own sizes; m and
/// k that nobody says are n.
void TrialMaker::set_product(Trial& t, const Assignment& chosen) const {
  MatrixRequest& a = t.matrix;
  MatrixRequest b = a;
  b.spec.seed = next_seed(a.spec.seed);
  const io::Place& place_of_b = entry.matrix_b ? entry.matrix_b->place : block.place;
  if (entry.matrix_b) {
    io::MatrixBlock own = *entry.matrix_b;
    if (plan.store) own.values.emplace("store", *plan.store);
    // Without a seed of its own B must not begin like A.
    const io::Scalar not_as_a{std::to_string(b.spec.seed), entry.matrix_b->place};
    b = request_matrix(
        own, own.values.count("seed") > 0 || own.values.count("file") > 0 ? nullptr : &not_as_a, lookup);
  } else if (is_file(a)) {
    io::fail_at(block.place, t.problem->name + " with a matrix from a file needs matrix_b too");
  }
  if (is_file(a)) {
    require_size(chosen, "m", a.spec.rows, a);
    require_size(chosen, "k", a.spec.cols, a);
  }
  if (is_file(b)) {
    require_size(chosen, "k", b.spec.rows, b);
    require_size(chosen, "n", b.spec.cols, b);
  }
  if (chosen.count("n") == 0 && !is_file(b)) {
    io::fail_at(entry.place, "n is missing; give a size, a list or a range");
  }
  Shape& s = t.shape;
  s.n = is_file(b) ? b.spec.cols : size(chosen, "n", 1);
  // A blur says its own size where it names its images.
  const auto or_n = [&](std::int64_t own) { return own > 0 ? own : s.n; };
  const bool is_blur = !is_file(a) && a.spec.kind == MatrixKind::blur;
  const std::int64_t rows = or_n(is_blur ? blur_order(a.spec.blur) : 0);
  const std::int64_t cols = or_n(is_blur ? blur_columns(a.spec.blur) : 0);
  s.m = is_file(a) ? a.spec.rows : size(chosen, "m", rows);
  s.k = is_file(a) ? a.spec.cols : is_file(b) ? b.spec.rows : size(chosen, "k", cols);
  if (is_file(b) && b.spec.rows != s.k) {
    io::fail_at(place_of_b, fmt::format("{} is {} x {}; B must be k x n with k = {}", b.file, b.spec.rows,
                                        b.spec.cols, s.k));
  }
  set_size(a, s.m, s.k, block.place);
  set_size(b, s.k, s.n, place_of_b);
  settle_size(a, block.place);
  settle_size(b, place_of_b);
  t.matrix_b = b;
}

}  // namespace gaussweep::driver
