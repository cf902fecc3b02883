#pragma once
/// Compares the properties of a matrix with the properties that methods require (their "needs"). "Regular"
/// means nonsingular.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"
#include "kernels/check/facts.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// The known properties of a matrix. `conditioning` comes from a factorisation; it is empty if the matrix was
/// not factored.
struct InspectedMatrix {
  MatrixFacts facts;
  std::optional<Conditioning> conditioning;
};

/// The largest order that is factored unless the user requests a factorisation.
inline constexpr std::int64_t max_factored = 4096;

/// Inspects every element. If `factors` is true, also factors the matrix if it is square.
/// @param precision in which the matrix will be used; determines the tolerance for symmetry
InspectedMatrix inspect(HostMatrix<double>&& a, bool factors, Precision precision = Precision::float64);
InspectedMatrix inspect(io::Dense<double>&& a, bool factors);

/// Returns whether the matrix satisfies the need; an empty optional if that is unknown.
/// @param uplo the triangle that a triangular problem reads
std::optional<bool> satisfies(const InspectedMatrix& matrix, Need need, Uplo uplo);

/// Returns true if the problem reads one triangle of A and would ignore relevant elements of the other
/// triangle. For positive definite problems, elements are relevant if they make A unsymmetric. For other
/// problems, all nonzeros are relevant.
bool ignores_elements(const MatrixFacts& facts, Problem problem, Uplo uplo);

/// Returns the largest condition number at which an answer may have a correct digit: 1 / epsilon.
double max_condition(Precision precision);

/// Returns true if the answer X is verified by A X = B or A X = I. A singular A has no such X.
bool needs_nonsingular(Problem problem);

/// Returns a sentence per need of a method that the matrix does not satisfy: "A.mtx is not symmetric …:
/// posv/lapack needs …".
/// @param name the matrix's name in the sentences
std::vector<std::string> unmet_needs(const InspectedMatrix& matrix, const Method& method, Uplo uplo,
                                     Precision precision, const std::string& name);

/// The result of checking a method's needs against a matrix.
struct Suitability {
  bool fits = true;   ///< false if the matrix does not satisfy a need
  bool known = true;  ///< false if it is unknown whether the matrix satisfies some need
  Need unmet{};       ///< the first unsatisfied need; only if `fits` is false
};
Suitability suitability_of(const InspectedMatrix& matrix, const Method& method, Uplo uplo);

/// Returns true if generated matrices of this kind with n > 1 certainly do not satisfy the need.
bool kind_lacks(MatrixKind kind, Problem problem, Need need);

/// Returns the text for a need: "a positive definite matrix".
std::string need_text(Need need);

}  // namespace gaussweep::driver
