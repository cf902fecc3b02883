#pragma once
/// Changes from rule to rule, for example from night to night.

#include <string>
#include <vector>

#include "driver/base/table.hpp"
#include "driver/rule/regret.hpp"

namespace gaussweep::driver {

/// Sizes for which a rule has another choice than the rule before it.
struct RuleChange {
  std::string device, problem;
  RuleNames names;
  SizeRange batch, nrhs, n;
  MethodChoice before, now;
  /// The time of the old choice divided by that of the new one, in the new rule's box: least and most. NaN:
  /// the old choice did not pass everywhere there.
  double least, most;
  std::string since;  ///< commits and drivers of the new rule, if they differ from the old one's
};

/// Compares each rule with the one before it. Sizes that only one of them knows are no change.
/// @throws UsageError if two rules have no sizes in common
std::vector<RuleChange> changes_of(const std::vector<NamedRule>& rules);

Table rule_change_table(const std::vector<RuleChange>& changes);

/// Returns "10 to 20", "7", or "" for an axis that the problem does not have.
std::string span_text(const SizeRange& span);

}  // namespace gaussweep::driver
