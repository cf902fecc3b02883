#pragma once
/// The parts of a plan, each read from its node: io/plan/plan.cpp puts them together.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/plan/plan_tree.hpp"

namespace gaussweep::io {

/// How many values the ranges of a plan may still give, all together.
struct RangeBudget {
  std::size_t left = max_plan_nodes;
};

/// A fixed word of a plan or of an entry, as the table of its reader has it.
struct PlanKey {
  std::string name;
  std::string shape;  ///< of its value: a definition of the schema
  std::string help;   ///< what it is for
};
std::vector<PlanKey> keys_of_plan();
std::vector<PlanKey> keys_of_entry();
/// The words of a matrix, of any kind; of `repeats` as a mapping; the backends that sizes may differ by.
const std::vector<std::string>& matrix_words();
const std::vector<std::string>& repeats_words();
const std::vector<std::string>& backend_words();

/// "<what> is <what stands there>; allowed: <wanted>".
[[noreturn]] void fail_kind(const YamlNode& node, const std::string& what, const std::string& wanted);
/// Unless `word` is one of `allowed`: "<what> '<word>'; allowed: … (nearest: …)" at the word's place.
void require_word(const Scalar& word, const std::vector<std::string>& allowed, const std::string& what);

/// One value.
Scalar scalar_of(const YamlNode& node, const std::string& what);
/// A value or a non-empty list of values.
std::vector<Scalar> scalars_of(const YamlNode& node, const std::string& what);
/// A whole number from `low` to 1,000,000, as it is written.
Scalar count_of(const YamlNode& node, const std::string& what, std::int64_t low);
/// A duration above 0, as it is written.
Scalar timeout_of(const YamlNode& node);
/// A number of samples, under the name "", or what says when there are enough: min, max, noise, time,
/// throttled.
std::map<std::string, Scalar> repeats_of(const YamlNode& node);
/// A count from 0, or a duration above 0, as it is written.
Scalar warmup_of(const YamlNode& node);
/// "never" or a duration above 0.
Scalar energy_of(const YamlNode& node);
/// "warm" or "cold".
Scalar cache_of(const YamlNode& node);
/// "pageable" or "pinned".
Scalar host_memory_of(const YamlNode& node);
/// From 1 to 1000.
Scalar rounds_of(const YamlNode& node);
/// A number of bytes or "none", as it is written.
Scalar bytes_scalar_of(const YamlNode& node, const std::string& what);
/// "always" or "never".
Scalar always_or_never(const YamlNode& node, const std::string& what);
Scalar stages_of(const YamlNode& node);

/// The value, list, range, or (n, m, k) mapping by backend of the axis `name`.
Axis axis_of(const Scalar& name, const YamlNode& node, RangeBudget& budget);
/// A mapping of axes of equal length, or a list of such mappings.
std::vector<std::map<std::string, Axis>> zips_of(const YamlNode& node, RangeBudget& budget);
/// A mapping, or a list of mappings. A list among a mapping's values stands for one matrix a value.
std::vector<MatrixBlock> matrices_of(const YamlNode& node, const std::string& what);
/// A number (a factor for every default, under the name ""), or a mapping of `problems` to numbers.
std::map<std::string, Scalar> tolerance_of(const YamlNode& node, const std::vector<std::string>& problems);
/// A list of mappings of conditions.
std::vector<Exclude> excludes_of(const YamlNode& node);
/// A mapping of methods to statuses.
std::map<std::string, std::pair<Place, std::vector<Scalar>>> expect_of(const YamlNode& node);

}  // namespace gaussweep::io
