#pragma once
/// Records as a person reads them: a row a trial group, the best of each size, speedups, what failed and why.

#include <cstdint>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Records of one trial (trial_identity) on one GPU model: repeated, in several runs or by several builds.
struct Group {
  io::Text matrix;                         ///< its name among the matrices of all groups, as people read it
  std::vector<const io::Record*> records;  ///< one at least. @pre they outlive the group
  io::Text status;                         ///< the worst of them
  /// Seconds; medians of the records' q1, median, q3. Of several rounds the smallest q1 and the largest q3,
  /// so that what differs from process to process is in the spread.
  double min, q1, median, q3, max;
  double replay;                         ///< seconds that the GPU alone needs; median
  double joules;                         ///< a run; median
  double gflops, peak_share;             ///< medians
  double ratio;                          ///< the largest; infinite where an answer held NaN
  double forward_error;                  ///< the largest
  double speedup = io::Record::unknown;  ///< the baseline's median over this one's
  std::int64_t throttled = 0;            ///< samples
  io::Text speedup_over;                 ///< the baseline: method, backend, parameters
  /// Stands for the identity.
  const io::Record& first() const { return *records.front(); }
};

/// Groups in order of first appearance.
std::vector<Group> group_records(const std::vector<io::Record>& records);
std::vector<Group> group_records(std::vector<io::Record>&& records) = delete;  // they outlive the groups
std::vector<Group> group_records(const std::vector<const io::Record*>& records);

/// What `--problem`, `--method`, … ask for; an empty list asks for everything. Words may hold * and ?.
struct Filter {
  std::vector<std::string> problems, methods, precisions, backends, statuses, gpus;
  std::vector<std::string> matrices;  ///< kinds, or files' names
  std::vector<std::string> sizes;     ///< "512", "256:1024" (inclusive), ">=1k", "<64"
  bool asks_for_everything() const {
    return problems.empty() && methods.empty() && precisions.empty() && backends.empty() &&
           statuses.empty() && gpus.empty() && matrices.empty() && sizes.empty();
  }
};
/// Whether that no record passes, of some that there are, is an answer, or is refused with what there is.
enum class Empty { is_answer, is_refused };
/// The records that pass. @throws UsageError where a size cannot be read, or a word can match nothing that
/// exists
std::vector<io::Record> filter_records(std::vector<io::Record> records, const Filter& filter,
                                       Empty empty = Empty::is_answer);

/// Leaves the fastest group that passed of each task (task_identity).
std::vector<Group> best_groups(const std::vector<Group>& groups);

/// @throws UsageError where no record is of `method` ("cusolver" or "gesv/cusolver"), with those that there
/// are
void require_method(const std::vector<Group>& groups, const std::string& method);

/// Sets `speedup` against `method`, found in `baselines`, on the same task (task_identity). It is taken on
/// the same backend and GPU where it ran there, else the fastest anywhere; of several parameters, its
/// fastest. An empty `method` is the vendor's, on the same backend and GPU only.
/// @throws UsageError where no record is of that method
void set_speedups(std::vector<Group>& groups, const std::vector<Group>& baselines, const std::string& method);

/// Sorts by a column of the summary ("n", "median", "gflops", …; "-median" downwards), without one by
/// problem, precision, size, method, parameters. Ties keep their order, groups without the value come last.
/// @throws UsageError with the allowed names
void sort_groups(std::vector<Group>& groups, const std::string& column);

/// The names of columns by which groups are sorted.
std::vector<std::string> summary_columns();

/// @param full all statistics (CSV, JSON); otherwise those that fit a terminal
Table summary_table(const std::vector<Group>& groups, bool full);

/// Which records a table of failures is about.
enum class Failures {
  unexpected,  ///< what did not end as its plan expects
  findings,    ///< what is no pass, as its plan expects, and then what was skipped
  all          ///< both, in this order
};
/// What is no pass, or a pass that was not expected, and why: method, matrix, status, trials, sizes, cause.
Table failure_table(const std::vector<io::Record>& records, Failures which);

/// "3 pass, 1 failed, 2 skipped": in the order of the contract.
std::string status_counts_text(const std::vector<io::Record>& records);

/// Index in the contract's list of statuses; unknown words last.
int status_rank(const std::string& status);
/// How bad a status is, to find the worst: skipped < pass < suspect < … < error.
int status_severity(const std::string& status);

}  // namespace gaussweep::driver
