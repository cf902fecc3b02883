// Parses and runs cases of a random search for matrices on which a method loses digits that LAPACK keeps; see
// cases.hpp.
#include "tests/verdicts/cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "kernels/check/check.hpp"
#include "kernels/check/facts.hpp"
#include "kernels/matrix/shortest.hpp"
#include "tests/kernels/method_run.hpp"

namespace gaussweep::verdicts {
namespace {

/// The ratio of an answer that is not finite or not complete. As a score it means that the method has no
/// valid answer although LAPACK has one.
constexpr double invalid_score = 1e300;

/// Parse a number that a case gives for `key`. @throws std::invalid_argument
double number_of(const std::string& key, const std::string& text) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size()) throw std::invalid_argument(key + ": '" + text + "' is no number");
  return value;
}

std::uint64_t integer_of(const std::string& key, const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 19)
    throw std::invalid_argument(key + ": '" + text + "' is no whole number");
  return std::stoull(text);
}

/// Returns the structure of this name. @throws std::invalid_argument with all names
const Structure& structure_of(const std::string& name) {
  std::string names;
  for (const Structure& structure : structures()) {
    if (structure.name == name) return structure;
    names += std::string(names.empty() ? "" : ", ") + structure.name;
  }
  throw std::invalid_argument("no structure '" + name + "'; allowed: " + names);
}

/// Returns the method's default parameters with the changes of the case.
Parameters parameters_of(const Case& a_case, const Method& method) {
  Parameters parameters = testing_help::defaults(method);
  for (const auto& [name, text] : a_case.parameters) {
    const auto found = std::find_if(method.parameters.begin(), method.parameters.end(),
                                    [&n = name](const Parameter& p) { return p.name == n; });
    if (found == method.parameters.end())
      throw std::invalid_argument(a_case.method + " has no parameter '" + name + "'");
    if (std::holds_alternative<std::string>(found->default_value)) {
      parameters.set(name, text);
    } else if (std::holds_alternative<double>(found->default_value)) {
      parameters.set(name, number_of(name, text));
    } else {
      parameters.set(name, static_cast<std::int64_t>(integer_of(name, text)));
    }
  }
  return parameters;
}

bool is_spd(const Method& method) {
  return testing_help::needs(method, Need::spd);
}

/// Rounds a matrix to precision T.
template <class T>
HostMatrix<T> rounded(const HostMatrix<double>& a) {
  HostMatrix<T> result(a.rows, a.cols);
  for (std::size_t k = 0; k < a.data.size(); ++k) result.data[k] = static_cast<T>(a.data[k]);
  return result;
}

/// Makes the operands of a case: its structure, then its mutations, rounded to precision T.
template <class T>
Inputs<T> inputs_of(const Case& a_case, const Method& method) {
  const Structure& structure = structure_of(a_case.structure);
  const bool product = method.problem->second == SecondOperand::matrix;
  StructureParameters structure_parameters(a_case.seed, a_case.structure_parameters);
  HostMatrix<double> a = structure.make(structure_parameters, a_case.n);
  for (const std::uint64_t number : a_case.mutations) mutate(a, number, is_spd(method));
  const HostMatrix<double> b =
      product ? structure.make(structure_parameters, a_case.n) : HostMatrix<double>();
  for (const std::string& name : structure_parameters.unused())
    throw std::invalid_argument("the structure " + a_case.structure + " has no parameter '" + name + "'");
  Inputs<T> inputs;
  inputs.shape = {a_case.n, a_case.n, a_case.n, a_case.nrhs, a_case.uplo};
  inputs.a = rounded<T>(a);
  if (product) inputs.b = rounded<T>(b);
  if (testing_help::needs(method, Need::triangular)) {
    for (std::int64_t j = 0; j < a_case.n; ++j) {
      for (std::int64_t i = 0; i < a_case.n; ++i) {
        if (a_case.uplo == Uplo::lower ? i < j : i > j) inputs.a(i, j) = 0;
      }
    }
  }
  if (testing_help::has_right_hand_sides(method.problem)) {
    System<T> system = make_system(inputs.a, a_case.nrhs, a_case.seed + 1, 1);
    inputs.x_true = std::move(system.x_true);
    inputs.b = std::move(system.b);
  }
  return inputs;
}

template <class T>
bool is_finite(const HostMatrix<T>& a) {
  return std::all_of(a.data.begin(), a.data.end(), [](T value) { return std::isfinite(value); });
}

/// Scales the columns of the matrix (if `scales_rows`, first its rows) so that each one's largest element
/// is 1. Returns true if the result is singular to working precision.
template <class T>
bool is_singular(const HostMatrix<T>& a, bool scales_rows) {
  HostMatrix<double> scaled(a.rows, a.cols);
  const auto scale_lines = [&](bool rows) {  // divides each row or column by its largest element
    for (std::int64_t line = 0; line < a.rows; ++line) {
      const auto element = [&](std::int64_t k) -> double& {
        return rows ? scaled(line, k) : scaled(k, line);
      };
      double largest = 0;
      for (std::int64_t k = 0; k < a.rows; ++k) largest = std::max(largest, std::fabs(element(k)));
      for (std::int64_t k = 0; largest > 0 && k < a.rows; ++k) element(k) /= largest;
    }
  };
  std::copy(a.data.begin(), a.data.end(), scaled.data.begin());
  if (scales_rows) scale_lines(true);
  scale_lines(false);
  const MatrixFacts facts = facts_of(scaled);
  const double condition = conditioning_of(std::move(scaled), facts).condition;
  return !(condition <= 0.1 / static_cast<double>(std::numeric_limits<T>::epsilon()));
}

