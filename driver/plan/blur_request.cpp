/// Reads and checks a matrix of kind `blur`, which blurs an image. With the keys seen_width and seen_height
/// the blurred image has another size than the original.

#include "driver/plan/blur_request.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "driver/base/lookup.hpp"
#include "driver/plan/plan_names.hpp"

namespace gaussweep::driver {
namespace {

using io::fail_at;
using io::Scalar;

/// Returns the keys that a plan may give for a kind of point-spread function (psf).
const std::vector<std::string>& keys_of(PointSpread psf) {
  static const std::map<PointSpread, std::vector<std::string>> table = {
      {PointSpread::gaussian, {"sigma", "radius"}},
      {PointSpread::box, {"radius"}},
      {PointSpread::motion, {"length", "angle"}},
      {PointSpread::sharpen, {"amount"}},
      {PointSpread::file, {"psf_file", "dataset"}}};
  return table.at(psf);
}

/// Throws if the block has keys of other point-spread functions.
void refuse_other_keys(const io::MatrixBlock& block, PointSpread psf) {
  const std::vector<std::string>& keys = keys_of(psf);
  for (const auto& [other, name] : EnumNames<PointSpread>::table) {
    for (const std::string& key : keys_of(other)) {
      const Scalar* given = find_in(block.values, key);
      if (given == nullptr || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      fail_at(given->location,
              fmt::format("psf {} has no '{}'; it has: {}", to_string(psf), key, joined(keys)));
    }
  }
}

/// Reads the weights of a point-spread function from its file. @throws io::InputError
HostMatrix<double> read_weights(const io::MatrixBlock& block, const FileLookup& lookup) {
  const Scalar* file = find_in(block.values, "psf_file");
  if (file == nullptr) {
    fail_at(block.location, "psf file needs psf_file: a small matrix as Matrix Market, .npy, MATLAB or HDF5");
  }
  const Scalar* dataset = find_in(block.values, "dataset");
  FileFacts facts;
  try {
    facts = lookup(file->text, dataset == nullptr ? "" : dataset->text);
  } catch (const io::InputError& e) {
    fail_at(file->location, e.what());
  }
  // Only the weights are checked here. blur_fault checks a whole BlurSpec, so the image is a single pixel.
  BlurSpec checked;
  checked.psf = PointSpread::file;
  checked.width = checked.height = 1;
  checked.weights.rows = facts.rows;
  checked.weights.cols = facts.cols;
  checked.weights.data = facts.values;
  const std::string fault = blur_fault(checked, 1, 1);
  if (!fault.empty()) fail_at(file->location, fmt::format("{}: {}", facts.path, fault));
  return checked.weights;
}

}  // namespace

const std::vector<std::string>& blur_keys() {
  static const std::vector<std::string> keys = {"psf",      "sigma",   "radius", "length",     "angle",
                                                "amount",   "width",   "height", "seen_width", "seen_height",
                                                "psf_file", "dataset", "what",   "lambda"};
  return keys;
}

BlurSpec read_blur(const io::MatrixBlock& block, const FileLookup& lookup) {
  BlurSpec blur;
  if (const Scalar* psf = find_in(block.values, "psf")) blur.psf = parse_enum<PointSpread>(*psf);
  if (const Scalar* what = find_in(block.values, "what")) blur.what = parse_enum<BlurMatrix>(*what);
  refuse_other_keys(block, blur.psf);
  const auto real = [&](const char* name, double low, double high, double& field) {
    if (const Scalar* given = find_in(block.values, name)) field = io::parse_real(*given, low, high, name);
  };
  const auto whole = [&](const char* name, std::int64_t low, std::int64_t high, std::int64_t& field) {
    if (const Scalar* given = find_in(block.values, name)) field = io::parse_integer(*given, low, high, name);
  };
  real("sigma", 0.1, 100, blur.sigma);
  // The default radius is two standard deviations, which contain most of a Gaussian.
  if (blur.psf == PointSpread::gaussian)
    blur.radius = std::min(largest_blur_radius, static_cast<std::int64_t>(std::ceil(2 * blur.sigma)));
  whole("radius", 0, largest_blur_radius, blur.radius);
  real("length", 1, static_cast<double>(largest_blur_radius + 1), blur.length);
  real("angle", -360, 360, blur.angle);
  real("amount", 0, 1e6, blur.amount);
  whole("width", 1, largest_blur_side, blur.width);
  whole("height", 1, largest_blur_side, blur.height);
  whole("seen_width", 1, largest_blur_side, blur.seen_width);
  whole("seen_height", 1, largest_blur_side, blur.seen_height);
  const Scalar* lambda = find_in(block.values, "lambda");
  if (lambda != nullptr && blur.what == BlurMatrix::h) {
    fail_at(lambda->location, "lambda is part of H H^T + lambda I; leave it out, or give what: system");
  }
  real("lambda", 0, 1e30, blur.lambda);
  if (blur.psf == PointSpread::file) blur.weights = read_weights(block, lookup);
  return blur;
}

namespace {

/// Returns the number of pixels of an image; a missing side (0) equals the other one.
std::int64_t area_of(std::int64_t width, std::int64_t height) {
  return (width > 0 ? width : height) * (height > 0 ? height : width);
}

/// Returns true if the plan gives a size for the blurred image.
bool has_seen_size(const BlurSpec& blur) {
  return blur.seen_width > 0 || blur.seen_height > 0;
}

void refuse_fault(const BlurSpec& blur, std::int64_t rows, std::int64_t cols, const io::Location& location) {
  const std::string fault = blur_fault(blur, rows, cols);
  if (!fault.empty()) fail_at(location, "matrix kind blur: " + fault);
}

}  // namespace

std::int64_t blur_order(const BlurSpec& blur) {
  return has_seen_size(blur) ? area_of(blur.seen_width, blur.seen_height) : area_of(blur.width, blur.height);
}

std::int64_t blur_columns(const BlurSpec& blur) {
  return blur.what == BlurMatrix::h ? area_of(blur.width, blur.height) : blur_order(blur);
}

void complete_image_sizes(BlurSpec& blur, std::int64_t rows, std::int64_t cols,
                          const io::Location& location) {
  if (has_seen_size(blur)) {
    if (blur.width == 0 && blur.height == 0)
      fail_at(location, "seen_width and seen_height need the width and height of the image too");
    for (auto [one, other] : {std::pair{&blur.width, &blur.height}, {&blur.seen_width, &blur.seen_height}}) {
      if (*one == 0) *one = *other;
      if (*other == 0) *other = *one;
    }
    refuse_fault(blur, rows, cols, location);
    return;
  }
  if (rows != cols) {
    fail_at(
        location,
        fmt::format("a blur of {} x {} is not square: give width, height, seen_width and seen_height, the "
                    "sides of the image and of its visible part",
                    rows, cols));
  }
  const std::int64_t n = rows;
  if (blur.width == 0 && blur.height == 0) {
    blur.width = std::llround(std::sqrt(static_cast<double>(n)));
    blur.height = blur.width;
    if (blur.width * blur.height != n) {
      fail_at(location,
              fmt::format("a blur of n = {} pixels is no square image ({} x {} has {}); give its width, or "
                          "an n that is a square",
                          n, blur.width, blur.width, blur.width * blur.width));
    }
  }
  std::int64_t& missing = blur.width == 0 ? blur.width : blur.height;
  const std::int64_t given = blur.width == 0 ? blur.height : blur.width;
  if (missing == 0) missing = n / given;
  if (blur.width * blur.height != n) {
    fail_at(location, fmt::format("n = {} is not width x height = {} x {}; leave n out, or make them agree",
                                  n, blur.width, blur.height == 0 ? 1 : blur.height));
  }
  refuse_fault(blur, rows, cols, location);
}

}  // namespace gaussweep::driver
