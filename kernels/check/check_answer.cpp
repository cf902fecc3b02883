// Implements check.hpp: checks shapes and finiteness, calls the problem's verifier (the function that
// verifies its answers, verifiers.hpp), and compares answers.

#include "kernels/check/check.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/check/verifiers.hpp"
#include "kernels/core/thread_pool.hpp"
#include "kernels/registry/batch.hpp"

namespace gaussweep {
namespace {

/// Returns a message about the first NaN or Inf in `part` of a matrix. The message is empty if all elements
/// are finite.
template <class T>
std::string flaw_of(Reductions<T>& reductions, const HostMatrix<T>& a, MatrixPart part,
                    const std::string& name) {
  const std::optional<ElementIndex> position = reductions.first_not_finite(a, part);
  if (!position) return {};
  return name + " holds " + (std::isnan(a(position->row, position->col)) ? "NaN" : "Inf") +
         ", first in row " + std::to_string(position->row + 1) + " of column " +
         std::to_string(position->col + 1);
}

template <class T>
void require_shape(const HostMatrix<T>& matrix, std::int64_t rows, std::int64_t cols, const char* name) {
  if (matrix.rows == rows && matrix.cols == cols) return;
  throw std::invalid_argument(std::string("check: ") + name + " must be " + std::to_string(rows) + " x " +
                              std::to_string(cols) + ", not " + std::to_string(matrix.rows) + " x " +
                              std::to_string(matrix.cols));
}

/// Checks the shape, and that the elements are on the host.
template <class T>
void require(const HostMatrix<T>& matrix, std::int64_t rows, std::int64_t cols, const char* name) {
  require_shape(matrix, rows, cols, name);
  if (is_on_host(matrix)) return;
  throw std::invalid_argument(std::string("check: the elements of ") + name + " are not on the host");
}

/// Return the names of B and of the answer in messages.
const char* name_of_b(const ProblemRow& problem) {
  return problem.second == SecondOperand::matrix ? "B" : "b";
}
const char* name_of_x(const ProblemRow& problem) {
  switch (problem.second) {
    case SecondOperand::matrix:
      return "C";
    case SecondOperand::right_hand_sides:
      return "x";
    case SecondOperand::none:
      break;
  }
  return "the answer";
}

template <class T>
void require_shapes(const ProblemRow& problem, const Inputs<T>& inputs, const Answer<T>& answer) {
  const Shape& s = inputs.shape;
  require_sizes(problem, s, "check");
  const Extent a = problem.a(s), x = problem.x(s);
  require(inputs.a, a.rows, a.cols, "A");
  if (problem.b != nullptr) {
    const Extent b = problem.b(s);
    require(inputs.b, b.rows, b.cols, name_of_b(problem));
    if (!inputs.x_true.empty()) require(inputs.x_true, b.rows, b.cols, "x_true");
  }
  require(answer.x, x.rows, x.cols, name_of_x(problem));
  if (!answer.pivots.empty() && static_cast<std::int64_t>(answer.pivots.size()) != s.n * s.batch) {
    throw std::invalid_argument("check: there must be " + std::to_string(s.n * s.batch) +
                                " pivots or none, not " + std::to_string(answer.pivots.size()));
  }
}

}  // namespace

template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance,
               Reductions<T>& reductions) {
  const ProblemRow& problem = method.problem.row();
  const Uplo uplo = inputs.shape.uplo;
  require_shapes(problem, inputs, answer);
  std::string flaw = flaw_of(reductions, answer.x, part_of(problem.used_of_x, uplo), "the answer");
  if (flaw.empty()) flaw = flaw_of(reductions, inputs.a, part_of(problem.used_of_a, uplo), "A");
  if (flaw.empty()) flaw = flaw_of(reductions, inputs.b, MatrixPart::all, name_of_b(problem));
  if (!flaw.empty()) {
    Findings findings = verifiers::unknown();
    findings.ratio = findings.backward_error = std::numeric_limits<double>::infinity();
    findings.flaw = flaw;
    return findings;
  }
  return problem.verifier.get<T>()(reductions, method, inputs, answer, tolerance);
}

template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance) {
  HostReductions<T> on_host;
  return check(method, inputs, answer, tolerance, on_host);
}

template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer) {
  return check(method, inputs, answer, default_tolerance(method.problem));
}

