#pragma once
/// Summaries of records: groups of equal trials, the fastest group per task, speedups, and failures with
/// their causes. A trial is one method on one matrix; a record is its stored result. Trials that differ only
/// in their methods have the same task.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/judge/verify.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/records/record.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {

/// The records of one trial (trial_identity in results/identity.hpp) on one GPU model, from several rounds,
/// runs or builds.
struct Group {
  io::Text matrix;                         ///< name that is unique among the matrices of all groups
  std::vector<const io::Record*> records;  ///< at least one. @pre the records outlive the group
  io::Text status;                         ///< the worst status
  /// Seconds: `median` is the median of the records' medians, `min` their least min and `max` their largest
  /// max. With several records (of several rounds or runs), the q1, median and q3 of each record form one
  /// list. `q1` and `q3` are the quartiles of this list. The spread between them then includes differences
  /// between processes and runs, but a single slow process among many does not widen it.
  double min, q1, median, q3, max;
  double replay;              ///< seconds of a CUDA graph replay (no launch overhead); median of records
  double joules;              ///< energy per run; median of the records
  double flops;               ///< operations per run; median of the records
  double gflops, peak_share;  ///< computed from `median`
  /// The largest residual ratio (backward error / n·u); infinite if an answer held NaN.
  double residual_ratio;
  double forward_error;                  ///< the largest relative forward error
  double speedup = io::Record::unknown;  ///< the baseline's median divided by this group's
  std::int64_t throttled = 0;            ///< number of samples during which the GPU was throttled
  io::Text speedup_over;                 ///< the baseline: method, backend, parameters
  /// Returns the first record, from which callers take the group's method, sizes and other properties of the
  /// trial.
  const io::Record& first() const { return *records.front(); }
  /// Returns true if all records passed and the time is known.
  bool has_passed() const { return status == io::Status::pass && median > 0; }
};

/// Returns true if a record of the group was timed faster than the device's peaks allow.
bool is_doubtful(const Group& group);

/// Groups records; the groups are in order of first appearance.
std::vector<Group> group_records(const std::vector<io::Record>& records);
// Deleted, because the groups point to the records.
std::vector<Group> group_records(std::vector<io::Record>&& records) = delete;
std::vector<Group> group_records(const std::vector<const io::Record*>& records);

/// Returns one group with the records of several groups, for example of a method's trials with several seeds.
/// Its median is the median of the groups' medians, and its matrix name is that of the first group.
/// @pre there is at least one
Group joined_group(const std::vector<const Group*>& groups);

/// The filter options `--problem`, `--method`, …; an empty list accepts everything. Patterns may contain *
/// and ?.
struct Filter {
  std::vector<std::string> problems, methods, precisions, backends, statuses, gpus;
  std::vector<std::string> matrices;       ///< kinds or file names
  std::vector<std::string> sizes;          ///< "512", "256:1024" (inclusive), ">=1k", "<64"
  const char* method_option = "--method";  ///< the option's name in errors about `methods`
  bool accepts_everything() const {
    return problems.empty() && methods.empty() && precisions.empty() && backends.empty() &&
           statuses.empty() && gpus.empty() && matrices.empty() && sizes.empty();
  }
};
/// The behaviour of filter_records if no record passes the filter.
enum class IfEmpty { returns_none, throws };
/// Returns the records that pass the filter. @throws UsageError if a size is malformed, a pattern matches no
/// present or known value, or nothing passes and `if_empty` is `throws`
std::vector<io::Record> filter_records(std::vector<io::Record> records, const Filter& filter,
                                       IfEmpty if_empty = IfEmpty::returns_none);

/// Returns the groups of one task whose times compete. Emulated kernels compete only if every other group
/// was skipped. Their times are comparable neither with times of GPUs nor with times of CPU methods.
std::vector<const Group*> competitors(const std::vector<const Group*>& task_groups);

/// Returns the fastest passing competitor of each task (task_identity).
std::vector<Group> best_groups(const std::vector<Group>& groups);

/// Throws if no group is of `method` ("cusolver" or "gesv/cusolver").
/// @param cause the reason that the error gives for refusing the option --baseline
/// @throws UsageError with the cause and the existing methods
void require_method(const std::vector<Group>& groups, const std::string& method,
                    const char* cause = "no record is of that method");

/// Sets each group's `speedup` over a baseline for the same task (task_identity). The baseline is the fastest
/// group of `method` in `baselines` on the same backend and GPU, otherwise on any backend and GPU. If
/// `method` is empty, the baseline is the vendor's method on the same backend and GPU. Groups that failed
/// have no speedup and are no baseline. Emulated groups are compared only with emulated baselines, all other
/// groups only with baselines that are not emulated.
/// @throws UsageError if no record is of that method
void set_speedups(std::vector<Group>& groups, const std::vector<Group>& baselines, const std::string& method);

/// Sorts by a column of the summary ("n", "median", "gflops", …; "-median" descending); without a column by
/// problem, precision, size, method, parameters. The sort is stable; groups without a value come last.
/// @throws UsageError with the allowed names
void sort_groups(std::vector<Group>& groups, const std::string& column);

/// Returns the names of the columns that can be sorted by.
std::vector<std::string> summary_columns();

/// Returns the summary table. @param full true: all statistics (for CSV, JSON); false: those for a terminal
Table summary_table(const std::vector<Group>& groups, bool full);

/// The records that a table of failures lists.
enum class Failures {
  unexpected,  ///< records that did not end as their plan expects
  findings,    ///< failures that the plan expects, followed by skipped records
  all          ///< `unexpected`, followed by `findings`
};
/// Returns a table of the records that did not pass, or passed unexpectedly: method, matrix, status, trials,
/// sizes, cause, and the parameters that vary among the records.
Table failure_table(const std::vector<io::Record>& records, Failures which);

/// Returns "3 pass, 1 failed, 2 skipped", in the order of io::status_names.
std::string status_counts_text(const std::vector<io::Record>& records);
std::string status_counts_text(const std::map<std::string, std::int64_t>& counts);

/// Returns the index in io::status_names; unknown statuses come last.
int status_rank(const std::string& status);
/// Returns the severity of a status: skipped < pass < suspect < … < error.
int status_severity(const std::string& status);

/// Returns a table of the records whose status changed when `verify` applied other tolerances.
Table change_table(const Verification& verification, Reader reader);

/// A method is doubtful if it loses at least this number of decimal digits compared with the reference.
inline constexpr double doubted_digits = 2;

/// A componentwise error is doubtful if it is at least this multiple of the larger of backward error and unit
/// roundoff.
inline constexpr double doubted_componentwise = 1000;

/// An answer with a larger relative forward error has no correct digit.
inline constexpr double doubted_error = 0.1;

/// Returns a table of the doubts about records that passed or are suspect. A row has a method, a kind of
/// doubt, and the worst figure. `timing`: the time is shorter than the device's measured peaks allow.
/// `accuracy`: the backward error is at least 100 times the reference's. `components`: the componentwise
/// error is at least 1000 times the backward error. `condition`: the answer passed, but has no correct digit.
/// `stability`: the same, but another method's answer to the same task has correct digits and an error that
/// is 100 times smaller.
Table doubt_table(const std::vector<io::Record>& records);

}  // namespace gaussweep::driver
