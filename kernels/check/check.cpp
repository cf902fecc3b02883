#include "kernels/check/check.hpp"

#include <stdexcept>

#include "kernels/check/judges.hpp"

namespace gaussweep {
namespace {

/// The part of an answer that counts.
Part answer_part(Problem problem, Uplo uplo) {
  return problem == Problem::potrf || problem == Problem::trtri ? part_of(uplo) : Part::all;
}

/// The part of A that counts.
Part operand_part(Problem problem, Uplo uplo) {
  const bool triangle = problem == Problem::trsv || problem == Problem::trtri || problem == Problem::potrf;
  return triangle ? part_of(uplo) : Part::all;
}

/// Which element is no number, in words; empty where all are finite.
template <class T>
std::string flaw_of(Reductions<T>& reductions, const HostMatrix<T>& a, Part part, const std::string& name) {
  const std::optional<Place> place = reductions.first_not_finite(a, part);
  if (!place) return {};
  return name + " holds " + (std::isnan(a(place->row, place->col)) ? "NaN" : "Inf") + ", first in row " +
         std::to_string(place->row + 1) + " of column " + std::to_string(place->col + 1);
}

template <class T>
void require(const HostMatrix<T>& matrix, std::int64_t rows, std::int64_t cols, const char* name) {
  if (matrix.rows == rows && matrix.cols == cols &&
      matrix.data.size() == static_cast<std::size_t>(rows * cols)) {
    return;
  }
  throw std::invalid_argument(std::string("check: ") + name + " must be " + std::to_string(rows) + " x " +
                              std::to_string(cols) + ", not " + std::to_string(matrix.rows) + " x " +
                              std::to_string(matrix.cols));
}

bool is_solve(Problem problem) {
  return problem == Problem::gesv || problem == Problem::trsv;
}

template <class T>
void require_shapes(Problem problem, const Inputs<T>& inputs, const Answer<T>& answer) {
  const Shape& s = inputs.shape;
  const bool gemm = problem == Problem::gemm;
  if (s.n < 1 || (gemm && (s.m < 1 || s.k < 1)) || (is_solve(problem) && s.nrhs < 1)) {
    throw std::invalid_argument("check: every size must be at least 1");
  }
  if (gemm) {
    require(inputs.a, s.m, s.k, "A");
    require(inputs.b, s.k, s.n, "B");
    require(answer.x, s.m, s.n, "C");
    return;
  }
  require(inputs.a, s.n, s.n, "A");
  if (!is_solve(problem)) {
    require(answer.x, s.n, s.n, "the answer");
  } else {
    require(inputs.b, s.n, s.nrhs, "b");
    if (!inputs.x_true.empty()) require(inputs.x_true, s.n, s.nrhs, "x_true");
    require(answer.x, s.n, s.nrhs, "x");
  }
  if (!answer.pivots.empty() && static_cast<std::int64_t>(answer.pivots.size()) != s.n) {
    throw std::invalid_argument("check: there must be " + std::to_string(s.n) + " pivots or none, not " +
                                std::to_string(answer.pivots.size()));
  }
}

}  // namespace

template <class T>
Findings check(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance,
               Reductions<T>& reductions) {
  const Problem problem = method.problem;
  require_shapes(problem, inputs, answer);
  std::string flaw = flaw_of(reductions, answer.x, answer_part(problem, inputs.shape.uplo), "the answer");
  if (flaw.empty()) flaw = flaw_of(reductions, inputs.a, operand_part(problem, inputs.shape.uplo), "A");
  if (flaw.empty()) flaw = flaw_of(reductions, inputs.b, Part::all, problem == Problem::gemm ? "B" : "b");
  if (!flaw.empty()) {
    Findings findings = judges::unknown();
    findings.ratio = findings.backward_error = std::numeric_limits<double>::infinity();
    findings.flaw = flaw;
    return findings;
  }
  switch (problem) {
    case Problem::gemm:
      return judges::product(reductions, inputs, answer, tolerance);
    case Problem::gesv:
    case Problem::trsv:
      return judges::solution(reductions, problem, inputs, answer, tolerance);
    case Problem::getrf:
      return judges::lu_factors(reductions, method.unit_diagonal, inputs, answer, tolerance);
    case Problem::potrf:
      return judges::cholesky_factor(reductions, inputs, answer, tolerance);
    case Problem::trtri:
    case Problem::geinv:
    case Problem::poinv:
      return judges::inverse(reductions, problem, inputs, answer, tolerance);
  }
  throw std::logic_error("check: no such problem");
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
double difference(Problem problem, const Shape& shape, const Answer<T>& answer, const Answer<T>& reference) {
  require(answer.x, reference.x.rows, reference.x.cols, "the answer");
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  // Factors of differently exchanged rows are both right and have nothing in common. No pivots: no exchanges.
  if (problem == Problem::getrf) {
    const auto pivot = [](const Answer<T>& a, std::size_t i) {
      return a.pivots.empty() ? static_cast<int>(i) : a.pivots.at(i);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(reference.x.rows); ++i) {
      if (pivot(answer, i) != pivot(reference, i)) return unknown;
    }
  }
  const Part part = answer_part(problem, shape.uplo);
  if (!all_finite(reference.x, part)) return unknown;
  if (!all_finite(answer.x, part)) return std::numeric_limits<double>::infinity();
  return largest_difference(answer.x, reference.x, part);
}

double default_tolerance(Problem problem) {
  switch (problem) {
    case Problem::gesv:
    case Problem::trsv:
      return 16;
    case Problem::getrf:
    case Problem::potrf:
    case Problem::trtri:
    case Problem::geinv:
    case Problem::poinv:
      return 30;
    case Problem::gemm:
      return 3;
  }
  throw std::logic_error("default_tolerance: no such problem");
}

template Findings check<float>(const Method&, const Inputs<float>&, const Answer<float>&);
template Findings check<double>(const Method&, const Inputs<double>&, const Answer<double>&);
template Findings check<float>(const Method&, const Inputs<float>&, const Answer<float>&, double,
                               Reductions<float>&);
template Findings check<double>(const Method&, const Inputs<double>&, const Answer<double>&, double,
                                Reductions<double>&);
template Findings check<float>(const Method&, const Inputs<float>&, const Answer<float>&, double);
template Findings check<double>(const Method&, const Inputs<double>&, const Answer<double>&, double);
template double difference<float>(Problem, const Shape&, const Answer<float>&, const Answer<float>&);
template double difference<double>(Problem, const Shape&, const Answer<double>&, const Answer<double>&);

}  // namespace gaussweep