template <class T>
std::vector<Findings> check_systems(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                                    double tolerance, const std::vector<std::int64_t>& systems) {
  require_shapes(method.problem.row(), inputs, answer);
  const Shape& shape = inputs.shape;
  const auto count = static_cast<std::int64_t>(systems.size());
  std::vector<Findings> findings(systems.size());
  const Extent a = method.problem->a(shape.single()), x = method.problem->x(shape.single());
  // Verifying one small system takes 2 to 7 microseconds. Each helper thread of the pool (in addition to this
  // thread) pays off if it has 20 microseconds of work.
  const double system_microseconds = 3 + 1e-3 * static_cast<double>(a.rows * a.cols * x.cols);
  const double helpers =
      std::min(system_microseconds * static_cast<double>(count) / 20, static_cast<double>(count) - 1);
  const auto check_system = [&](std::int64_t k) {
    const auto index = static_cast<std::size_t>(k);
    findings[index] =
        check(method, system_of(inputs, systems[index]), system_of(answer, shape, systems[index]), tolerance);
  };
  const bool has_helpers = count > 1 && helpers >= 1;
  ThreadPool::of_process().for_each(
      count, has_helpers ? static_cast<int>(std::min(helpers, usable_cpus() - 1.0)) : 0, check_system);
  return findings;
}

template <class T>
std::vector<Findings> check_systems(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                                    double tolerance) {
  std::vector<std::int64_t> all_systems(static_cast<std::size_t>(inputs.shape.batch));
  std::iota(all_systems.begin(), all_systems.end(), std::int64_t{0});
  return check_systems(method, inputs, answer, tolerance, all_systems);
}

template <class T>
double largest_forward_error(const Inputs<T>& inputs, const Answer<T>& answer) {
  constexpr double not_finite = -1;  // the error of a system whose answer is not finite
  if (inputs.x_true.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::int64_t batch = inputs.shape.batch, elements = inputs.x_true.rows * inputs.x_true.cols / batch;
  std::vector<double> errors(static_cast<std::size_t>(batch), not_finite);
  const double cost = 4.0 * static_cast<double>(batch * elements);
  for_row_ranges(batch, /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      const T* const x = answer.x.data.data() + s * elements;
      const T* const x_true = inputs.x_true.data.data() + s * elements;
      double largest_difference = 0, largest = 0;
      bool finite = true;
      for (std::int64_t i = 0; i < elements; ++i) {
        finite = finite && std::isfinite(x[i]);
        // Differences of halved numbers cannot overflow.
        largest_difference = std::max(largest_difference, std::fabs(0.5 * static_cast<double>(x[i]) -
                                                                    0.5 * static_cast<double>(x_true[i])));
        largest = std::max(largest, std::fabs(0.5 * static_cast<double>(x_true[i])));
      }
      if (finite)
        errors[static_cast<std::size_t>(s)] = (WideNumber(largest_difference) / WideNumber(largest)).value();
    }
  });
  const double largest = *std::max_element(errors.begin(), errors.end());
  return largest == not_finite ? std::numeric_limits<double>::quiet_NaN() : largest;
}

namespace {

/// Sets the elements outside of the triangle `part` of each square matrix of a batch to zero, because methods
/// leave them undefined.
template <class T>
HostMatrix<T> with_zeros_outside(HostMatrix<T> all, MatrixPart part) {
  for (std::int64_t j = 0; j < all.cols; ++j) {
    const RowRange range = rows_of(part, all.rows, j % all.rows);
    for (std::int64_t i = 0; i < all.rows; ++i) {
      if (i < range.begin || i >= range.end) all(i, j) = 0;
    }
  }
  return all;
}

}  // namespace

template <class T>
double norm_of_answer(Problem problem, const Shape& shape, const Answer<T>& answer,
                      Reductions<T>& reductions) {
  if (has_triangles_of_batch(problem, shape))
    return max_norm(with_zeros_outside(answer.x, part_of(problem->used_of_x, shape.uplo)));
  return reductions.max_norm(answer.x, part_of(problem->used_of_x, shape.uplo));
}

template <class T>
double norm_of_answer(Problem problem, const Shape& shape, const Answer<T>& answer) {
  HostReductions<T> on_host;
  return norm_of_answer(problem, shape, answer, on_host);
}

