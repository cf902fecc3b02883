#pragma once
/// Kind `blur` as a plan or a command line asks for it.

#include "driver/plan/file_facts.hpp"
#include "io/plan/plan.hpp"
#include "kernels/matrix/blur.hpp"

namespace gaussweep::driver {

/// Reads a block's words on the point-spread function (psf, sigma, radius, length, angle, amount, psf_file,
/// dataset). Reads those on the images (width, height, seen_width, seen_height; 0 where it does not say) and
/// the matrix (what, lambda). Other words of the block are not looked at, but for those that another psf has.
/// @throws io::InputError with the location: a word of another psf, a value out of range, no such file
BlurSpec read_blur(const io::MatrixBlock& block, const FileLookup& lookup);

/// All words that read_blur knows.
const std::vector<std::string>& blur_words();

/// The rows that the images ask for, a lone side meaning a square image; 0 where no side is given.
std::int64_t blur_order(const BlurSpec& blur);
/// The columns, likewise: the image's pixels for H, as many as rows for H H^T + lambda I.
std::int64_t blur_columns(const BlurSpec& blur);

/// Completes the images for a matrix of `rows` x `cols`: the missing one of width and height. Where neither
/// is given, both are the root of the order. A lone seen_width or seen_height means a square.
/// @throws io::InputError at `location`: the sizes are no such products, or no matrix can be made
void settle_image(BlurSpec& blur, std::int64_t rows, std::int64_t cols, const io::Location& location);

}  // namespace gaussweep::driver
