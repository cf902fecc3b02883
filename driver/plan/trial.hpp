#pragma once
/// A trial: one method, one matrix, one precision, one set of parameters, one backend.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kernels/core/method.hpp"
#include "kernels/matrix/generate.hpp"

namespace gaussweep::driver {

/// A matrix as a plan asks for it: generated (`spec`), or read from a file.
struct MatrixRequest {
  std::string kind;         ///< a MatrixKind's name, or "file": the record's matrix_kind
  MatrixSpec spec;          ///< kind != "file"
  std::string file;         ///< kind == "file": its absolute path
  std::string dataset;      ///< kind == "file": the dataset in it; empty: the default one
  std::string file_sha256;  ///< kind == "file": of the file's bytes, so that the key changes with its content
  bool store = true;        ///< false: never written to DIR/matrices
  /// SHA-256 (64 hex digits) of everything that decides A, b and x_true: kind and its numbers (or the file's
  /// digest and dataset), precision, sizes, nrhs, seed. The name of the file in DIR/matrices.
  std::string digest;
};

/// What a row of a record's stages is.
enum class Stages {
  never,   ///< there are none: no run is spent on measuring them
  always,  ///< all calls of a stage
  calls    ///< one call of a stage, in the order of the run
};

/// How a trial's samples are taken.
struct Sampling {
  std::int64_t least = 5, most = 5;  ///< samples
  double noise = 0;  ///< enough where the median is known to this share (worker/sampling.hpp); 0: `least` are
  double seconds = 0;            ///< no further samples after so long; 0: no limit
  bool throttled_again = false;  ///< a sample taken under throttling does not count
  std::int64_t warmup = 1;       ///< runs before
  double warmup_seconds = 0;     ///< or, where above 0, for so long
  bool cold = false;             ///< caches emptied before every sample
};

/// What is run, and by what its record is judged.
struct Trial {
  /// Digest (32 hex digits) of everything that decides the outcome except machine and build: problem, method,
  /// precision, backend, shape, complete parameters, matrices, sampling, inner_repeats, host memory, energy,
  /// round. Not: tolerance, expect, timeout, stages.
  std::string key;
  Problem problem;
  std::string method;  ///< the variant
  Precision precision = Precision::float64;
  Backend backend = Backend::host;  ///< where this trial runs (see resolve_backend in expand.hpp)
  Shape shape;
  Parameters parameters;  ///< complete
  MatrixRequest matrix;
  std::optional<MatrixRequest> matrix_b;  ///< gemm only
  Sampling sampling;
  std::int64_t inner_repeats = 1;
  /// Operands and answer lie in pinned host memory, in the method's layout, before they are copied by the
  /// clock.
  bool pinned = false;
  double energy_seconds = 0;  ///< for how long energy is measured; 0: it is not
  /// From 1. Trials that differ in nothing else are the same one again, in a worker process of its own.
  std::int64_t round = 1;
  Stages stages = Stages::always;
  double timeout_seconds = 600;
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
nlohmann::json to_json(const Trial& trial);
Trial trial_from_json(const nlohmann::json& json);

/// What the method's row says of each of its parameters where a plan says nothing.
Parameters defaults_of(const Method& method);
/// Parameters as a JSON object with sorted names, as text: the record's `parameters`.
std::string parameters_text(const Parameters& parameters);
/// "pinned" or "pageable".
std::string host_memory_word(bool pinned);
/// Whether a status is no failure of the sweep.
bool as_expected(const Trial& trial, const std::string& status);
/// "gesv/gauss_block double n=512 blocks=1 …": how messages name a trial.
std::string describe(const Trial& trial);

}  // namespace gaussweep::driver

namespace gaussweep {

template <>
struct EnumNames<driver::Stages> {
  static constexpr std::string_view what = "way to measure stages";
  static constexpr std::array<std::pair<driver::Stages, std::string_view>, 3> table{
      {{driver::Stages::never, "never"},
       {driver::Stages::always, "always"},
       {driver::Stages::calls, "calls"}}};
};

}  // namespace gaussweep