template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference, double reference_norm, Reductions<T>& reductions) {
  require_shape(answer.x, reference.x.rows, reference.x.cols, "the answer");
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr Difference unknown{nan, nan, nan, nan};
  // Correct LU factors with different row exchanges are not comparable. Empty pivots mean no exchanges.
  if (problem->has_pivots) {
    const auto pivot = [&shape](const Answer<T>& a, std::size_t i) {
      return a.pivots.empty() ? static_cast<int>(static_cast<std::int64_t>(i) % shape.n) : a.pivots.at(i);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.n * shape.batch); ++i) {
      if (pivot(answer, i) != pivot(reference, i)) return unknown;
    }
  }
  const MatrixPart part = part_of(problem->used_of_x, shape.uplo);
  if (!std::isfinite(reference_norm)) return unknown;
  if (&answer == &reference && reference_norm > 0) return {0, 0, 0, 0};
  if (has_triangles_of_batch(problem, shape)) {
    HostReductions<T> on_host;
    const HostMatrix<T> zeroed = with_zeros_outside(answer.x, part);
    const double norm = max_norm(zeroed);
    if (!std::isfinite(norm)) return {infinity, infinity, infinity, infinity};
    const ElementDifference elements = on_host.element_difference(
        zeroed, with_zeros_outside(reference.x, part), MatrixPart::all, norm, reference_norm);
    // The mean over all n^2 elements of a matrix becomes a mean over the n (n + 1) / 2 of its triangle.
    const auto n = static_cast<double>(shape.n);
    return {elements.largest, elements.largest_relative, elements.mean_relative,
            elements.mean_absolute * 2 * n / (n + 1)};
  }
  const double norm = reductions.max_norm(answer.x, part);
  if (!std::isfinite(norm)) return {infinity, infinity, infinity, infinity};
  const ElementDifference elements =
      reductions.element_difference(answer.x, reference.x, part, norm, reference_norm);
  return {elements.largest, elements.largest_relative, elements.mean_relative, elements.mean_absolute};
}

template <class T>
Difference difference(Problem problem, const Shape& shape, const Answer<T>& answer,
                      const Answer<T>& reference, double reference_norm) {
  HostReductions<T> on_host;
  return difference(problem, shape, answer, reference, reference_norm, on_host);
}

double default_tolerance(Problem problem) {
  return problem->tolerance;
}

template Findings check<float>(const Method&, const Inputs<float>&, const Answer<float>&);
template Findings check<double>(const Method&, const Inputs<double>&, const Answer<double>&);
template Findings check<float>(const Method&, const Inputs<float>&, const Answer<float>&, double,
                               Reductions<float>&);
template Findings check<double>(const Method&, const Inputs<double>&, const Answer<double>&, double,
                                Reductions<double>&);
template Findings check<float>(const Method&, const Inputs<float>&, const Answer<float>&, double);
template Findings check<double>(const Method&, const Inputs<double>&, const Answer<double>&, double);
#define GAUSSWEEP_CHECK_SYSTEMS(T)                                                                           \
  template double largest_forward_error<T>(const Inputs<T>&, const Answer<T>&);                              \
  template std::vector<Findings> check_systems<T>(const Method&, const Inputs<T>&, const Answer<T>&, double, \
                                                  const std::vector<std::int64_t>&);                         \
  template std::vector<Findings> check_systems<T>(const Method&, const Inputs<T>&, const Answer<T>&, double);
GAUSSWEEP_CHECK_SYSTEMS(float)
GAUSSWEEP_CHECK_SYSTEMS(double)
#undef GAUSSWEEP_CHECK_SYSTEMS
#define GAUSSWEEP_DIFFERENCE(T)                                                                         \
  template double norm_of_answer<T>(Problem, const Shape&, const Answer<T>&);                           \
  template double norm_of_answer<T>(Problem, const Shape&, const Answer<T>&, Reductions<T>&);           \
  template Difference difference<T>(Problem, const Shape&, const Answer<T>&, const Answer<T>&, double); \
  template Difference difference<T>(Problem, const Shape&, const Answer<T>&, const Answer<T>&, double,  \
                                    Reductions<T>&);
GAUSSWEEP_DIFFERENCE(float)
GAUSSWEEP_DIFFERENCE(double)
#undef GAUSSWEEP_DIFFERENCE

}  // namespace gaussweep
