#pragma once
/// Blurred and sharpened images as matrices: kind `blur`. An image f of width x height pixels is a vector of
/// n = width * height numbers, row after row from the top. H f is the image seen through a point-spread
/// function. It has as many pixels as are asked for, from the image's top left corner on. What lies outside
/// of the image counts as black (0). Source: Soriano Pinedo, Matrix Inversion Speed Up with CUDA, 2011,
/// section 6.1.

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/matrix.hpp"

namespace gaussweep {

enum class PointSpread { gaussian, box, motion, sharpen, file };
template <>
struct EnumNames<PointSpread> {
  static constexpr std::string_view what = "point-spread function";
  static constexpr std::array<std::pair<PointSpread, std::string_view>, 5> table{
      {{PointSpread::gaussian, "gaussian"},
       {PointSpread::box, "box"},
       {PointSpread::motion, "motion"},
       {PointSpread::sharpen, "sharpen"},
       {PointSpread::file, "file"}}};
};

/// Which matrix kind `blur` is: H itself, or H H^T + lambda I, which is symmetric and, for lambda > 0,
/// positive definite.
enum class BlurMatrix { system, h };
template <>
struct EnumNames<BlurMatrix> {
  static constexpr std::string_view what = "matrix of a blur";
  static constexpr std::array<std::pair<BlurMatrix, std::string_view>, 2> table{
      {{BlurMatrix::system, "system"}, {BlurMatrix::h, "h"}}};
};

/// The largest radius: point-spread functions have at most 2 * 15 + 1 rows and columns.
inline constexpr std::int64_t largest_blur_radius = 15;
inline constexpr std::int64_t largest_blur_side = 1'000'000;  ///< pixels, of an image

/// Everything that decides H and H H^T + lambda I.
struct BlurSpec {
  PointSpread psf = PointSpread::gaussian;
  double sigma = 1.5;                            ///< gaussian: standard deviation in pixels
  std::int64_t radius = 3;                       ///< gaussian, box: 2 radius + 1 rows and columns
  double length = 7;                             ///< motion: pixels that one point is smeared over
  double angle = 0;                              ///< motion: degrees, counter-clockwise from the right
  double amount = 1;                             ///< sharpen: how much of the Laplacian is taken away
  HostMatrix<double> weights;                    ///< file: the weights themselves
  std::int64_t width = 0, height = 0;            ///< of the image f, in pixels
  std::int64_t seen_width = 0, seen_height = 0;  ///< of H f; both 0: those of f
  BlurMatrix what = BlurMatrix::system;
  double lambda = 0.01;  ///< system: what is added to the diagonal
  std::int64_t pixels() const { return width * height; }
  std::int64_t columns_seen() const { return seen_width > 0 ? seen_width : width; }
  std::int64_t rows_seen() const { return seen_height > 0 ? seen_height : height; }
  std::int64_t pixels_seen() const { return columns_seen() * rows_seen(); }
  /// Columns of the matrix; its rows are the pixels seen.
  std::int64_t matrix_columns() const { return what == BlurMatrix::h ? pixels() : pixels_seen(); }
  /// Canonical text: what decides the matrix and nothing else.
  std::string canonical() const;
};

/// Why no matrix of `rows` x `cols` can be made of this; empty where it can.
std::string blur_fault(const BlurSpec& spec, std::int64_t rows, std::int64_t cols);

/// The point-spread function as weights w(i, j), whose centre is ((rows - 1) / 2, (cols - 1) / 2). Then g(y,
/// x) is the sum over i, j of w(i, j) f(y + i - (rows - 1) / 2, x + j - (cols - 1) / 2). It is summed from
/// top left to bottom right. `gaussian` and `box`: symmetric, their sum is 1. `motion`: the line from the
/// centre `length` - 1 pixels in the direction of `angle`. Each pixel has the weight 1 - its distance from
/// the line where that is positive. Their sum is 1; not symmetric. `sharpen`: 1 + 4 amount in the centre,
/// -amount beside, above and below. `file`: as given. What exp, cos and sin return is rounded to a multiple
/// of 2^-40, so that their last bit, which libraries disagree about, does not matter.
/// @pre blur_fault says nothing
HostMatrix<double> point_spread(const BlurSpec& spec);

/// H f, or H^T f where `transposed`. O(n times weights) work; H is not formed.
/// @pre f has as many elements as H (or H^T) has columns
std::vector<double> apply_blur(const BlurSpec& spec, const std::vector<double>& f, bool transposed);

/// Rows of the matrix that `spec.what` names, in double, made by `threads` threads (0: as many as there are).
/// @pre blur_fault says nothing
template <class T>
HostMatrix<T> blur_matrix(const BlurSpec& spec, int threads);

}  // namespace gaussweep
