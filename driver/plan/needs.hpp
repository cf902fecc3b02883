#pragma once
/// What methods ask of a matrix, and what is known of one.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"
#include "kernels/matrix/facts.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// A matrix seen, and what a factorisation said of it (nothing where none was made).
struct SeenMatrix {
  MatrixFacts facts;
  std::optional<Conditioning> conditioning;
};

/// Beyond this order a factorisation is made only where it is asked for.
inline constexpr std::int64_t most_factored = 4096;

/// Looks at every element; where `factors`, factors the matrix too, if it is square.
/// @param precision in which the matrix will be used: it decides what counts as symmetric
SeenMatrix see(HostMatrix<double>&& a, bool factors, Precision precision = Precision::float64);
SeenMatrix see(io::Dense<double>&& a, bool factors);

/// Returns true if the matrix has what is asked, and nothing if that is not known.
/// @param uplo the triangle that a triangular problem reads
std::optional<bool> has(const SeenMatrix& matrix, Need need, Uplo uplo);

/// Returns true if the problem reads one triangle and would ignore elements of the other: A is not that
/// triangle, or is not symmetric.
bool ignores_elements(const MatrixFacts& facts, Problem problem, Uplo uplo);

/// Returns true if an answer is judged by A X = B or by A X = I. A singular A has no such answer.
bool needs_regular(Problem problem);

/// Returns what a matrix is known to lack for a method, a sentence each: "A.mtx is not symmetric …:
/// posv/lapack needs …".
/// @param name what the sentences call the matrix
std::vector<std::string> lacks_of(const SeenMatrix& matrix, const Method& method, Uplo uplo,
                                  Precision precision, const std::string& name);

/// How well a method suits a matrix.
struct Suitability {
  bool fits = true;   ///< nothing that it needs is known to lack
  bool known = true;  ///< everything that it needs is known to be there
  Need lacks{};       ///< where it does not fit: the first need that is lacking
};
Suitability suits(const SeenMatrix& matrix, const Method& method, Uplo uplo);

/// Whether generated matrices of this kind, n > 1, lack it; false where they have it or nobody knows.
bool lacks(MatrixKind kind, Problem problem, Need need);

/// A need in words: "a positive definite matrix".
std::string need_words(Need need);

}  // namespace gaussweep::driver
