#pragma once
/// Kind `blur` as a plan or a command line asks for it.

#include "driver/plan/expand.hpp"
#include "kernels/matrix/blur.hpp"

namespace gaussweep::driver {

/// Reads a block's words on the point-spread function (psf, sigma, radius, length, angle, amount, psf_file,
/// dataset), the image (width, height; 0 where it does not say) and the matrix (what, lambda). Other words of
/// the block are not looked at, but for those that another psf has.
/// @throws io::InputError with the place: a word of another psf, a value out of range, no such file
BlurSpec read_blur(const io::MatrixBlock& block, const FileLookup& lookup);

/// All words that read_blur knows.
const std::vector<std::string>& blur_words();

/// The order n that width and height ask for, a lone one meaning a square image; 0 where neither is given.
std::int64_t blur_order(const BlurSpec& blur);

/// Completes width and height for a matrix of order n: the missing one, or, where neither is given, both
/// roots of n.
/// @throws io::InputError at `place`: n is no such product, or no matrix can be made
void settle_image(BlurSpec& blur, std::int64_t n, const io::Place& place);

}  // namespace gaussweep::driver
