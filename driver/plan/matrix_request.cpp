/// Reads a plan's `matrix:` block, and computes the matrix's digest and parameters.

#include "driver/plan/matrix_request.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

#include "driver/base/lookup.hpp"
#include "driver/plan/blur_request.hpp"
#include "driver/plan/plan_names.hpp"
#include "io/matrix/matrix_file.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {
namespace {

using io::fail_at;
using io::Scalar;

/// Throws if the block has a key that is not allowed. @param matrix a description for the error
void check_keys(const io::MatrixBlock& block, const std::string& matrix, std::vector<std::string> allowed) {
  for (const auto& [name, value] : block.values) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    fail_at(value.location, fmt::format("a matrix of {} has no '{}'; {}allowed: {}", matrix, name,
                                        io::nearest_hint(name, allowed), fmt::join(allowed, ", ")));
  }
}

/// Reads a block with the key `file`.
MatrixRequest request_file(const io::MatrixBlock& block, const FileLookup& lookup) {
  check_keys(block, "a file", {"file", "dataset", "store", "kind"});
  const Scalar& file = block.values.at("file");
  MatrixRequest request;
  request.kind = "file";
  if (const Scalar* dataset = find_in(block.values, "dataset")) request.dataset = dataset->text;
  FileFacts facts;
  try {
    facts = lookup(file.text, request.dataset);
  } catch (const io::InputError& e) {
    fail_at(file.location, e.what());
  }
  request.file = facts.path;
  request.file_sha256 = facts.sha256;
  request.spec.rows = facts.rows;
  request.spec.cols = facts.cols;
  return request;
}

/// Reads a block of a generated matrix.
MatrixRequest request_generated(const io::MatrixBlock& block, const FileLookup& lookup) {
  const Scalar* written_kind = find_in(block.values, "kind");
  if (written_kind == nullptr) {
    fail_at(block.location,
            fmt::format("a matrix needs a kind ({}) or a file", joined(enum_names<MatrixKind>())));
  }
  const std::string& name = written_kind->text;
  if (name == "file") fail_at(written_kind->location, "a matrix of kind file needs the file: {file: a.mtx}");
  const auto kind = from_string<MatrixKind>(name);
  if (!kind) {
    fail_at(written_kind->location,
            fmt::format("'{}' is no matrix kind; {}allowed: {}", name,
                        io::nearest_hint(name, enum_names<MatrixKind>()), joined(enum_names<MatrixKind>())));
  }
  std::vector<std::string> allowed = {"kind", "seed", "store"};
  allowed.insert(allowed.end(), matrix_keys(*kind).begin(), matrix_keys(*kind).end());
  check_keys(block, "kind " + name, allowed);
  MatrixRequest request;
  request.kind = name;
  MatrixSpec& spec = request.spec;
  spec.kind = *kind;
  const auto real = [&](const char* key, double low, double high, double& field) {
    if (const Scalar* value = find_in(block.values, key)) field = io::parse_real(*value, low, high, key);
  };
  // The generator has these limits, within which nothing overflows or underflows in float.
  real("low", -1e30, 1e30, spec.low);
  real("high", -1e30, 1e30, spec.high);
  real("condition", 1, 1e300, spec.condition);
  real("value", -1e30, 1e30, spec.value);
  real("s", 0, 1e30, spec.s);
  if (*kind == MatrixKind::kernel) real("lambda", 0, 1e30, spec.lambda);
  spec.dominant = block.values.count("condition") == 0;
  if (*kind == MatrixKind::blur) spec.blur = read_blur(block, lookup);
  if (const Scalar* mode = find_in(block.values, "mode")) {
    if (*kind == MatrixKind::spd && spec.dominant)
      fail_at(mode->location, "mode is for an spd matrix of a chosen condition; give condition as well");
    spec.mode = static_cast<int>(io::parse_integer(*mode, 1, 5, "mode"));
  }
  if (!(spec.low < spec.high))
    fail_at(block.location, fmt::format("low ({}) must be below high ({})", spec.low, spec.high));
  if (std::max(std::abs(spec.low), std::abs(spec.high)) < 1e-20) {
    fail_at(block.location,
            fmt::format("low ({}) and high ({}): one of them must be at least 1e-20 in magnitude", spec.low,
                        spec.high));
  }
  // Only values beyond the limits of double precision are errors. If a value exceeds only the narrower limits
  // of single precision, the trials in single precision are skipped.
  const std::string fault = precision_fault(spec, Precision::float64);
  if (!fault.empty()) {
    const Scalar* condition = find_in(block.values, "condition");
    fail_at(condition == nullptr ? block.location : condition->location, fault);
  }
  return request;
}

}  // namespace

