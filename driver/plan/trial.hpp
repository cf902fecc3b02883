#pragma once
/// A trial: one method with one set of parameters, applied to one matrix in one precision on one backend
/// (CUDA, emulated CUDA, or CPU).

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "driver/plan/matrix_request.hpp"
#include "io/plan/settings.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

using io::Sampling;
using io::Stages;

/// A trial's inputs, settings and expected statuses.
struct Trial : io::TrialSettings {
  std::string key;  ///< the result of trial_key()
  Problem problem;
  std::string method;          ///< its variant: "lapack"
  std::string library_digest;  ///< of the method's shared library; empty: a built-in method
  Precision precision = Precision::float64;
  /// The backend that this trial runs on (see resolve_backend in expand.hpp).
  Backend backend = Backend::host;
  Shape shape;
  Parameters parameters;  ///< the method's parameters, with defaults for those that the plan does not set
  MatrixRequest matrix;
  std::optional<MatrixRequest> matrix_b;  ///< gemm only
  /// Expected statuses; empty: only "pass". "skipped" is always expected.
  std::vector<std::string> expect;
  /// If not empty, the trial is recorded as `skipped` with this reason and never sent to a worker.
  std::string skip_reason;
};

/// Calls `function` with each matrix of a trial that is stored in the run directory. If A and B are the same,
/// calls it once.
template <class AnyTrial, class Function>
void for_each_stored_matrix(AnyTrial& trial, Function&& function) {
  if (trial.matrix.store) function(trial.matrix);
  if (trial.matrix_b && trial.matrix_b->store && trial.matrix_b->digest != trial.matrix.digest)
    function(*trial.matrix_b);
}

/// Converts a trial to JSON and back, to send it to a worker. @throws nlohmann::json::exception,
/// std::runtime_error if the JSON is not a trial
void to_json(nlohmann::json& json, const Trial& trial);
void from_json(const nlohmann::json& json, Trial& trial);

/// Returns a digest (32 hex digits) of everything that determines the outcome, except the machine and the
/// build: problem, method, the digest of the method's library, precision, backend, shape, parameters with
/// defaults, matrices, and the settings that are `in_key` (io/plan/settings.hpp).
std::string trial_key(const Trial& trial);

/// Returns the default parameters from the method's row.
Parameters defaults_of(const Method& method);
/// Returns the parameters as a JSON object with sorted names, as text: the record's `parameters`.
std::string parameters_text(const Parameters& parameters);
/// Returns true if the status is one that the trial expects.
bool as_expected(const Trial& trial, const std::string& status);
/// Returns a trial's name for messages: "gesv/gauss_block double n=512 blocks=1 …".
std::string describe(const Trial& trial);

/// Returns the floating-point operations of one run, from the method's row in the registry or else the
/// problem's usual count.
double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters);
/// Returns the minimum memory traffic of one run in bytes, from the method's row or else the problem's count.
double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision);
/// Returns an upper estimate of the bytes of the file for a trial's matrix in the run directory. The file
/// includes b and x_true if the matrix is square (driver/worker/inputs.cpp).
double stored_bytes(const MatrixRequest& request, const Trial& trial);

/// Returns a text that is equal for trials with equal inputs: matrices, precision, shape, and the triangle if
/// the problem reads one.
std::string inputs_identity(const Trial& trial);

/// Returns a text that is equal for trials that are compared with the same run of a vendor's method: inputs,
/// vendor method, triangle, and the settings under which times are not comparable (such as `cache`, see
/// separates_tasks in io/plan/settings.hpp).
std::string comparison_identity(const Trial& trial, const Method& vendor);

}  // namespace gaussweep::driver
