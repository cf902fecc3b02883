#pragma once
/// Functions that read the parts of a plan, for plan.cpp.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/plan/plan_tree.hpp"

namespace gaussweep::io {

/// The number of values that the plan's ranges may still expand to.
struct RangeBudget {
  std::size_t left = max_plan_nodes;
};

/// Return the keys that a `matrix` block may have, over all matrix kinds, and the names of backends.
const std::vector<std::string>& matrix_keys();
const std::vector<std::string>& backend_names();

/// Throws "<what> is <kind of the node>; allowed: <wanted>".
[[noreturn]] void fail_kind(const YamlNode& node, const std::string& what, const std::string& wanted);
/// Throws "<what> '<word>'; nearest: …; allowed: …" with the word's location unless `word` is one of
/// `allowed`.
void require_word(const Scalar& word, const std::vector<std::string>& allowed, const std::string& what);

/// Reads one value.
Scalar scalar_of(const YamlNode& node, const std::string& what);
/// Reads a value or a non-empty list of values.
std::vector<Scalar> scalars_of(const YamlNode& node, const std::string& what);
/// Reads "always" or "never".
Scalar always_or_never(const YamlNode& node, const std::string& what);

/// Returns true if the values of the axis may differ by backend (n, m and k).
bool has_backends(const std::string& axis);
/// Reads the axis `name`: a value, list or range; for n, m and k also a mapping by backend.
Axis axis_of(const Scalar& name, const YamlNode& node, RangeBudget& budget);
/// Reads the key `zip`: a mapping of axes of equal length, which vary together, or a list of such mappings.
std::vector<std::map<std::string, Axis>> zips_of(const YamlNode& node, RangeBudget& budget);
/// Reads the matrices of a key `what`: a mapping, or a list of mappings. A list as a value of a mapping gives
/// one matrix per element.
std::vector<MatrixBlock> matrices_of(const YamlNode& node, const std::string& what);
/// Reads the key `exclude`: a list of mappings. A trial is left out if it meets all conditions of a mapping.
std::vector<Exclude> excludes_of(const YamlNode& node);
/// Reads a mapping of methods to their expected statuses.
std::map<std::string, std::pair<Location, std::vector<Scalar>>> expect_of(const YamlNode& node);

}  // namespace gaussweep::io
