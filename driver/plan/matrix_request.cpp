#include "driver/plan/matrix_request.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "driver/plan/blur_request.hpp"
#include "driver/plan/plan_words.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {
namespace {

using io::fail_at;
using io::Scalar;

/// Returns the keys of a kind in addition to kind, seed and store.
const std::vector<std::string>& keys_of(MatrixKind kind) {
  static const std::map<MatrixKind, std::vector<std::string>> table = {
      {MatrixKind::uniform, {"low", "high"}},   {MatrixKind::symmetric, {"low", "high"}},
      {MatrixKind::spd, {"condition", "mode"}}, {MatrixKind::condition, {"condition", "mode"}},
      {MatrixKind::kernel, {"s", "lambda"}},    {MatrixKind::ones, {"value"}},
      {MatrixKind::blur, blur_words()},
  };
  static const std::vector<std::string> none;
  const auto found = table.find(kind);
  return found == table.end() ? none : found->second;
}

void check_keys(const io::MatrixBlock& block, const std::string& of, std::vector<std::string> allowed) {
  for (const auto& [name, value] : block.values) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    fail_at(value.location, fmt::format("a matrix of {} has no '{}'; {}allowed: {}", of, name,
                                        io::nearest_hint(name, allowed), fmt::join(allowed, ", ")));
  }
}

MatrixRequest request_file(const io::MatrixBlock& block, const FileLookup& lookup) {
  check_keys(block, "a file", {"file", "dataset", "store", "kind"});
  const Scalar& file = block.values.at("file");
  MatrixRequest request;
  request.kind = "file";
  const auto dataset = block.values.find("dataset");
  if (dataset != block.values.end()) request.dataset = dataset->second.text;
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

MatrixRequest request_generated(const io::MatrixBlock& block, const FileLookup& lookup) {
  const auto kind_given = block.values.find("kind");
  if (kind_given == block.values.end()) {
    fail_at(block.location,
            fmt::format("a matrix needs a kind ({}) or a file", fmt::join(enum_names<MatrixKind>(), ", ")));
  }
  const std::string& name = kind_given->second.text;
  if (name == "file")
    fail_at(kind_given->second.location, "a matrix of kind file needs the file: {file: a.mtx}");
  const auto kind = from_string<MatrixKind>(name);
  if (!kind) {
    fail_at(kind_given->second.location, fmt::format("'{}' is no matrix kind; {}allowed: {}", name,
                                                     io::nearest_hint(name, enum_names<MatrixKind>()),
                                                     fmt::join(enum_names<MatrixKind>(), ", ")));
  }
  std::vector<std::string> allowed = {"kind", "seed", "store"};
  allowed.insert(allowed.end(), keys_of(*kind).begin(), keys_of(*kind).end());
  check_keys(block, "kind " + name, allowed);
  MatrixRequest request;
  request.kind = name;
  MatrixSpec& spec = request.spec;
  spec.kind = *kind;
  const auto real = [&](const char* key, double low, double high, double& field) {
    const auto given = block.values.find(key);
    if (given != block.values.end()) field = io::parse_real(given->second, low, high, key);
  };
  // These are the generator's limits: within them nothing overflows or underflows in float.
  real("low", -1e30, 1e30, spec.low);
  real("high", -1e30, 1e30, spec.high);
  real("condition", 1, 1e300, spec.condition);
  real("value", -1e30, 1e30, spec.value);
  real("s", 0, 1e30, spec.s);
  if (*kind == MatrixKind::kernel) real("lambda", 0, 1e30, spec.lambda);
  spec.dominant = block.values.count("condition") == 0;
  if (*kind == MatrixKind::blur) spec.blur = read_blur(block, lookup);
  const auto mode = block.values.find("mode");
  if (mode != block.values.end() && *kind == MatrixKind::spd && spec.dominant)
    fail_at(mode->second.location, "mode is for an spd matrix of a chosen condition; give condition as well");
  if (mode != block.values.end()) spec.mode = static_cast<int>(io::parse_integer(mode->second, 1, 5, "mode"));
  if (!(spec.low < spec.high))
    fail_at(block.location, fmt::format("low ({}) must be below high ({})", spec.low, spec.high));
  if (std::max(std::abs(spec.low), std::abs(spec.high)) < 1e-20) {
    fail_at(block.location,
            fmt::format("low ({}) and high ({}): one of them must be at least 1e-20 in magnitude", spec.low,
                        spec.high));
  }
  return request;
}

}  // namespace

MatrixRequest request_matrix(const io::MatrixBlock& block, const FileLookup& lookup) {
  const auto kind_given = block.values.find("kind");
  const bool from_file = block.values.count("file") > 0;
  if (from_file && kind_given != block.values.end() && kind_given->second.text != "file") {
    fail_at(kind_given->second.location, "a matrix has either a kind or a file, not both");
  }
  MatrixRequest request = from_file ? request_file(block, lookup) : request_generated(block, lookup);
  const auto seed = block.values.find("seed");
  if (seed != block.values.end())
    request.spec.seed = static_cast<std::uint64_t>(io::parse_integer(seed->second, 0, INT64_MAX, "seed"));
  const auto store = block.values.find("store");  // already checked: always or never
  request.store = store == block.values.end() || store->second.text == "always";
  return request;
}

std::uint64_t next_seed(std::uint64_t seed) {
  return seed == INT64_MAX ? 0 : seed + 1;
}

bool may_be_rectangular(MatrixKind kind) {
  return kind == MatrixKind::uniform || kind == MatrixKind::ones || kind == MatrixKind::hilbert ||
         kind == MatrixKind::cauchy || kind == MatrixKind::blur;
}

void settle_size(MatrixRequest& request, const io::Location& location) {
  MatrixSpec& spec = request.spec;
  if (request.kind == "file") return;
  if (spec.kind == MatrixKind::blur) settle_image(spec.blur, spec.rows, spec.cols, location);
  if (spec.has_condition() && spec.rows == 1 && spec.condition != 1) {
    fail_at(location,
            fmt::format("a 1 x 1 matrix has condition 1, not {}; allowed: n of at least 2, or condition: 1",
                        spec.condition));
  }
}

void finish_request(MatrixRequest& request, Precision precision, std::int64_t nrhs) {
  const std::string text =
      request.kind == "file"
          ? fmt::format("file {} {} {} nrhs={}", request.file_sha256, request.dataset, to_string(precision),
                        nrhs)
          // The seed determines x_true and b even if A does not depend on it.
          : fmt::format("{} nrhs={} seed={}", request.spec.canonical(precision), nrhs, request.spec.seed);
  request.digest = io::sha256(text);
}

}  // namespace gaussweep::driver