/// Returns the residual ratio (in units of n u) up to which a method loses no digits, even if LAPACK's ratio
/// is smaller, because rounding alone can cause it. A Cholesky factor of LAPACK has an error of up to (n + 1)
/// u |L| |L^T| (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 10.3), which it
/// reaches for n = 2 (StableMethods.LapacksCholeskyReachesItsBound).
double ratio_of_rounding(const Method& method, std::int64_t n) {
  return method.problem == Problem::named("potrf") ? 1 + 1 / static_cast<double>(n) : 1;
}

/// Returns the ratio, or `invalid_score`. Sets `reason` to what is wrong with the answer; empty if nothing
/// is.
template <class T>
double ratio_of(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, std::string* reason) {
  const bool unfinished = answer.info != 0 && method.problem->zero_pivot == ZeroPivot::unfinished;
  const Findings found = check(method, inputs, answer);
  *reason = unfinished ? "info " + std::to_string(answer.info) : found.flaw;
  return unfinished || !std::isfinite(found.ratio) ? invalid_score : std::min(found.ratio, invalid_score);
}

/// Returns A X = B in other units: rows and columns are multiplied by factors between 1/2 and 1, which rounds
/// every element once, and are in another order.
template <class T>
Inputs<T> neighbour_of(const Inputs<T>& inputs, std::uint64_t number) {
  Random random(number, 2);
  const std::int64_t n = inputs.a.rows;
  const auto draw_lines = [&] {  // the index and the factor of each line (row or column), in random order
    std::vector<std::pair<std::int64_t, double>> lines;
    for (std::int64_t i = 0; i < n; ++i) lines.emplace_back(i, random.between(0.5, 1));
    for (std::int64_t i = n - 1; i > 0; --i)
      std::swap(lines[static_cast<std::size_t>(i)], lines[static_cast<std::size_t>(random.integer(0, i))]);
    return lines;
  };
  const auto rows = draw_lines(), columns = draw_lines();
  Inputs<T> neighbour = inputs;
  neighbour.x_true = {};
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [row, row_factor] = rows[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < n; ++j) {
      const auto [column, column_factor] = columns[static_cast<std::size_t>(j)];
      neighbour.a(i, j) = static_cast<T>(inputs.a(row, column) * (row_factor * column_factor));
    }
    for (std::int64_t j = 0; j < inputs.b.cols; ++j)
      neighbour.b(i, j) = static_cast<T>(inputs.b(row, j) * row_factor);
  }
  return neighbour;
}

}  // namespace

std::string line_of(const Case& a_case) {
  std::string text =
      a_case.method + (a_case.single ? " float" : " double") + " n=" + std::to_string(a_case.n);
  if (a_case.nrhs != 1) text += " nrhs=" + std::to_string(a_case.nrhs);
  if (a_case.uplo == Uplo::upper) text += " uplo=upper";
  text += " structure=" + a_case.structure;
  for (const auto& [name, value] : a_case.structure_parameters) text += " " + name + "=" + shortest(value);
  text += " seed=" + std::to_string(a_case.seed);
  for (std::size_t k = 0; k < a_case.mutations.size(); ++k)
    text += (k == 0 ? " mutate=" : ",") + std::to_string(a_case.mutations[k]);
  for (const auto& [name, value] : a_case.parameters) text += " with." + name + "=" + value;
  return text;
}

Case parse_case(const std::string& line) {
  std::istringstream words(line);
  Case a_case;
  std::string precision, word;
  words >> a_case.method >> precision;
  if (precision != "float" && precision != "double")
    throw std::invalid_argument("'" + precision + "' is no precision; allowed: float, double");
  a_case.single = precision == "float";
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument("'" + word + "' cannot be read; allowed: name=value");
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "n" || key == "nrhs") {
      (key == "n" ? a_case.n : a_case.nrhs) = static_cast<std::int64_t>(integer_of(key, value));
    } else if (key == "seed") {
      a_case.seed = integer_of(key, value);
    } else if (key == "uplo") {
      const auto uplo = from_string<Uplo>(value);
      if (!uplo) throw std::invalid_argument("uplo: '" + value + "'; allowed: lower, upper");
      a_case.uplo = *uplo;
    } else if (key == "structure") {
      a_case.structure = value;
    } else if (key == "mutate") {
      std::istringstream mutations(value);
      for (std::string number; std::getline(mutations, number, ',');)
        a_case.mutations.push_back(integer_of(key, number));
    } else if (key.rfind("with.", 0) == 0) {
      a_case.parameters[key.substr(5)] = value;
    } else {
      a_case.structure_parameters[key] = number_of(key, value);
    }
  }
  structure_of(a_case.structure);
  if (a_case.n < 1 || a_case.nrhs < 1) throw std::invalid_argument("n and nrhs must be at least 1");
  return a_case;
}

