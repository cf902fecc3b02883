#pragma once
/// Decides the status of stored records (results of trials) again, by other tolerances, without running
/// trials (the command `verify`, and resumed runs). This is possible because a record has the residual ratio
/// of its answer.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/plan/plan.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// New tolerances for records. A record's new tolerance is that of its problem in `of_problem`. Otherwise it
/// is the problem's default times `factor`, or, without `factor`, the record's old tolerance.
struct Tolerances {
  std::map<std::string, double> of_problem;
  std::optional<double> factor;
  /// Returns the tolerance for a record.
  double of(const io::Record& record) const;
};

/// Reads comma-separated lists such as "2.0,gesv=32". A number is a factor for the default tolerances of all
/// other problems; it may occur once, first in its list. "gesv=32" sets the tolerance of one problem.
/// @throws UsageError
Tolerances parse_tolerances(const std::vector<std::string>& lists);

/// Returns all statuses that a plan expects of a record; std::nullopt if no entry (item of the plan's list
/// `sweep`) matches the record. Entries match by problem, method, sizes, precision, uplo and kind of matrix.
std::optional<std::vector<std::string>> expected_of(const io::Plan& plan, const io::Record& record);

/// Judges a record by another tolerance; changes its status, tolerance and message.
/// @return false if the trial gave no answer or the answer's residual ratio is unknown
bool judge_again(io::Record& record, double tolerance);

/// The result of `judge_all_again`.
struct Verification {
  std::vector<io::Record> records;        ///< all records, with new status, tolerance and message
  std::vector<std::size_t> changed;       ///< indices into `records`
  std::vector<std::string> old_statuses;  ///< per record
  /// Number of answers that keep their status because no residual ratio is recorded.
  std::int64_t not_judged = 0;
  int exit_code = 0;  ///< the exit code that `run` would return
};

/// Judges all records again. @param plan null if unknown; then only `pass` and `skipped` are expected
Verification judge_all_again(std::vector<io::Record> records, const Tolerances& tolerances,
                             const io::Plan* plan);

}  // namespace gaussweep::driver
