#pragma once
/// The words of a blur as options of a command: --psf, --sigma, …, named as a plan's.

#include <map>
#include <string>

#include "kernels/matrix/blur.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// What was given on the command line, by name without dashes.
struct BlurOptions {
  std::map<std::string, std::string> words;
};

/// Adds the options of a point-spread function and `--lambda`. @param options must outlive the parser
void add_blur_options(CLI::App& app, BlurOptions& options);
/// Adds `--width`, `--height` and `--what`, for those who know no image. @param options must outlive the
/// parser
void add_blur_image_options(CLI::App& app, BlurOptions& options);

/// The blur that the options mean; width and height are 0 where they were not given.
/// @throws io::InputError with the option's name
BlurSpec blur_of(const BlurOptions& options);

}  // namespace gaussweep::driver