const std::vector<std::string>& matrix_keys(MatrixKind kind) {
  static const std::map<MatrixKind, std::vector<std::string>> table = {
      {MatrixKind::uniform, {"low", "high"}},   {MatrixKind::symmetric, {"low", "high"}},
      {MatrixKind::spd, {"condition", "mode"}}, {MatrixKind::condition, {"condition", "mode"}},
      {MatrixKind::kernel, {"s", "lambda"}},    {MatrixKind::ones, {"value"}},
      {MatrixKind::blur, blur_keys()},
  };
  static const std::vector<std::string> none;
  const std::vector<std::string>* keys = find_in(table, kind);
  return keys == nullptr ? none : *keys;
}

MatrixRequest request_matrix(const io::MatrixBlock& block, const FileLookup& lookup) {
  const Scalar* kind = find_in(block.values, "kind");
  const bool from_file = block.values.count("file") > 0;
  if (from_file && kind != nullptr && kind->text != "file")
    fail_at(kind->location, "a matrix has either a kind or a file, not both");
  MatrixRequest request = from_file ? request_file(block, lookup) : request_generated(block, lookup);
  if (const Scalar* seed = find_in(block.values, "seed"))
    request.spec.seed = static_cast<std::uint64_t>(io::parse_integer(*seed, 0, INT64_MAX, "seed"));
  const Scalar* store = find_in(block.values, "store");  // already checked: always or never
  request.store = store == nullptr || store->text == "always";
  return request;
}

std::uint64_t next_seed(std::uint64_t seed) {
  return seed == INT64_MAX ? 0 : seed + 1;
}

bool may_be_rectangular(MatrixKind kind) {
  return kind == MatrixKind::uniform || kind == MatrixKind::ones || kind == MatrixKind::hilbert ||
         kind == MatrixKind::cauchy || kind == MatrixKind::blur;
}

void complete_size(MatrixRequest& request, const io::Location& location) {
  MatrixSpec& spec = request.spec;
  if (request.kind == "file") return;
  if (spec.kind == MatrixKind::blur) complete_image_sizes(spec.blur, spec.rows, spec.cols, location);
  if (spec.has_condition() && spec.rows == 1 && spec.condition != 1) {
    fail_at(location,
            fmt::format("a 1 x 1 matrix has condition 1, not {}; allowed: n of at least 2, or condition: 1",
                        spec.condition));
  }
}

void set_digest(MatrixRequest& request, Precision precision, std::int64_t nrhs) {
  const std::string text =
      request.kind == "file"
          ? fmt::format("file {} {} {} nrhs={}", request.file_sha256, request.dataset, to_string(precision),
                        nrhs)
          // The seed determines x_true and b even if A does not depend on it.
          : fmt::format("{} nrhs={} seed={}", request.spec.canonical(precision), nrhs, request.spec.seed);
  request.digest = io::sha256(text);
}

namespace {

using nlohmann::json;

constexpr std::size_t digest_digits = 12;  // enough to distinguish files of the same name

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
      parameters["weights"] = io::sha256(all.dump()).substr(0, digest_digits);
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
    json parameters = {{"sha256", matrix.file_sha256.substr(0, digest_digits)}};
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
bool is_default_b(const MatrixRequest& a, const MatrixRequest& b) {
  return b.kind != "file" && a.kind == b.kind && b.spec.seed == next_seed(a.spec.seed) &&
         parameters_of(a) == parameters_of(b);
}

}  // namespace

std::string matrix_label(const MatrixRequest& matrix) {
  return matrix.kind == "file" ? std::filesystem::path(matrix.file).filename().string() : matrix.kind;
}

std::string matrix_parameters_text(const MatrixRequest& a, const std::optional<MatrixRequest>& b) {
  json parameters = parameters_of(a);
  if (b && !is_default_b(a, *b)) {
    parameters["b"] = matrix_label(*b);
    if (b->kind != "file") parameters["b_seed"] = b->spec.seed;
    const json b_parameters = parameters_of(*b);
    for (const auto& [name, value] : b_parameters.items()) parameters["b_" + name] = value;
  }
  return parameters.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

}  // namespace gaussweep::driver
