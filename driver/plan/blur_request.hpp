#pragma once
/// Reads a matrix of kind `blur` from a plan or a command line. The matrix H blurs an image f of width x
/// height pixels: H f is the blurred image, of seen_width x seen_height pixels. The key `what` chooses
/// between the matrices H and H H^T + lambda I, where lambda is a regularisation parameter
/// (kernels/matrix/blur.hpp).

#include "driver/plan/file_facts.hpp"
#include "io/plan/plan.hpp"
#include "kernels/matrix/blur.hpp"

namespace gaussweep::driver {

/// Reads these keys of a plan's `matrix:` block: the point-spread function (psf, sigma, radius, length,
/// angle, amount, psf_file, dataset), the image sizes (width, height, seen_width, seen_height; 0 if absent),
/// and the matrix (what, lambda). Other keys are ignored.
/// @throws io::InputError with the location, for a key of another point-spread function, a value out of range
/// or a missing file
BlurSpec read_blur(const io::MatrixBlock& block, const FileLookup& lookup);

/// Returns all keys that read_blur knows.
const std::vector<std::string>& blur_keys();

/// Returns the number of rows of the matrix: the pixels of H f, or of f if no seen_width and seen_height are
/// given. If only one side of an image is given, the image is square. Returns 0 if no side is given.
std::int64_t blur_order(const BlurSpec& blur);
/// Returns the number of columns: the image's pixels for H, the number of rows for H H^T + lambda I.
std::int64_t blur_columns(const BlurSpec& blur);

/// Sets the missing sizes of the images for a `rows` x `cols` matrix. If one of width and height is given,
/// computes the other one; if neither is given, the image is square. If only one of seen_width and
/// seen_height is given, the blurred image is square.
/// @throws io::InputError at `location` if rows and cols do not match the sizes of the images, or if BlurSpec
/// has invalid values
void complete_image_sizes(BlurSpec& blur, std::int64_t rows, std::int64_t cols, const io::Location& location);

}  // namespace gaussweep::driver
