#include "driver/plan/trial.hpp"

#include <fmt/format.h>

#include "driver/base/words.hpp"
#include "driver/plan/enum_json.hpp"
#include "driver/plan/matrix_words.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using nlohmann::json;

json parameters_json(const Parameters& parameters) {
  json result = json::object();
  for (const auto& [name, value] : parameters.all()) {
    std::visit([&, &key = name](const auto& v) { result[key] = v; }, value);
  }
  return result;
}

Parameters parameters_from(const json& object) {
  Parameters result;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number_integer()) {
      result.set(name, value.get<std::int64_t>());
    } else if (value.is_number()) {
      result.set(name, value.get<double>());
    } else {
      result.set(name, value.get<std::string>());
    }
  }
  return result;
}

json blur_json(const BlurSpec& b) {
  return {{"psf", to_string(b.psf)},
          {"sigma", b.sigma},
          {"radius", b.radius},
          {"length", b.length},
          {"angle", b.angle},
          {"amount", b.amount},
          {"weights", {{"rows", b.weights.rows}, {"cols", b.weights.cols}, {"data", b.weights.data}}},
          {"width", b.width},
          {"height", b.height},
          {"seen_width", b.seen_width},
          {"seen_height", b.seen_height},
          {"what", to_string(b.what)},
          {"lambda", b.lambda}};
}

BlurSpec blur_from(const json& j) {
  BlurSpec b;
  b.psf = value_of<PointSpread>(j.at("psf"));
  b.sigma = j.at("sigma");
  b.radius = j.at("radius");
  b.length = j.at("length");
  b.angle = j.at("angle");
  b.amount = j.at("amount");
  const json& weights = j.at("weights");
  b.weights.rows = weights.at("rows");
  b.weights.cols = weights.at("cols");
  b.weights.data = weights.at("data").get<std::vector<double>>();
  b.width = j.at("width");
  b.height = j.at("height");
  b.seen_width = j.at("seen_width");
  b.seen_height = j.at("seen_height");
  b.what = value_of<BlurMatrix>(j.at("what"));
  b.lambda = j.at("lambda");
  return b;
}

json matrix_json(const MatrixRequest& m) {
  return {{"kind", m.kind},
          {"spec",
           {{"kind", to_string(m.spec.kind)},
            {"rows", m.spec.rows},
            {"cols", m.spec.cols},
            {"seed", m.spec.seed},
            {"low", m.spec.low},
            {"high", m.spec.high},
            {"condition", m.spec.condition},
            {"mode", m.spec.mode},
            {"value", m.spec.value},
            {"uplo", to_string(m.spec.uplo)},
            {"blur", m.spec.kind == MatrixKind::blur ? blur_json(m.spec.blur) : json()}}},
          {"file", m.file},
          {"dataset", m.dataset},
          {"file_sha256", m.file_sha256},
          {"store", m.store},
          {"digest", m.digest}};
}

MatrixRequest matrix_from(const json& j) {
  MatrixRequest m;
  m.kind = j.at("kind");
  const json& s = j.at("spec");
  m.spec.kind = value_of<MatrixKind>(s.at("kind"));
  m.spec.rows = s.at("rows");
  m.spec.cols = s.at("cols");
  m.spec.seed = s.at("seed");
  m.spec.low = s.at("low");
  m.spec.high = s.at("high");
  m.spec.condition = s.at("condition");
  m.spec.mode = s.at("mode");
  m.spec.value = s.at("value");
  m.spec.uplo = value_of<Uplo>(s.at("uplo"));
  if (m.spec.kind == MatrixKind::blur) m.spec.blur = blur_from(s.at("blur"));
  m.file = j.at("file");
  m.dataset = j.at("dataset");
  m.file_sha256 = j.at("file_sha256");
  m.store = j.at("store");
  m.digest = j.at("digest");
  return m;
}

}  // namespace

