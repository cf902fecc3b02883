/// Builds the texts that identify a task (a problem on a matrix, on which methods are compared) and a trial.

#include "driver/results/identity.hpp"

#include <fmt/format.h>

#include "driver/plan/plan_names.hpp"
#include "io/plan/settings.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

/// Returns a text that identifies the matrices. A's digest also covers the solution x_true and the right-hand
/// sides b. The record has no digest of gemm's B, so B's parameters are used.
std::string matrices(const Record& r) {
  const bool has_b = has_axis(r.problem, "k") && r.matrix_parameters.find("\"b\":") != std::string::npos;
  if (r.matrix_digest.empty())
    return fmt::format("{} {} {} {}", r.matrix_kind, matrix_label(r), r.matrix_parameters, r.matrix_seed);
  return fmt::format("{} {} {}", r.matrix_digest, r.matrix_seed, has_b ? r.matrix_parameters : "");
}

}  // namespace

std::string task_conditions(const Record& r) {
  std::string text;
  for (const io::Setting& setting : io::conditions()) {
    if (setting.condition->separates_tasks) text += " " + io::condition_of(r, *setting.condition);
  }
  return text;
}

std::string task_identity(const Record& r) {
  return fmt::format("{} {} {} {} {} {} {} {} {}{}", r.problem, r.precision, r.m, r.n, r.k, r.nrhs, r.batch,
                     r.uplo, matrices(r), task_conditions(r));
}

std::string trial_identity(const Record& r) {
  return fmt::format("{}\n{} {} {}", task_identity(r), r.method, r.backend, r.parameters);
}

const io::Text& matrix_label(const Record& record) {
  return record.matrix.empty() ? record.matrix_kind : record.matrix;
}

}  // namespace gaussweep::driver
