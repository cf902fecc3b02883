#pragma once
/// `exclude` of an entry of `sweep`: trials that meet every condition of one of its mappings are left out.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// @throws io::InputError where a condition can never hold: an unknown name, method, backend, precision or
/// uplo, or a comparison of words
void check_excludes(const io::Entry& entry, Problem problem, const std::vector<const Method*>& methods,
                    const Registry& registry);

/// The `exclude` of an entry, indexed: a trial looks only at the mappings that name one of its values.
class Exclusions {
 public:
  /// @throws io::InputError if more than `most_unindexed` mappings name no exact value: every trial tries
  /// them all
  explicit Exclusions(const io::Entry& entry);
  /// Returns true if the trial meets every condition of a mapping.
  bool leave_out(const Trial& trial, const Method& method) const;

  static constexpr std::size_t most_unindexed = 1000;

 private:
  /// Holds if the trial's fact `name` is one of `values` or matches one of `patterns`.
  struct Condition {
    std::string name;
    std::set<std::string> values;       ///< in canonical form
    std::vector<std::string> patterns;  ///< comparisons, globs, and all words for methods
  };
  std::vector<std::vector<Condition>> all_;  ///< the conditions of each mapping
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> by_value_;  ///< name, value
  std::vector<std::size_t> unindexed_;
};

}  // namespace gaussweep::driver
