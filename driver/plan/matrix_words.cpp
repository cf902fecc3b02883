#include "driver/plan/matrix_words.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

constexpr std::size_t digits_of_a_digest = 12;  // enough to distinguish files of the same name

json blur_parameters(const BlurSpec& blur) {
  json parameters = {{"psf", to_string(blur.psf)}, {"what", to_string(blur.what)}};
  switch (blur.psf) {
    case PointSpread::gaussian:
      parameters["sigma"] = blur.sigma;
      parameters["radius"] = blur.radius;
      break;
    case PointSpread::box:
      parameters["radius"] = blur.radius;
      break;
    case PointSpread::motion:
      parameters["length"] = blur.length;
      parameters["angle"] = blur.angle;
      break;
    case PointSpread::sharpen:
      parameters["amount"] = blur.amount;
      break;
    case PointSpread::file: {
      const HostMatrix<double>& weights = blur.weights;
      const json all = {weights.rows, weights.cols, weights.data};
      parameters["weights"] = io::sha256(all.dump()).substr(0, digits_of_a_digest);
      break;
    }
  }
  if (blur.what == BlurMatrix::system) parameters["lambda"] = blur.lambda;
  // The sides of a square image follow from n.
  if (blur.width != blur.height || blur.pixels_seen() != blur.pixels()) {
    parameters["width"] = blur.width;
    parameters["height"] = blur.height;
  }
  if (blur.columns_seen() != blur.width || blur.rows_seen() != blur.height) {
    parameters["seen_width"] = blur.columns_seen();
    parameters["seen_height"] = blur.rows_seen();
  }
  return parameters;
}

json parameters_of(const MatrixRequest& matrix) {
  const MatrixSpec& spec = matrix.spec;
  if (matrix.kind == "file") {
    json parameters = {{"sha256", matrix.file_sha256.substr(0, digits_of_a_digest)}};
    if (!matrix.dataset.empty()) parameters["dataset"] = matrix.dataset;
    return parameters;
  }
  switch (spec.kind) {
    case MatrixKind::uniform:
    case MatrixKind::symmetric:
      return {{"low", spec.low}, {"high", spec.high}};
    case MatrixKind::spd:
      if (spec.dominant) break;
      return {{"condition", spec.condition}, {"mode", spec.mode}};
    case MatrixKind::kernel:
      return {{"s", spec.s}, {"lambda", spec.lambda}};
    case MatrixKind::condition:
      return {{"condition", spec.condition}, {"mode", spec.mode}};
    case MatrixKind::ones:
      return {{"value", spec.value}};
    case MatrixKind::blur:
      return blur_parameters(spec.blur);
    case MatrixKind::diagonally_dominant:
    case MatrixKind::triangular:
    case MatrixKind::identity:
    case MatrixKind::hilbert:
    case MatrixKind::cauchy:
    case MatrixKind::wilkinson:
      break;
  }
  return json::object();
}

/// Returns true if B is the default of a plan without `matrix_b`: A's kind with the next seed.
bool is_next(const MatrixRequest& a, const MatrixRequest& b) {
  return b.kind != "file" && a.kind == b.kind && b.spec.seed == next_seed(a.spec.seed) &&
         parameters_of(a) == parameters_of(b);
}

}  // namespace

std::string matrix_label(const MatrixRequest& matrix) {
  return matrix.kind == "file" ? std::filesystem::path(matrix.file).filename().string() : matrix.kind;
}

std::string matrix_parameters_text(const MatrixRequest& a, const std::optional<MatrixRequest>& b) {
  json parameters = parameters_of(a);
  if (b && !is_next(a, *b)) {
    parameters["b"] = matrix_label(*b);
    if (b->kind != "file") parameters["b_seed"] = b->spec.seed;
    const json of_b = parameters_of(*b);
    for (const auto& [name, value] : of_b.items()) parameters["b_" + name] = value;
  }
  return parameters.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace gaussweep::driver
