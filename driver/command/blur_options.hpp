#pragma once
/// The command-line options of a blur matrix, the matrix that blurs an image (`kind: blur` in a plan). They
/// are named like the plan's keys: --psf, --sigma, …

#include <map>
#include <string>

#include "kernels/matrix/blur.hpp"

namespace CLI {
class App;
}

namespace gaussweep::driver {

/// The values of the options that the user gave, as text, by plan key (psf_file for --psf-file).
struct BlurOptions {
  std::map<std::string, std::string> values;
};

/// Adds the options of a point-spread function and `--lambda`. @param options must outlive the parser
void add_blur_options(CLI::App& app, BlurOptions& options);
/// Adds `--width`, `--height`, `--seen-width`, `--seen-height` and `--what`, for commands without an image
/// file. @param options must outlive the parser
void add_blur_image_options(CLI::App& app, BlurOptions& options);

/// Returns the name of the option for a plan key: "--psf-file" for psf_file.
std::string blur_option(std::string key);
/// Returns the blur that the options describe. Width and height are 0 if their options were not given.
/// @throws io::InputError with the option's name
BlurSpec blur_of(const BlurOptions& options);

}  // namespace gaussweep::driver
