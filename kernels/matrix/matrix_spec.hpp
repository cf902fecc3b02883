#pragma once
/// Specification of a generated matrix.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/core/enums.hpp"
#include "kernels/core/shared_inline.hpp"
#include "kernels/matrix/blur.hpp"

namespace gaussweep {

/// The kinds of generated matrices. element.hpp defines the elements of most kinds. condition.hpp defines
/// those of `condition`, and of `spd` with a condition number; blur.hpp those of `blur`.
enum class MatrixKind {
  uniform,
  symmetric,
  spd,
  diagonally_dominant,
  triangular,
  condition,
  identity,
  hilbert,
  cauchy,
  ones,
  wilkinson,
  kernel,
  blur
};
template <>
struct EnumNames<MatrixKind> {
  static constexpr std::string_view noun = "matrix kind";
  static constexpr std::array<std::pair<MatrixKind, std::string_view>, 13> table{
      {{MatrixKind::uniform, "uniform"},
       {MatrixKind::symmetric, "symmetric"},
       {MatrixKind::spd, "spd"},
       {MatrixKind::diagonally_dominant, "diagonally_dominant"},
       {MatrixKind::triangular, "triangular"},
       {MatrixKind::condition, "condition"},
       {MatrixKind::identity, "identity"},
       {MatrixKind::hilbert, "hilbert"},
       {MatrixKind::cauchy, "cauchy"},
       {MatrixKind::ones, "ones"},
       {MatrixKind::wilkinson, "wilkinson"},
       {MatrixKind::kernel, "kernel"},
       {MatrixKind::blur, "blur"}}};
};

/// Returns the seed of system s of a batch, from 0.
GAUSSWEEP_SHARED_INLINE std::uint64_t seed_of_system(std::uint64_t seed, std::int64_t s) {
  return seed + static_cast<std::uint64_t>(s);
}

/// The parameters of a matrix as plain data, so that kernels can take this struct by value. From it they
/// compute matrices whose elements are independent of each other. The comments name the kinds for which a
/// member is used.
struct ElementSpec {
  MatrixKind kind = MatrixKind::uniform;
  std::int64_t rows = 0, cols = 0;  ///< uniform, ones, hilbert, cauchy, blur may be rectangular
  std::uint64_t seed = 1;
  double low = 0, high = 1;  ///< uniform, symmetric: elements in [low, high), never 0
  bool dominant = true;      ///< spd: the diagonal is dominant; false: `condition` and `mode` apply
  double condition = 1e4;    ///< condition, spd: the 2-norm condition number
  int mode = 3;          ///< condition, spd: singular values as LAPACK's latms modes 1 … 5 (3: geometric)
  double s = 4;          ///< kernel: element (i, j) is exp(-s d^2) with d = (i - j) / (n - 1)
  double lambda = 0.01;  ///< kernel: added to the diagonal
  double value = 1;      ///< ones: every element
  Uplo uplo = Uplo::lower;  ///< triangular: the triangle

  /// Returns true if the matrix has a prescribed condition number. It is then generated on the host, in
  /// double.
  bool has_condition() const {
    return kind == MatrixKind::condition || (kind == MatrixKind::spd && !dominant);
  }
};

/// Specifies a generated matrix, or a batch of matrices side by side.
struct MatrixSpec : ElementSpec {
  BlurSpec blur;           ///< blur: rows = pixels_seen(), cols = matrix_columns()
  std::int64_t batch = 1;  ///< matrices of rows x cols

  /// Returns the specification of matrix s of the batch, from 0; its seed is seed + s.
  MatrixSpec single(std::int64_t s) const {
    MatrixSpec one = *this;
    one.batch = 1;
    one.seed = seed_of_system(seed, s);
    return one;
  }
  /// Returns a text that begins with the generator's version and is the same for equal matrices. Its digest
  /// identifies the matrix.
  std::string canonical(Precision precision) const;
};

}  // namespace gaussweep
