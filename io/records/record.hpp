#pragma once
/// A record: everything known of a finished trial. One table of fields serves the journal (JSON), the
/// compound table `/records` of results.h5, and the summary's columns.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "io/files/text.hpp"

namespace gaussweep::io {

/// One timed run of a trial.
struct Sample {
  double seconds = 0;
  double clock_mhz = std::numeric_limits<double>::quiet_NaN();
  bool throttled = false;
  double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN();
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
};

/// One stage of a method, from the separate stage pass. `share` is of the pass's total.
struct Stage {
  Text kernel;
  std::int64_t calls = 0;
  double seconds = 0;
  double mean = 0;
  double occupancy = std::numeric_limits<double>::quiet_NaN();
  double share = 0;
};

/// The columns of `/records` in the order of the contract (io/SCHEMA.md), then what belongs to the record
/// but lives in tables of its own.
struct Record {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  Text key, run_id, problem, method, backend, precision;
  std::int64_t m = 0, n = 0, k = 0, nrhs = 0, batch = 1;
  Text uplo, parameters = "{}", matrix, matrix_parameters = "{}", matrix_kind, matrix_digest;
  std::int64_t matrix_seed = 0;
  Text status;
  std::int64_t expected = -1;  ///< 1: the plan expected this status, 0: it did not, -1: unknown
  Text message;
  std::int64_t info = 0;
  /// Of a batch: systems by verdict, and the first of those that failed, else of the suspect ones, from 0.
  /// -1: none, or not known.
  std::int64_t systems_pass = -1, systems_suspect = -1, systems_failed = -1, first_failure = -1;
  Text convergence;
  std::int64_t iterations = 0;
  double seconds_min = unknown, seconds_q1 = unknown, seconds_median = unknown, seconds_mean = unknown,
         seconds_q3 = unknown, seconds_max = unknown, seconds_stdev = unknown;
  std::int64_t samples = 0, inner_repeats = 1, warmup = 0;
  std::int64_t enough =
      -1;  ///< 1: the samples' noise fell below what the plan allows, 0: it did not, -1: no rule
  std::int64_t round = 1;
  Text cache, host_memory;
  std::int64_t kernels = -1;  ///< a run launches; -1: unknown
  std::int64_t waits = -1;    ///< of a run, for the device; -1: unknown
  double queue_seconds = unknown;
  std::int64_t launch_bound = -1;  ///< 1: queueing took longer than the GPU's own work, 0: not, -1: unknown
  Text timing;                     ///< "suspect": faster than the device's measured peaks allow; else empty
  std::int64_t repeats_bits = -1;  ///< 1: all samples gave the same bits, 0: they did not, -1: unknown
  double replay_q1 = unknown, replay_median = unknown, replay_q3 = unknown;
  double load_seconds = unknown, generate_seconds = unknown, allocate_seconds = unknown,
         h2d_seconds = unknown, d2h_seconds = unknown, verify_seconds = unknown;
  double flops = unknown, gflops = unknown, bytes = unknown, peak_share = unknown;
  Text problem_title;                                       ///< "linear systems, A x = b"
  double problem_flops = unknown, problem_bytes = unknown;  ///< whatever the method does and moves
  double residual_ratio = unknown, tolerance = unknown, backward_error = unknown, forward_error = unknown,
         pivot_growth = unknown, first_row_percent = unknown;
  Text reference_method;
  double digits_lost = unknown;  ///< decimal digits of backward error, against the reference
  double reference_seconds = unknown, reference_difference = unknown, largest_relative_difference = unknown,
         mean_relative_difference = unknown, mean_absolute_difference = unknown;
  Text gpu_uuid, gpu_name;
  std::int64_t capability = 0;
  double sm_clock_mhz = unknown, memory_clock_mhz = unknown, power_w = unknown, temperature_c = unknown;
  std::int64_t throttled = 0;
  Text throttle_reason;
  double energy_joules = unknown, energy_uncertainty = unknown, energy_power_w = unknown,
         idle_power_w = unknown;
  Text energy_source, host;
  std::int64_t rank = 0, device_index = -1;
  Text start_time, end_time, judged_time, commit, job_id, node, partition, gres;
  /// When each phase began, in seconds since the epoch; it ended when the next one began, the last one at
  /// end_time. NaN: there was no such phase.
  double wait_began = unknown, prepare_began = unknown, store_began = unknown, inputs_began = unknown,
         allocate_began = unknown, upload_began = unknown, warmup_began = unknown, timed_began = unknown,
         download_began = unknown, verify_began = unknown, stages_began = unknown, reference_began = unknown,
         compare_began = unknown;
  double componentwise_error = unknown;  ///< as backward_error, of each row and component for itself

  std::vector<Sample> sample_list;
  std::vector<Stage> stages;
  std::vector<double> history;  ///< `/iterations`
  /// What kept the trial from being done may have passed: a resume does it again. In the journal only.
  bool for_now = false;
};

/// A column: its name and the member that holds it.
struct Field {
  std::string_view name;
  std::variant<Text Record::*, std::int64_t Record::*, double Record::*> member;
  std::string_view unit{};  ///< of a quantity that has one: "s", "MHz"
};

/// All columns of `/records`, in order.
const std::vector<Field>& record_fields();

/// Gives the texts of a record the stores that equal texts in the pool have.
void share_texts(Record& record, TextPool& pool);

/// A record as one JSON object: every field by name, `sample_list`, `stages`, `history`, and where it is so
/// `for_now`. NaN and infinities are null, "inf", "-inf".
nlohmann::json to_json(const Record& record);
/// The record of such an object; fields that an older version did not write keep their defaults.
/// @throws InputError on a mistyped field, or where key, problem, method or status lacks, naming it
Record record_from_json(const nlohmann::json& json);
/// The same for nlohmann's conversions.
inline void to_json(nlohmann::json& to, const Record& record) {
  to = to_json(record);
}
inline void from_json(const nlohmann::json& from, Record& record) {
  record = record_from_json(from);
}

}  // namespace gaussweep::io
