/// Defines the command-line options of a blur matrix, the matrix that blurs an image. They are named like the
/// keys of a plan (a YAML file of trials): --psf, --sigma, …

#include "driver/command/blur_options.hpp"

#include <CLI/CLI.hpp>

#include "driver/plan/blur_request.hpp"
#include "driver/plan/file_facts.hpp"

namespace gaussweep::driver {
namespace {

/// Adds the option --NAME, which stores its text under the plan's key NAME.
void add_value(CLI::App& app, BlurOptions& options, const std::string& name, const std::string& help) {
  const auto take = [&options, name](const std::string& value) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    options.values[key] = value;
  };
  app.add_option_function<std::string>("--" + name, take, help);
}

}  // namespace

void add_blur_options(CLI::App& app, BlurOptions& options) {
  add_value(app, options, "psf", "Point-spread function of a blur: " + allowed_names<PointSpread>());
  add_value(app, options, "sigma", "psf gaussian: standard deviation in pixels [1.5]");
  add_value(app, options, "radius",
            "psf gaussian, box: 2 radius + 1 rows and columns [2 sigma, rounded up; 3]");
  add_value(app, options, "length", "psf motion: number of pixels that are averaged [7]");
  add_value(app, options, "angle",
            "psf motion: direction of these pixels in degrees, counter-clockwise from the right [0]");
  add_value(app, options, "amount", "psf sharpen: fraction of the Laplacian that is subtracted [1]");
  add_value(app, options, "psf-file",
            "psf file: its weights, a small matrix (Matrix Market, .npy, MATLAB, HDF5)");
  add_value(app, options, "dataset", "psf file: path of the weights in an HDF5 or MATLAB file");
  add_value(app, options, "lambda", "blur of H H^T: added to the diagonal [0.01]");
}

void add_blur_image_options(CLI::App& app, BlurOptions& options) {
  add_value(app, options, "width", "blur: width of the image in pixels; n = width x height");
  add_value(app, options, "height", "blur: height of the image in pixels");
  add_value(app, options, "seen-width", "blur: width of the visible part of the image [the image's]");
  add_value(app, options, "seen-height", "blur: height of the visible part of the image [the image's]");
  add_value(app, options, "what", "blur: system (H H^T + lambda I) or h (H) [system]");
}

std::string blur_option(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

BlurSpec blur_of(const BlurOptions& options) {
  io::MatrixBlock block;
  block.location.file = "--psf";
  for (const auto& [name, text] : options.values) {
    block.values[name] = {text, {blur_option(name), 0, 0}};
  }
  return read_blur(block, facts_of_file);
}

}  // namespace gaussweep::driver
