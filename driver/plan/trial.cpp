/// Converts trials to JSON and to keys, and computes their operation counts.

#include "driver/plan/trial.hpp"

#include <fmt/format.h>

#include "driver/base/json_conversions.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/matrix_request.hpp"
#include "io/matrix/matrix_file.hpp"
#include "io/records/status.hpp"

namespace nlohmann {

template <>
struct adl_serializer<gaussweep::HostMatrix<double>> {
  static void to_json(json& to, const gaussweep::HostMatrix<double>& m) {
    to = {{"rows", m.rows}, {"cols", m.cols}, {"data", m.data}};
  }
  static void from_json(const json& from, gaussweep::HostMatrix<double>& m) {
    m.rows = from.at("rows");
    m.cols = from.at("cols");
    m.data = from.at("data").get<std::vector<double>>();
  }
};

template <>
struct adl_serializer<gaussweep::Parameters> {
  static void to_json(json& to, const gaussweep::Parameters& parameters) {
    to = json::object();
    for (const auto& [name, value] : parameters.all()) {
      std::visit([&, &key = name](const auto& v) { to[key] = v; }, value);
    }
  }
  static void from_json(const json& from, gaussweep::Parameters& parameters) {
    for (const auto& [name, value] : from.items()) {
      if (value.is_number_integer()) {
        parameters.set(name, value.get<std::int64_t>());
      } else if (value.is_number()) {
        parameters.set(name, value.get<double>());
      } else {
        parameters.set(name, value.get<std::string>());
      }
    }
  }
};

}  // namespace nlohmann

namespace gaussweep {

/// Leaves out `batch` for a single system, so that the keys of older runs stay valid.
static void to_json(nlohmann::json& to, const Shape& s) {
  to = {{"m", s.m}, {"n", s.n}, {"k", s.k}, {"nrhs", s.nrhs}, {"uplo", s.uplo}};
  if (s.batch > 1) to["batch"] = s.batch;
}
static void from_json(const nlohmann::json& from, Shape& s) {
  from.at("m").get_to(s.m);
  from.at("n").get_to(s.n);
  from.at("k").get_to(s.k);
  from.at("nrhs").get_to(s.nrhs);
  from.at("uplo").get_to(s.uplo);
  s.batch = from.value("batch", std::int64_t{1});
}
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BlurSpec, psf, sigma, radius, length, angle, amount, weights, width,
                                   height, seen_width, seen_height, what, lambda)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MatrixSpec, kind, rows, cols, seed, low, high, dominant, condition, mode,
                                   s, lambda, value, uplo, blur, batch)

namespace driver {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MatrixRequest, kind, spec, file, dataset, file_sha256, store, digest)
namespace {

/// Returns everything that determines the outcome.
json identity_of(const Trial& t) {
  json identity = {{"problem", t.problem},     {"method", t.method}, {"precision", t.precision},
                   {"backend", t.backend},     {"shape", t.shape},   {"parameters", t.parameters},
                   {"matrix", t.matrix.digest}};  // the digest, because the file's path does not matter
  if (!t.library_digest.empty()) identity["library"] = t.library_digest;
  if (t.matrix_b) identity["matrix_b"] = t.matrix_b->digest;
  for (const io::Setting& setting : io::all_settings()) {
    if (setting.in_key) setting.write(t, identity);
  }
  return identity;
}

}  // namespace

std::string trial_key(const Trial& trial) {
  return io::sha256(identity_of(trial).dump()).substr(0, 32);
}

void to_json(json& to, const Trial& t) {
  to = identity_of(t);
  to["matrix"] = t.matrix;
  if (t.matrix_b) to["matrix_b"] = *t.matrix_b;
  to["key"] = t.key;
  if (t.gpus > 1) to["gpus"] = t.gpus;
  for (const io::Setting& setting : io::all_settings()) {
    if (!setting.in_key) setting.write(t, to);
  }
  to["expect"] = t.expect;
  to["skip_reason"] = t.skip_reason;
}