Runner::Runner(Backend backend)
    : host_(testing_help::cpu(Backend::host)),
      device_(backend == Backend::cuda ? make_cuda_device(0) : testing_help::cpu(backend)),
      on_host_(*host_),
      on_device_(*device_) {}
Runner::~Runner() = default;

bool Runner::can_run(const Method& method) const {
  // On an emulated device, methods that only the host has count too.
  const bool is_gpu = device_->backend() == Backend::cuda;
  return method.runs_on(device_->backend()) ? !is_gpu || method.capability <= device_->info().capability
                                            : !is_gpu && method.runs_on(Backend::host);
}

template <class T>
Loss Runner::run_typed(const Case& a_case, const Method& method) {
  const Parameters parameters = parameters_of(a_case, method);
  Loss loss;
  const Shape shape{a_case.n, a_case.n, a_case.n, a_case.nrhs, a_case.uplo};
  if (a_case.nrhs > method.max_nrhs || (method.accepts != nullptr && !method.accepts(shape, parameters))) {
    loss.reason = "the method does not take this shape";
    return loss;
  }
  const Inputs<T> inputs = inputs_of<T>(a_case, method);
  if (!is_finite(inputs.a) || !is_finite(inputs.b)) {
    loss.reason = "the matrix overflows";
    return loss;
  }
  const Method& lapack = *registry_.reference(method.problem, Backend::host);
  const auto run_lapack = [&](const Inputs<T>& system, std::string* reason) {
    return ratio_of(lapack, system,
                    testing_help::run_method(on_host_, lapack, system, testing_help::defaults(lapack)),
                    reason);
  };
  loss.lapack_ratio = run_lapack(inputs, &loss.reason);
  if (loss.lapack_ratio > default_tolerance(method.problem)) {
    loss.reason = "LAPACK fails as well: " + loss.reason;
    return loss;
  }
  Context& context = method.runs_on(device_->backend()) ? on_device_ : on_host_;
  const auto run_method = [&](const Inputs<T>& system, std::string* reason) {
    return ratio_of(method, system, testing_help::run_method(context, method, system, parameters), reason);
  };
  loss.ratio = run_method(inputs, &loss.reason);
  // Rounding alone may make a pivot 0 or an inverse infinite, but not the solution of a triangular system.
  // The rounding errors of LU depend on the size of the rows, so is_singular does not scale rows if LU found
  // a zero pivot. It scales them if an answer is infinite, because methods must not overflow.
  const bool is_zero_pivot = loss.reason.rfind("info ", 0) == 0;
  const bool may_fail = is_zero_pivot || !testing_help::needs(method, Need::triangular);
  if (loss.ratio >= invalid_score && may_fail && is_singular(inputs.a, is_spd(method) || !is_zero_pivot)) {
    loss.reason = "the matrix is singular to working precision: " + loss.reason;
    return loss;
  }
  if (loss.ratio >= invalid_score && !is_spd(method) && !testing_help::needs(method, Need::triangular)) {
    constexpr std::uint64_t neighbours = 64;
    int failures = 0, lapack_failures = 0;
    std::string unused_reason;
    for (std::uint64_t number = 0; number < neighbours; ++number) {
      const Inputs<T> neighbour = neighbour_of(inputs, number);
      failures += run_method(neighbour, &unused_reason) >= invalid_score;
      lapack_failures += run_lapack(neighbour, &unused_reason) >= invalid_score;
    }
    loss.reason += ", as on " + std::to_string(failures) + " neighbours (LAPACK: on " +
                   std::to_string(lapack_failures) + ")";
    if (failures <= 3 * lapack_failures) return loss;
  }
  loss.score = loss.ratio / std::max(ratio_of_rounding(method, a_case.n), 3 * loss.lapack_ratio);
  return loss;
}

const Method& Runner::method_of(const Case& a_case) const {
  const std::size_t slash = a_case.method.find('/');
  const auto problem = from_string<Problem>(a_case.method.substr(0, slash));
  const Method* const method = problem && slash != std::string::npos
                                   ? registry_.find(*problem, a_case.method.substr(slash + 1))
                                   : nullptr;
  if (method == nullptr) throw std::invalid_argument("no method '" + a_case.method + "'");
  return *method;
}

Loss Runner::run(const Case& a_case) {
  const Method& method = method_of(a_case);
  if (!can_run(method))
    throw std::invalid_argument(a_case.method + " does not run on " +
                                std::string(to_string(device_->backend())));
  if (!method.has(a_case.single ? Precision::float32 : Precision::float64))
    throw std::invalid_argument(a_case.method + " is not in " + (a_case.single ? "float" : "double"));
  return a_case.single ? run_typed<float>(a_case, method) : run_typed<double>(a_case, method);
}

}  // namespace gaussweep::verdicts
