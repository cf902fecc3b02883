#pragma once
/// Implements the key `exclude` of an entry of a plan's list `sweep`. The key lists YAML mappings of
/// conditions. A trial that meets all conditions of one mapping is left out.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "driver/plan/trial.hpp"
#include "io/plan/plan.hpp"

namespace gaussweep::driver {

/// Checks the conditions of an entry. @throws io::InputError if a condition can never hold. Examples are an
/// unknown name, method, backend, precision or uplo, and a comparison of texts with < or >
void check_excludes(const io::Entry& entry, Problem problem, const std::vector<const Method*>& methods,
                    const Registry& registry);

/// The mappings of an entry's `exclude`, indexed by value, so that a trial is compared only with mappings
/// that name one of its values.
class Exclusions {
 public:
  /// @throws io::InputError if more than `max_unindexed` mappings name no exact value, because every trial is
  /// compared with all of these
  explicit Exclusions(const io::Entry& entry);
  /// Returns true if the trial meets every condition of a mapping.
  bool excludes(const Trial& trial, const Method& method) const;

  static constexpr std::size_t max_unindexed = 1000;

 private:
  /// A condition of a mapping. It holds if the trial's property `name` (such as "n") is one of `values` or
  /// matches one of `patterns`.
  struct Condition {
    std::string name;
    std::set<std::string> values;  ///< in canonical form, in which equal numbers have equal texts
    /// Comparisons and globs. Also plain names of methods, because a method matches with and without its
    /// problem's name: "gesv/cusolver" or "cusolver".
    std::vector<std::string> patterns;
  };
  std::vector<std::vector<Condition>> all_;  ///< conditions per mapping
  /// Name → value → mappings.
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> by_value_;
  std::vector<std::size_t> unindexed_;  ///< mappings that name no exact value
};

}  // namespace gaussweep::driver
