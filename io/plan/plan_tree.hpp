#pragma once
/// A YAML document as a tree of values with locations. Files beyond limits that are far above the size of
/// real plans are rejected as malicious.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/plan/plan_values.hpp"

namespace gaussweep::io {

struct YamlNode;
using YamlPointer = std::shared_ptr<const YamlNode>;

/// A value of the document. An alias shares the node, and thus the location, of its anchor.
struct YamlNode {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  std::string text;                ///< of a scalar
  std::vector<YamlPointer> items;  ///< of a sequence
  std::vector<std::pair<Scalar, YamlPointer>>
      entries;  ///< of a map, in the order of the file; the keys are unique
  Location location;
  std::size_t weight = 1;  ///< nodes in this subtree; an aliased node counts at each use
  std::size_t depth = 1;   ///< levels of this subtree, with aliases expanded
};

/// Limits of a plan; a file beyond them is rejected.
constexpr std::size_t max_plan_bytes = 10u << 20;
constexpr std::size_t max_plan_nodes = 1000000;  ///< with aliases and ranges expanded
constexpr std::size_t max_plan_depth = 32;

/// Returns the document's root. @throws InputError "file:line:column: …": not text or not YAML; more than one
/// document; nested too deeply, or too many values; a duplicate key, or a key that is no word; a tag; an
/// alias inside its own anchor
YamlPointer parse_yaml(const std::string& text, const std::string& file);

/// Returns "a mapping", "a list", "a value" or "nothing", for messages.
std::string kind_text(const YamlNode& node);

}  // namespace gaussweep::io