json to_json(const Trial& t) {
  json j = {{"key", t.key},
            {"problem", to_string(t.problem)},
            {"method", t.method},
            {"precision", to_string(t.precision)},
            {"backend", to_string(t.backend)},
            {"shape",
             {{"m", t.shape.m},
              {"n", t.shape.n},
              {"k", t.shape.k},
              {"nrhs", t.shape.nrhs},
              {"uplo", to_string(t.shape.uplo)}}},
            {"parameters", parameters_json(t.parameters)},
            {"matrix", matrix_json(t.matrix)},
            {"repeats", t.sampling.least},
            {"warmup", t.sampling.warmup},
            {"inner_repeats", t.inner_repeats},
            {"stages", to_string(t.stages)},
            {"timeout_seconds", t.timeout_seconds},
            {"tolerance", t.tolerance},
            {"expect", t.expect},
            {"skip_reason", t.skip_reason}};
  if (t.matrix_b) j["matrix_b"] = matrix_json(*t.matrix_b);
  // Only where a plan asks for it: keys of older journals hold.
  const Sampling& s = t.sampling;
  if (s.most != s.least) j["most_repeats"] = s.most;
  if (s.noise > 0) j["noise"] = s.noise;
  if (s.seconds > 0) j["sampling_seconds"] = s.seconds;
  if (s.throttled_again) j["throttled_again"] = true;
  if (s.warmup_seconds > 0) j["warmup_seconds"] = s.warmup_seconds;
  if (s.cold) j["cold"] = true;
  if (t.pinned) j["pinned"] = true;
  if (t.energy_seconds > 0) j["energy_seconds"] = t.energy_seconds;
  if (t.round > 1) j["round"] = t.round;
  return j;
}

Trial trial_from_json(const json& j) {
  Trial t;
  t.key = j.at("key");
  t.problem = value_of<Problem>(j.at("problem"));
  t.method = j.at("method");
  t.precision = value_of<Precision>(j.at("precision"));
  t.backend = value_of<Backend>(j.at("backend"));
  const json& s = j.at("shape");
  t.shape = {s.at("m"), s.at("n"), s.at("k"), s.at("nrhs"), value_of<Uplo>(s.at("uplo"))};
  t.parameters = parameters_from(j.at("parameters"));
  t.matrix = matrix_from(j.at("matrix"));
  if (j.contains("matrix_b")) t.matrix_b = matrix_from(j.at("matrix_b"));
  Sampling& sampling = t.sampling;
  sampling.least = j.at("repeats");
  sampling.most = j.value("most_repeats", sampling.least);
  sampling.noise = j.value("noise", 0.0);
  sampling.seconds = j.value("sampling_seconds", 0.0);
  sampling.throttled_again = j.value("throttled_again", false);
  sampling.warmup = j.at("warmup");
  sampling.warmup_seconds = j.value("warmup_seconds", 0.0);
  sampling.cold = j.value("cold", false);
  t.pinned = j.value("pinned", false);
  t.energy_seconds = j.value("energy_seconds", 0.0);
  t.round = j.value("round", std::int64_t{1});
  t.inner_repeats = j.at("inner_repeats");
  t.stages = value_of<Stages>(j.at("stages"));
  t.timeout_seconds = j.at("timeout_seconds");
  t.tolerance = j.at("tolerance");
  t.expect = j.at("expect").get<std::vector<std::string>>();
  t.skip_reason = j.at("skip_reason");
  return t;
}

Parameters defaults_of(const Method& method) {
  Parameters parameters;
  for (const Parameter& parameter : method.parameters) parameters.set(parameter.name, parameter.fallback);
  return parameters;
}

std::string parameters_text(const Parameters& parameters) {
  return parameters_json(parameters).dump();
}

std::string host_memory_word(bool pinned) {
  return pinned ? "pinned" : "pageable";
}

std::string describe(const Trial& t) {
  std::string text =
      fmt::format("{}/{} {} n={}", to_string(t.problem), t.method, to_string(t.precision), t.shape.n);
  if (t.problem->has_axis("m")) text += fmt::format(" m={} k={}", t.shape.m, t.shape.k);
  if (t.shape.uplo != Uplo::lower) text += fmt::format(" uplo={}", to_string(t.shape.uplo));
  if (t.shape.nrhs != 1) text += fmt::format(" nrhs={}", t.shape.nrhs);
  for (const auto& [name, value] : t.parameters.all()) {
    std::visit([&, &key = name](const auto& v) { text += fmt::format(" {}={}", key, v); }, value);
  }
  const std::string matrix = settings_text(matrix_parameters_text(t));
  text += fmt::format(" on {}{}{} seed={} ({})", matrix_label(t.matrix), matrix.empty() ? "" : " ", matrix,
                      t.matrix.spec.seed, to_string(t.backend));
  if (t.sampling.cold) text += " cold";
  if (t.pinned) text += " pinned";
  if (t.round > 1) text += fmt::format(" round={}", t.round);
  return text;
}

bool as_expected(const Trial& trial, const std::string& status) {
  if (status == io::Status::skipped) return true;
  if (trial.expect.empty()) return status == io::Status::pass;
  return std::find(trial.expect.begin(), trial.expect.end(), status) != trial.expect.end();
}

}  // namespace gaussweep::driver
