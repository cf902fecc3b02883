#pragma once
/// A trial: one method, one matrix, one precision, one set of parameters, one backend.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "driver/plan/matrix_request.hpp"
#include "io/plan/settings.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

using io::Sampling;
using io::Stages;

/// What is run, and by what its record is judged.
struct Trial : io::TrialSettings {
  std::string key;  ///< see trial_key
  Problem problem;
  std::string method;  ///< the variant
  Precision precision = Precision::float64;
  Backend backend = Backend::host;  ///< where this trial runs (see resolve_backend in expand.hpp)
  Shape shape;
  Parameters parameters;  ///< complete
  MatrixRequest matrix;
  std::optional<MatrixRequest> matrix_b;  ///< gemm only
  /// From 1. Trials that differ in nothing else are the same one again, in a worker process of its own.
  std::int64_t round = 1;
  double tolerance = 0;
  /// Statuses that are no failure of the sweep; empty: only "pass". "skipped" never counts against it.
  std::vector<std::string> expect;
  /// Not empty: the trial is recorded as `skipped` with this reason and never sent to a worker.
  std::string skip_reason;
};

/// Calls `function` with each matrix of a trial that is to be stored: once where A and B are one file.
template <class AnyTrial, class Function>
void for_stored(AnyTrial& trial, Function&& function) {
  if (trial.matrix.store) function(trial.matrix);
  if (trial.matrix_b && trial.matrix_b->store && trial.matrix_b->digest != trial.matrix.digest)
    function(*trial.matrix_b);
}

/// A trial for the way to the worker. @throws nlohmann::json::exception, std::runtime_error: no such trial
void to_json(nlohmann::json& json, const Trial& trial);
void from_json(const nlohmann::json& json, Trial& trial);

/// Digest (32 hex digits) of everything that decides the outcome except machine and build. That is problem,
/// method, precision, backend, shape, complete parameters, matrices, round, and the settings that say so
/// (io/plan/settings.hpp).
std::string trial_key(const Trial& trial);

/// What the method's row says of each of its parameters where a plan says nothing.
Parameters defaults_of(const Method& method);
/// Parameters as a JSON object with sorted names, as text: the record's `parameters`.
std::string parameters_text(const Parameters& parameters);
/// Whether a status is no failure of the sweep.
bool as_expected(const Trial& trial, const std::string& status);
/// "gesv/gauss_block double n=512 blocks=1 …": how messages name a trial.
std::string describe(const Trial& trial);

}  // namespace gaussweep::driver

namespace gaussweep {

template <>
struct EnumNames<io::Stages> {
  static constexpr std::string_view what = "way to measure stages";
  static constexpr auto& table = io::stages_words;
};

}  // namespace gaussweep
