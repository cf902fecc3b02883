#pragma once
/// Judges stored records again, without running anything.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/plan/plan.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// Tolerances to judge by: a problem's own; else its default times `factor`; else what the record was judged
/// by.
struct Tolerances {
  std::map<std::string, double> of_problem;
  std::optional<double> factor;
  double of(const io::Record& record) const;
};

/// Reads "gesv=32" (one problem) and "2.0" (a factor for every default, once, before other words of its
/// list). Commas part words. @throws UsageError
Tolerances parse_tolerances(const std::vector<std::string>& words);

/// What a plan expects of a record: the statuses that are no failure of the sweep; nothing where the plan has
/// no such trial. Decided by problem, method, sizes, precision, uplo and kind of matrix: entries that differ
/// in nothing else are taken together.
std::optional<std::vector<std::string>> expected_of(const io::Plan& plan, const io::Record& record);

/// Judges a record by another tolerance: its status, tolerance and message.
/// @return false where it cannot be: no answer was judged, or its residual is not known
bool judge_again(io::Record& record, double tolerance);

struct Verification {
  std::vector<io::Record> records;        ///< all, with new status, tolerance and message
  std::vector<std::size_t> changed;       ///< places in `records`
  std::vector<std::string> old_statuses;  ///< of every record
  std::int64_t not_judged = 0;            ///< answers whose residual was not stored: they keep their status
  int exit_code = 0;                      ///< as `run` would end
};

/// @param plan null: unknown, then only `pass` and `skipped` are as expected
Verification verify(std::vector<io::Record> records, const Tolerances& tolerances, const io::Plan* plan);

}  // namespace gaussweep::driver
