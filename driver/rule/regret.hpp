#pragma once
/// The regret of rules: the time of the method that a rule chooses, divided by the time of the fastest
/// method, minus 1. Measure the regret on runs that the rules were not learned from.

#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/rule/rule.hpp"
#include "io/records/results.hpp"

namespace gaussweep::driver {

/// A rule with the name that tables show.
struct NamedRule {
  std::string name;
  Rule rule;
};

/// The regret of one adviser on the tasks of a problem on a device. An adviser chooses a method for each
/// task: it is a rule, or "the vendor", which always chooses the vendor's method.
struct Regret {
  std::string device, problem, adviser;
  std::int64_t tasks = 0;       ///< tasks on which the adviser's choice had a correct answer
  double mean = 0, worst = 0;   ///< mean and largest regret over these tasks
  std::string worst_case{};     ///< the worst case: sizes, the adviser's choice and the fastest method
  std::int64_t unmeasured = 0;  ///< tasks for which the rule has no answer
  std::int64_t not_run = 0;     ///< tasks on which the adviser's choice did not run
  std::int64_t failed = 0;      ///< tasks on which the adviser's choice ran and did not pass
};

/// Compares the choices of the first rule, of "the vendor" and of the other rules with the fastest method of
/// each task. A task counts if a method passed on it and the first rule has a choice for it.
/// @return one row per device, problem and adviser, then the sums per adviser over all problems (problem
/// `any_name`)
/// @throws UsageError if no task counts
std::vector<Regret> regrets_of(const std::vector<NamedRule>& rules, const io::Results& results);

Table regret_table(const std::vector<Regret>& regrets);

}  // namespace gaussweep::driver
