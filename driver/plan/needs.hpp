#pragma once
/// What methods ask of a matrix, and what is known of one.

#include <optional>
#include <string>

#include "kernels/core/method.hpp"
#include "kernels/matrix/facts.hpp"

namespace gaussweep::driver {

/// A matrix seen, and what a factorisation said of it (nothing where none was made).
struct Seen {
  MatrixFacts facts;
  std::optional<Conditioning> conditioning;
};

/// Whether the matrix, as the problem sees it (trsv and trtri see one triangle), has what is asked; nothing
/// where that is not known.
std::optional<bool> has(const Seen& matrix, Problem problem, Need need);

/// How well a method suits a matrix.
struct Suits {
  bool fits = true;   ///< nothing that it needs is known to lack
  bool known = true;  ///< everything that it needs is known to be there
  Need lacks{};       ///< where it does not fit: the first need that is lacking
};
Suits suits(const Seen& matrix, const Method& method);

/// A need in words: "a positive definite matrix".
std::string need_words(Need need);

}  // namespace gaussweep::driver
