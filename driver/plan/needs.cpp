/// Compares the properties of a matrix with those that methods and problems require.

#include "driver/plan/needs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <utility>

#include "kernels/check/verifiers.hpp"

namespace gaussweep::driver {
namespace {

/// Returns true if the problem requires a positive definite matrix.
bool is_for_definite(Problem problem) {
  return std::count(problem->needs.begin(), problem->needs.end(), Need::spd) > 0;
}

/// Returns the predicate of a sentence about the matrix that states why it does not satisfy the need.
std::string unmet_text(const InspectedMatrix& matrix, Need need, Uplo uplo) {
  const MatrixFacts& facts = matrix.facts;
  switch (need) {
    case Need::spd:
      if (facts.is_symmetric) return "is not positive definite";
      return fmt::format("is not symmetric, elements differ by up to {:.2g} of the largest", facts.asymmetry);
    case Need::strongly_regular:
      return "has a singular leading block";
    case Need::diagonally_dominant:
      return "is not diagonally dominant";
    case Need::triangular:
      if (!facts.is_triangular()) return "is not triangular";
      return fmt::format("is {} triangular, uplo is {}", to_string(facts.triangle()), to_string(uplo));
    case Need::nonzero_elements:
      return "has zeros";
    case Need::nonzero_diagonal:
      return fmt::format("has a zero on its diagonal, in row {}", facts.first_zero_diagonal);
  }
  return "?";
}

/// Returns whether the matrix is positive definite; unknown above max_decided_condition.
std::optional<bool> is_definite(const InspectedMatrix& matrix) {
  if (!matrix.facts.is_symmetric) return false;
  if (!matrix.conditioning) return std::nullopt;
  const Conditioning& found = *matrix.conditioning;
  if (found.zero_pivot == 0 && !(found.condition <= max_decided_condition(matrix.facts.rows)))
    return std::nullopt;
  return found.is_definite;
}

}  // namespace

InspectedMatrix inspect(HostMatrix<double>&& a, bool factors, Precision precision) {
  InspectedMatrix inspected{facts_of(a, roundoff_of(precision)), std::nullopt};
  if (factors && inspected.facts.is_square())
    inspected.conditioning = conditioning_of(std::move(a), inspected.facts);
  return inspected;
}

InspectedMatrix inspect(io::Dense<double>&& a, bool factors) {
  HostMatrix<double> matrix;
  matrix.rows = a.rows;
  matrix.cols = a.cols;
  matrix.data = std::move(a.data);
  return inspect(std::move(matrix), factors);
}

std::optional<bool> satisfies(const InspectedMatrix& matrix, Need need, Uplo uplo) {
  const MatrixFacts& facts = matrix.facts;
  const bool dominant = facts.by_rows == Dominance::strict || facts.by_columns == Dominance::strict;
  switch (need) {
    case Need::spd:
      return is_definite(matrix);
    case Need::strongly_regular:
      // All leading principal submatrices of a definite or strictly dominant matrix are nonsingular.
      if (dominant || is_definite(matrix).value_or(false)) return true;
      if (facts.is_triangular()) return facts.zero_diagonals == 0;
      if (facts.first_zero_diagonal == 1) return false;
      if (matrix.conditioning && matrix.conditioning->zero_pivot > 0) return false;
      return std::nullopt;
    case Need::diagonally_dominant:
      return dominant;
    case Need::triangular:
      return facts.is_triangular(uplo);
    case Need::nonzero_elements:
      // The method also fails if an element becomes 0 or tiny during the elimination, which is unknown in
      // advance.
      if (facts.nonzeros < facts.rows * facts.cols) return false;
      return std::nullopt;
    case Need::nonzero_diagonal:
      return facts.zero_diagonals == 0;
  }
  return std::nullopt;
}

bool ignores_elements(const MatrixFacts& facts, Problem problem, Uplo uplo) {
  if (problem->used_of_a == UsedElements::triangle) return !facts.is_triangular(uplo);
  return is_for_definite(problem) && !facts.is_symmetric;
}

double max_condition(Precision precision) {
  return 1 / (2 * roundoff_of(precision));
}

bool needs_nonsingular(Problem problem) {
  const Verifier<double> verifier = problem->verifier.float64;
  return verifier == verifiers::solution<double> || verifier == verifiers::system_solution<double> ||
         verifiers::is_of_inverse(verifier);
}

std::vector<std::string> unmet_needs(const InspectedMatrix& matrix, const Method& method, Uplo uplo,
                                     Precision precision, const std::string& name) {
  std::vector<std::string> sentences;
  for (const Need need : method.needs) {
    if (satisfies(matrix, need, uplo).value_or(true)) continue;
    sentences.push_back(fmt::format("{} {}: {} needs {}", name, unmet_text(matrix, need, uplo), method.id(),
                                    need_text(need)));
  }
  if (!sentences.empty() || !needs_nonsingular(method.problem) || !matrix.conditioning) return sentences;
  const Conditioning& found = *matrix.conditioning;
  if (found.zero_pivot > 0) {
    sentences.push_back(fmt::format("{} is singular: pivot {} is exactly 0; {} has no answer", name,
                                    found.zero_pivot, to_string(method.problem)));
  } else if (!(found.condition <= max_condition(precision))) {
    sentences.push_back(fmt::format(
        "{} is singular to working precision: its condition number is about {:.2g}, beyond 1/epsilon = "
        "{:.2g} of {}; no digit of {}'s answer is certain",
        name, found.condition, max_condition(precision), to_string(precision), to_string(method.problem)));
  }
  return sentences;
}

Suitability suitability_of(const InspectedMatrix& matrix, const Method& method, Uplo uplo) {
  Suitability result;
  for (const Need need : method.needs) {
    const std::optional<bool> is_satisfied = satisfies(matrix, need, uplo);
    if (!is_satisfied) result.known = false;
    if (is_satisfied.value_or(true) || !result.fits) continue;
    result.fits = false;
    result.unmet = need;
  }
  return result;
}

bool kind_lacks(MatrixKind kind, Problem problem, Need need) {
  const auto is = [&](std::initializer_list<MatrixKind> kinds) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  switch (need) {
    case Need::spd:
      return is({MatrixKind::uniform, MatrixKind::symmetric, MatrixKind::diagonally_dominant,
                 MatrixKind::triangular, MatrixKind::condition, MatrixKind::ones, MatrixKind::wilkinson});
    case Need::strongly_regular:
      return kind == MatrixKind::ones;
    case Need::diagonally_dominant:
      return is({MatrixKind::uniform, MatrixKind::symmetric, MatrixKind::ones, MatrixKind::hilbert,
                 MatrixKind::cauchy, MatrixKind::wilkinson, MatrixKind::kernel});
    case Need::triangular:
      return problem->used_of_a != UsedElements::triangle &&
             !is({MatrixKind::triangular, MatrixKind::identity});
    case Need::nonzero_elements:
      return is({MatrixKind::identity, MatrixKind::triangular, MatrixKind::wilkinson, MatrixKind::blur});
    case Need::nonzero_diagonal:
      return false;
  }
  return false;
}

std::string need_text(Need need) {
  static const std::map<Need, std::string> texts{
      {Need::spd, "a symmetric positive definite matrix"},
      {Need::strongly_regular,
       "a matrix whose leading blocks are all regular, because no rows are exchanged"},
      {Need::diagonally_dominant, "a diagonally dominant matrix"},
      {Need::triangular, "a triangular matrix"},
      {Need::nonzero_elements, "a matrix without zeros"},
      {Need::nonzero_diagonal, "a matrix without zeros on its diagonal"}};
  return texts.at(need);
}

}  // namespace gaussweep::driver
