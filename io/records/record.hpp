#pragma once
/// A record: all data of a finished trial (one method on one input). One table of fields defines the journal
/// (JSON), the compound table `/records` of results.h5, and the summary's columns.

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

/// One stage of a method, a part of a run that the method names, measured in a separate run. `share` is its
/// fraction of that run's time.
struct Stage {
  Text kernel;
  std::int64_t calls = 0;
  double seconds = 0;
  double mean = 0;  ///< seconds per call
  double occupancy = std::numeric_limits<double>::quiet_NaN();
  double share = 0;
};

/// The columns of `/records`, followed by the data that results.h5 keeps in other tables. io/SCHEMA.md
/// defines every column. The comments here give only values with a special meaning. NaN (`unknown`) means
/// that a value is unknown or does not apply.
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
  /// For a batch: the number of systems per verdict. `first_failure` is the index (from 0) of the first
  /// failed system, else of the first suspect one. -1: none or unknown.
  std::int64_t systems_pass = -1, systems_suspect = -1, systems_failed = -1, first_failure = -1;
  Text convergence;
  std::int64_t iterations = 0;
  double seconds_min = unknown, seconds_q1 = unknown, seconds_median = unknown, seconds_mean = unknown,
         seconds_q3 = unknown, seconds_max = unknown, seconds_stdev = unknown;
  std::int64_t samples = 0, inner_repeats = 1, warmup = 0;
  /// 1: the samples' noise fell below the plan's limit, 0: it did not, -1: the plan has no limit.
  std::int64_t enough = -1;
  std::int64_t round = 1;  ///< the trial's repetition in a new worker process, from 1
  Text cache, host_memory;
  std::int64_t kernels = -1;       ///< kernels launched per run; -1: unknown
  std::int64_t waits = -1;         ///< times per run that the host waited for the device; -1: unknown
  double queue_seconds = unknown;  ///< the host's time to queue a run on the device
  /// 1: the run took more than 1.1 times as long as its CUDA graph, 0: it did not, -1: unknown.
  std::int64_t launch_bound = -1;
  Text timing;                     ///< "suspect": faster than the device's measured peaks allow; else empty
  std::int64_t repeats_bits = -1;  ///< 1: all samples gave the same bits, 0: they did not, -1: unknown
  /// Seconds of a run that the device replays as a CUDA graph.
  double replay_q1 = unknown, replay_median = unknown, replay_q3 = unknown;
  double load_seconds = unknown, generate_seconds = unknown, allocate_seconds = unknown,
         h2d_seconds = unknown, d2h_seconds = unknown, verify_seconds = unknown;
  double flops = unknown, gflops = unknown, bytes = unknown, peak_share = unknown;
  Text problem_title;  ///< "linear systems, A x = b"
  /// The usual operation count of the problem and the bytes of its operands, independent of the method.
  double problem_flops = unknown, problem_bytes = unknown;
  double residual_ratio = unknown, tolerance = unknown, backward_error = unknown, forward_error = unknown,
         pivot_growth = unknown, first_row_percent = unknown;
  Text reference_method;
  double digits_lost = unknown;  ///< decimal digits of backward error lost compared with the reference
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
  /// The time at which each phase began, in seconds since the epoch. A phase ended when the next one began,
  /// the last one at end_time. NaN: the trial had no such phase.
  double wait_began = unknown, prepare_began = unknown, store_began = unknown, inputs_began = unknown,
         allocate_began = unknown, upload_began = unknown, warmup_began = unknown, timed_began = unknown,
         download_began = unknown, verify_began = unknown, stages_began = unknown, reference_began = unknown,
         compare_began = unknown;
  double componentwise_error = unknown;  ///< like backward_error, but relative to each row and component
  Text gpu_count;                ///< the number of GPUs that shared the matrix; empty in older files: 1
  Text library, library_digest;  ///< the method's shared library: file name, SHA-256; empty: this program
  /// The mean number of threads per CPU of the host that ran or waited for a CPU while samples were taken.
  double cpu_demand = unknown;

  std::vector<Sample> sample_list;
  std::vector<Stage> stages;
  std::vector<double> history;  ///< the value of the convergence test per iteration (`/iterations`)
  /// True if the trial failed for a reason that may be temporary: a resume repeats it. Only in the journal.
  bool is_temporary_failure = false;
};

/// A column: its name and the member that holds it.
struct Field {
  std::string_view name;
  std::variant<Text Record::*, std::int64_t Record::*, double Record::*> member;
  std::string_view unit{};  ///< "s", "MHz"; empty if the column has none
};

/// Returns all columns of `/records` in order.
const std::vector<Field>& record_fields();

/// Makes the record's texts share the storage of equal texts in the pool.
void share_texts(Record& record, TextPool& pool);

/// Returns a record as one JSON object: every field by name, `sample_list`, `stages`, `history`, and
/// `for_now` if it is true. NaN and infinities become null, "inf" and "-inf".
nlohmann::json to_json(const Record& record);
/// Reads such an object. Fields that an older version did not write keep their defaults.
/// @throws InputError that names the field if it is mistyped, or if key, problem, method or status is missing
Record record_from_json(const nlohmann::json& json);
/// Conversions as nlohmann::json expects them.
inline void to_json(nlohmann::json& to, const Record& record) {
  to = to_json(record);
}
inline void from_json(const nlohmann::json& from, Record& record) {
  record = record_from_json(from);
}

}  // namespace gaussweep::io
