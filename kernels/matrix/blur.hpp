#pragma once
/// Matrices of kind `blur`, which blur or sharpen images. An image f of width x height pixels is a vector of
/// n = width * height numbers in row-major order. H f, the *seen* image, is f filtered with a point-spread
/// function. The seen image may have fewer or more pixels than f, with the same top left pixel. Pixels
/// outside of f are black (0). Source: Soriano Pinedo, Matrix Inversion Speed Up with CUDA, 2011, section
/// 6.1.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"

namespace gaussweep {

enum class PointSpread { gaussian, box, motion, sharpen, file };
template <>
struct EnumNames<PointSpread> {
  static constexpr std::string_view noun = "point-spread function";
  static constexpr std::array<std::pair<PointSpread, std::string_view>, 5> table{
      {{PointSpread::gaussian, "gaussian"},
       {PointSpread::box, "box"},
       {PointSpread::motion, "motion"},
       {PointSpread::sharpen, "sharpen"},
       {PointSpread::file, "file"}}};
};

/// The matrix of kind `blur`: H itself (h), or H H^T + lambda I (system), which is symmetric and, for lambda
/// > 0, positive definite.
enum class BlurMatrix { system, h };
template <>
struct EnumNames<BlurMatrix> {
  static constexpr std::string_view noun = "matrix of a blur";
  static constexpr std::array<std::pair<BlurMatrix, std::string_view>, 2> table{
      {{BlurMatrix::system, "system"}, {BlurMatrix::h, "h"}}};
};

/// The largest radius of a point-spread function, which then has 2 * 15 + 1 rows and columns.
inline constexpr std::int64_t largest_blur_radius = 15;
inline constexpr std::int64_t largest_blur_side = 1'000'000;  ///< largest image width or height in pixels

/// Specifies a matrix of kind `blur`. The comments name the point-spread function or the matrix for which a
/// member is used.
struct BlurSpec {
  PointSpread psf = PointSpread::gaussian;
  double sigma = 1.5;                  ///< gaussian: standard deviation in pixels
  std::int64_t radius = 3;             ///< gaussian, box: 2 radius + 1 rows and columns
  double length = 7;                   ///< motion: length of the smear of a point in pixels
  double angle = 0;                    ///< motion: degrees, counter-clockwise from the right
  double amount = 1;                   ///< sharpen: the multiple of the image's Laplacian that is subtracted
  HostMatrix<double> weights;          ///< file: the weights of the point-spread function
  std::int64_t width = 0, height = 0;  ///< size of the image f in pixels
  std::int64_t seen_width = 0, seen_height = 0;  ///< size of H f; both 0: the size of f
  BlurMatrix what = BlurMatrix::system;          ///< the matrix that is generated
  double lambda = 0.01;                          ///< system: added to the diagonal
  std::int64_t pixels() const { return width * height; }
  std::int64_t columns_seen() const { return seen_width > 0 ? seen_width : width; }
  std::int64_t rows_seen() const { return seen_height > 0 ? seen_height : height; }
  std::int64_t pixels_seen() const { return columns_seen() * rows_seen(); }
  /// Returns the number of columns of the matrix; the number of rows is pixels_seen().
  std::int64_t matrix_columns() const { return what == BlurMatrix::h ? pixels() : pixels_seen(); }
  /// Returns a text with exactly the values that determine the matrix, so that equal matrices have equal
  /// texts.
  std::string canonical() const;
};

/// Returns an error text if this spec is invalid or does not describe a `rows` x `cols` matrix; else "".
std::string blur_fault(const BlurSpec& spec, std::int64_t rows, std::int64_t cols);

/// Returns the point-spread function as weights w(i, j) with centre (ci, cj) = ((rows - 1) / 2,
/// (cols - 1) / 2). Then g = H f is g(y, x) = sum over i, j of w(i, j) f(y + i - ci, x + j - cj), summed from
/// top left to bottom right.
/// - gaussian, box: symmetric weights with sum 1;
/// - motion: a line from the centre, `length` - 1 pixels long, in the direction of `angle`. A pixel at
///   distance d from the line has weight max(0, 1 - d), scaled to sum 1;
/// - sharpen: 1 + 4 amount in the centre, and -amount for the four pixels next to it;
/// - file: BlurSpec::weights.
/// Values of exp, cos and sin are rounded to multiples of 2^-40, because libraries disagree about their last
/// bits.
/// @pre blur_fault is empty
HostMatrix<double> point_spread(const BlurSpec& spec);

/// Returns H f, or H^T f if `transposed`, without forming H: O(n * weights) operations.
/// @pre f has as many elements as H (or H^T) has columns
std::vector<double> apply_blur(const BlurSpec& spec, const std::vector<double>& f, bool transposed);

/// Returns the matrix that `spec.what` selects, computed in double with `threads` threads (0: all usable
/// CPUs).
/// @pre blur_fault is empty
template <class T>
HostMatrix<T> blur_matrix(const BlurSpec& spec, int threads);

}  // namespace gaussweep
