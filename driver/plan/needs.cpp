#include "driver/plan/needs.hpp"

#include <algorithm>
#include <initializer_list>

namespace gaussweep::driver {

std::optional<bool> has(const SeenMatrix& matrix, Problem problem, Need need) {
  const MatrixFacts& facts = matrix.facts;
  const bool dominant = facts.by_rows == Dominance::strict || facts.by_columns == Dominance::strict;
  switch (need) {
    case Need::spd:
      if (!facts.is_symmetric) return false;
      if (!matrix.conditioning) return std::nullopt;
      return matrix.conditioning->is_definite;
    case Need::strongly_regular:
      // Every leading block of a definite or of a strictly dominant matrix is regular.
      if (dominant || (matrix.conditioning && matrix.conditioning->is_definite)) return true;
      if (facts.is_triangular()) return facts.zero_diagonals == 0;
      if (facts.first_zero_diagonal == 1) return false;
      if (matrix.conditioning && matrix.conditioning->zero_pivot > 0) return false;
      return std::nullopt;
    case Need::diagonally_dominant:
      return dominant;
    case Need::triangular:
      return problem->counts_of_a == Counts::triangle || facts.is_triangular();
    case Need::nonzero_elements:
      // Nor may one become 0, or nearly, on the way: nobody knows that before.
      if (facts.nonzeros < facts.rows * facts.cols) return false;
      return std::nullopt;
    case Need::nonzero_diagonal:
      return facts.zero_diagonals == 0;
  }
  return std::nullopt;
}

Suitability suits(const SeenMatrix& matrix, const Method& method) {
  Suitability result;
  for (const Need need : method.needs) {
    const std::optional<bool> there = has(matrix, method.problem, need);
    if (!there) result.known = false;
    if (there.value_or(true) || !result.fits) continue;
    result.fits = false;
    result.lacks = need;
  }
  return result;
}

bool lacks(MatrixKind kind, Problem problem, Need need) {
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
      return problem->counts_of_a != Counts::triangle && !is({MatrixKind::triangular, MatrixKind::identity});
    case Need::nonzero_elements:
      return is({MatrixKind::identity, MatrixKind::triangular, MatrixKind::wilkinson, MatrixKind::blur});
    case Need::nonzero_diagonal:
      return false;
  }
  return false;
}

std::string need_words(Need need) {
  switch (need) {
    case Need::spd:
      return "a symmetric positive definite matrix";
    case Need::strongly_regular:
      return "a matrix whose leading blocks are all regular, for no rows are exchanged";
    case Need::diagonally_dominant:
      return "a diagonally dominant matrix";
    case Need::triangular:
      return "a triangular matrix";
    case Need::nonzero_elements:
      return "a matrix without zeros";
    case Need::nonzero_diagonal:
      return "a matrix without zeros on its diagonal";
  }
  return "?";
}

}  // namespace gaussweep::driver
