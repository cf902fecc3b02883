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

/// The words of a matrix, of any kind; the backends that sizes may differ by.
const std::vector<std::string>& matrix_words();
const std::vector<std::string>& backend_words();

/// "<what> is <what stands there>; allowed: <wanted>".
[[noreturn]] void fail_kind(const YamlNode& node, const std::string& what, const std::string& wanted);
/// Unless `word` is one of `allowed`: "<what> '<word>'; nearest: …; allowed: …" at the word's location.
void require_word(const Scalar& word, const std::vector<std::string>& allowed, const std::string& what);

/// One value.
Scalar scalar_of(const YamlNode& node, const std::string& what);
/// A value or a non-empty list of values.
std::vector<Scalar> scalars_of(const YamlNode& node, const std::string& what);
/// "always" or "never".
Scalar always_or_never(const YamlNode& node, const std::string& what);

/// Whether sizes on the axis may differ by backend.
bool has_backends(const std::string& axis);
/// The value, list, range, or (n, m, k) mapping by backend of the axis `name`.
Axis axis_of(const Scalar& name, const YamlNode& node, RangeBudget& budget);
/// A mapping of axes of equal length, or a list of such mappings.
std::vector<std::map<std::string, Axis>> zips_of(const YamlNode& node, RangeBudget& budget);
/// A mapping, or a list of mappings. A list among a mapping's values stands for one matrix a value.
std::vector<MatrixBlock> matrices_of(const YamlNode& node, const std::string& what);
/// A list of mappings of conditions.
std::vector<Exclude> excludes_of(const YamlNode& node);
/// A mapping of methods to statuses.
std::map<std::string, std::pair<Location, std::vector<Scalar>>> expect_of(const YamlNode& node);

}  // namespace gaussweep::io