void from_json(const json& from, Trial& t) {
  from.at("key").get_to(t.key);
  from.at("problem").get_to(t.problem);
  from.at("method").get_to(t.method);
  t.library_digest = from.value("library", "");
  from.at("precision").get_to(t.precision);
  from.at("backend").get_to(t.backend);
  from.at("shape").get_to(t.shape);
  from.at("parameters").get_to(t.parameters);
  from.at("matrix").get_to(t.matrix);
  if (from.contains("matrix_b")) t.matrix_b = from.at("matrix_b").get<MatrixRequest>();
  for (const io::Setting& setting : io::all_settings()) setting.restore(from, t);
  t.gpus = from.value("gpus", std::int64_t{1});
  from.at("expect").get_to(t.expect);
  from.at("skip_reason").get_to(t.skip_reason);
}

Parameters defaults_of(const Method& method) {
  Parameters parameters;
  for (const Parameter& parameter : method.parameters)
    parameters.set(parameter.name, parameter.default_value);
  return parameters;
}

std::string parameters_text(const Parameters& parameters) {
  return json(parameters).dump();
}

std::string describe(const Trial& t) {
  std::string text =
      fmt::format("{}/{} {} n={}", to_string(t.problem), t.method, to_string(t.precision), t.shape.n);
  if (t.problem->has_axis("m")) text += fmt::format(" m={} k={}", t.shape.m, t.shape.k);
  if (t.shape.uplo != Uplo::lower) text += fmt::format(" uplo={}", to_string(t.shape.uplo));
  if (t.shape.nrhs != 1) text += fmt::format(" nrhs={}", t.shape.nrhs);
  if (t.shape.batch != 1) text += fmt::format(" batch={}", t.shape.batch);
  for (const auto& [name, value] : t.parameters.all()) {
    std::visit([&, &key = name](const auto& v) { text += fmt::format(" {}={}", key, v); }, value);
  }
  const std::string matrix = parameters_for_people(matrix_parameters_text(t.matrix, t.matrix_b));
  text += fmt::format(" on {}{}{} seed={} ({})", matrix_label(t.matrix), matrix.empty() ? "" : " ", matrix,
                      t.matrix.spec.seed, to_string(t.backend));
  for (const io::Setting& setting : io::all_settings()) {
    if (!setting.condition) continue;
    const std::string word = setting.condition->word(t);
    if (word != setting.condition->default_name) text += " " + word;
  }
  if (t.round > 1) text += fmt::format(" round={}", t.round);
  return text;
}

bool as_expected(const Trial& trial, const std::string& status) {
  if (status == io::Status::skipped) return true;
  if (trial.expect.empty()) return status == io::Status::pass;
  return std::find(trial.expect.begin(), trial.expect.end(), status) != trial.expect.end();
}

double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters) {
  if (method.flops == nullptr) return problem_flops(method.problem, shape);
  return method.flops(shape, parameters) * static_cast<double>(shape.batch);
}

double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision) {
  const std::size_t element = element_bytes(precision);
  if (method.bytes == nullptr) return problem_bytes(method.problem, shape, element);
  return method.bytes(shape, parameters, element) * static_cast<double>(shape.batch);
}

double stored_bytes(const MatrixRequest& request, const Trial& trial) {
  const std::int64_t rows = request.spec.rows, cols = request.spec.cols, batch = request.spec.batch;
  return static_cast<double>(io::MatrixStore::estimated_bytes(rows, cols, rows == cols ? trial.shape.nrhs : 0,
                                                              element_bytes(trial.precision), batch));
}

std::string inputs_identity(const Trial& t) {
  const bool triangle = t.problem->used_of_a == UsedElements::triangle;
  // Solving and factoring have different inputs with the same matrix, because factoring needs no b and
  // x_true.
  const bool system = t.problem->second == SecondOperand::right_hand_sides;
  return fmt::format("{} {} {} {}x{}x{} {}", t.matrix.digest, t.matrix_b ? t.matrix_b->digest : "",
                     to_string(t.precision), t.shape.m, t.shape.n, t.shape.k, t.shape.nrhs) +
         (triangle ? fmt::format(" {}", to_string(t.shape.uplo)) : "") + (system ? " system" : "") +
         (t.problem->second == SecondOperand::matrix ? " product" : "");
}

std::string comparison_identity(const Trial& t, const Method& vendor) {
  std::string text = fmt::format("{} {} {}", inputs_identity(t), vendor.id(), to_string(t.shape.uplo));
  for (const io::Setting& setting : io::conditions()) {
    if (setting.condition->separates_tasks) text += fmt::format(" {}", setting.condition->word(t));
  }
  return text;
}

}  // namespace driver

}  // namespace gaussweep
