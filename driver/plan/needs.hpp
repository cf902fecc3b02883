#pragma once
/// What methods ask of a matrix, and what is known of one.

#include <optional>
#include <string>

#include "kernels/matrix/facts.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// A matrix seen, and what a factorisation said of it (nothing where none was made).
struct SeenMatrix {
  MatrixFacts facts;
  std::optional<Conditioning> conditioning;
};

/// Whether the matrix, as the problem sees it (trsv and trtri see one triangle), has what is asked; nothing
/// where that is not known.
std::optional<bool> has(const SeenMatrix& matrix, Problem problem, Need need);

/// How well a method suits a matrix.
struct Suitability {
  bool fits = true;   ///< nothing that it needs is known to lack
  bool known = true;  ///< everything that it needs is known to be there
  Need lacks{};       ///< where it does not fit: the first need that is lacking
};
Suitability suits(const SeenMatrix& matrix, const Method& method);

/// Whether generated matrices of this kind, n > 1, lack it; false where they have it or nobody knows.
bool lacks(MatrixKind kind, Problem problem, Need need);

/// A need in words: "a positive definite matrix".
std::string need_words(Need need);

}  // namespace gaussweep::driver
