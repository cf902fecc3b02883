#pragma once
/// Matrix generators. Counter-based (Philox 4x32-10), no contraction, sums in fixed order: the same bits on
/// every backend and for any number of threads.

#include <cstdint>
#include <string>

#include "kernels/core/context.hpp"
#include "kernels/core/matrix.hpp"
#include "kernels/matrix/blur.hpp"

namespace gaussweep {

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
  blur
};
template <>
struct EnumNames<MatrixKind> {
  static constexpr std::string_view what = "matrix kind";
  static constexpr std::array<std::pair<MatrixKind, std::string_view>, 12> table{
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
       {MatrixKind::blur, "blur"}}};
};

/// What decides a matrix whose elements can be had one by one. Kernels take it by value.
struct ElementSpec {
  MatrixKind kind = MatrixKind::uniform;
  std::int64_t rows = 0, cols = 0;  ///< only uniform, ones, hilbert, cauchy may be rectangular
  std::uint64_t seed = 1;
  double low = 0, high = 1;  ///< uniform, symmetric: elements in (low, high), never 0
  double condition = 1e4;    ///< condition: the 2-norm condition number
  int mode = 3;              ///< condition: singular values as LAPACK's latms modes 1 … 5 (3: geometric)
  double value = 1;          ///< ones: every element
  Uplo uplo = Uplo::lower;   ///< triangular
};

/// Everything that decides a generated matrix.
struct MatrixSpec : ElementSpec {
  BlurSpec blur;  ///< blur: rows = cols = width * height
  /// Canonical text, the same for equal matrices: the source of the digest. Begins with the generator's
  /// version.
  std::string canonical(Precision precision) const;
};

/// The matrix on the host, made with `threads` threads (0: as many as the machine has).
/// @throws std::invalid_argument where a kind must be square or a value is out of range, saying what is
/// allowed.
template <class T>
HostMatrix<T> generate(const MatrixSpec& spec, int threads = 0);

/// The same matrix made by kernels on the context's device (cuda, emulated) and fetched. Kinds whose elements
/// cannot be had one by one (condition, blur) are made on the host.
template <class T>
HostMatrix<T> generate_on(Context& context, const MatrixSpec& spec);

/// x_true of a system: uniform in (-1, 1), never 0, by seed; n x nrhs.
template <class T>
HostMatrix<T> generate_solution(std::int64_t n, std::int64_t nrhs, std::uint64_t seed);

/// b = A x_true, accumulated in long double in fixed order and rounded once (any number of threads, same
/// bits).
template <class T>
HostMatrix<T> right_hand_side(const HostMatrix<T>& a, const HostMatrix<T>& x_true, int threads = 0);

}  // namespace gaussweep
