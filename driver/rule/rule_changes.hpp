#pragma once
/// Finds the changes from each rule to the next, for example between the rules learned from consecutive
/// nightly runs. A rule chooses the method for a problem of given sizes (rule.hpp).

#include <optional>
#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/rule/regret.hpp"

namespace gaussweep::driver {

/// A box (ranges of sizes) for which a rule has another choice than the rule before it.
struct RuleChange {
  std::string device, problem;
  RuleNames names;
  SizeRange batch, nrhs, n;
  MethodChoice before;
  std::optional<MethodChoice> now;  ///< empty: the new rule does not cover these sizes
  /// The least and the largest ratio of the old choice's time to the new choice's, in the new rule's box. NaN
  /// if the old choice did not pass at every size of that box.
  double least, most;
  std::string since;  ///< commits and drivers of the new rule, if they differ from the old one's
};

/// Compares each rule with the one before it. Sizes that only the new rule covers are no change. Devices that
/// the new rule lacks are no change either.
/// @throws UsageError if two rules have no sizes in common
std::vector<RuleChange> changes_of(const std::vector<NamedRule>& rules);

Table rule_change_table(const std::vector<RuleChange>& changes);

/// Returns "10 to 20", "7", or "" for an axis that the problem does not have.
std::string span_text(const SizeRange& span);

}  // namespace gaussweep::driver
