/// Makes the record of a trial (one method on one matrix) before the trial runs, with the columns that are
/// known then. Sets the start times of the trial's phases.

#include "driver/protocol/trial_record.hpp"

#include <cmath>
#include <filesystem>

#include "driver/plan/matrix_request.hpp"
#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {

io::Record blank_record(const Trial& trial, const Method* method, const Origin& origin) {
  io::Record r;
  r.key = trial.key;
  r.run_id = origin.run_id;
  r.problem = to_string(trial.problem);
  r.method = trial.method;
  r.backend = to_string(trial.backend);
  r.precision = to_string(trial.precision);
  r.m = trial.shape.m;
  r.n = trial.shape.n;
  r.k = trial.shape.k;
  r.nrhs = trial.shape.nrhs;
  r.batch = trial.shape.batch;
  r.uplo = to_string(trial.shape.uplo);
  r.parameters = parameters_text(trial.parameters);
  r.matrix = matrix_label(trial.matrix);
  r.matrix_parameters = matrix_parameters_text(trial.matrix, trial.matrix_b);
  r.matrix_kind = trial.matrix.kind;
  r.matrix_digest = trial.matrix.digest;
  r.matrix_seed = static_cast<std::int64_t>(trial.matrix.spec.seed);
  for (const io::Setting& setting : io::all_settings()) {
    if (setting.record != nullptr) setting.record(trial, r);
  }
  // Records are comparable only if their conditions (settings such as warm or cold caches) are equal.
  for (const io::Setting& setting : io::conditions())
    r.*setting.condition->column = setting.condition->word(trial);
  r.problem_title = trial.problem->title;
  r.problem_flops = problem_flops(trial.problem, trial.shape);
  r.problem_bytes = problem_bytes(trial.problem, trial.shape, element_bytes(trial.precision));
  if (method != nullptr) {
    r.library = std::filesystem::path(method->library).filename().string();
    r.library_digest = method->library_digest;
    r.flops = trial_flops(*method, trial.shape, trial.parameters);
    r.bytes = trial_bytes(*method, trial.shape, trial.parameters, trial.precision);
  }
  r.host = origin.host;
  set_job_columns(r, origin.job);
  r.commit = origin.commit;
  r.rank = origin.rank;
  r.start_time = time_stamp();
  return r;
}

const std::vector<Phase>& phases() {
  using R = io::Record;
  // Each row: name, step, start time, busy.
  static const std::vector<Phase> table = {{"wait", "wait", &R::wait_began, false},
                                           {"prepare", "start", &R::prepare_began, false},
                                           {"store", "store", &R::store_began, false},
                                           {"inputs", "inputs", &R::inputs_began, false},
                                           {"allocate", "allocate", &R::allocate_began, false},
                                           {"upload", "upload", &R::upload_began, false},
                                           {"warm-up", "warm-up", &R::warmup_began, true},
                                           {"timed", "samples", &R::timed_began, true},
                                           {"download", "download", &R::download_began, false},
                                           {"verify", "verify", &R::verify_began, true},
                                           {"stages", "stages", &R::stages_began, true},
                                           {"reference", "reference", &R::reference_began, true},
                                           {"compare", "compare", &R::compare_began, false}};
  return table;
}

void begin_phase(io::Record& record, std::string_view step, double now) {
  for (const Phase& phase : phases()) {
    if (phase.step == step && std::isnan(record.*phase.began)) record.*phase.began = now;
  }
}

}  // namespace gaussweep::driver
