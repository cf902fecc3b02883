/// Reads the values of a plan's keys: axes, zips, matrices, excludes and expected statuses.

#include "io/plan/plan_parts.hpp"

#include <algorithm>

#include "io/records/status.hpp"

namespace gaussweep::io {
namespace {

using Kind = YamlNode::Kind;

/// The maximum number of matrices of one `matrix` key, and of values of one condition of `exclude`.
constexpr std::size_t max_matrices = 10000;
constexpr double largest_number = 1e300;  ///< the largest number in a condition of `exclude`

/// Checks sizes, uplo, precision and seeds, which mean the same for every method.
void check_values(const std::string& name, const std::vector<Scalar>& values) {
  for (const Scalar& value : values) {
    if (has_backends(name) || name == "nrhs" || name == "batch") parse_integer(value, 1, max_size, name);
    if (name == "seed") parse_integer(value, 0, INT64_MAX, name);
    if (name == "uplo") require_word(value, {"lower", "upper"}, "uplo:");
    if (name == "precision") require_word(value, {"float", "double"}, "precision:");
  }
}

/// Returns all values with expanded ranges. @throws InputError with the text `too_many` if there are more
/// than `max_values`
std::vector<Scalar> expanded_ranges(const std::vector<Scalar>& scalars, std::size_t max_values,
                                    const std::string& too_many) {
  std::vector<Scalar> values;
  for (const Scalar& scalar : scalars) {
    const std::vector<Scalar> expanded_values = expand_range(scalar);
    if (expanded_values.size() > max_values - values.size()) fail_at(scalar.location, too_many);
    values.insert(values.end(), expanded_values.begin(), expanded_values.end());
  }
  return values;
}

/// Reads the values of an axis, expands their ranges, and checks them.
std::vector<Scalar> expanded(const std::string& name, const YamlNode& node, RangeBudget& budget) {
  const std::vector<Scalar> values =
      expanded_ranges(scalars_of(node, name), budget.left,
                      "the ranges of this plan have more than " + std::to_string(max_plan_nodes) + " values");
  budget.left -= values.size();
  check_values(name, values);
  return values;
}

/// Returns true if a value of this key of `matrix` may be a range. For keys with texts it may not, because a
/// file name can look like a range.
bool may_be_range(const std::string& key) {
  static const std::vector<std::string> texts = {"kind", "file",     "dataset", "store",
                                                 "psf",  "psf_file", "what"};
  return std::find(texts.begin(), texts.end(), key) == texts.end();
}

/// Reads a mapping of the keys of `matrix`. If values are lists or ranges, returns one block per combination.
std::vector<MatrixBlock> blocks_of(const YamlNode& node, const std::string& what) {
  if (node.kind != Kind::map)
    fail_kind(node, what, "a mapping, e.g. {kind: uniform, seed: 1} or {file: a.mtx}");
  if (node.entries.empty()) fail_at(node.location, what + " is empty; allowed: a kind or a file");
  std::vector<MatrixBlock> blocks = {MatrixBlock{{}, node.location}};
  for (const auto& [key, value] : node.entries) {
    require_word(key, matrix_keys(), what + " has no");
    std::vector<Scalar> choices = scalars_of(*value, what + "." + key.text);
    const std::string too_many = what + ": the lists have too many combinations";
    if (may_be_range(key.text)) choices = expanded_ranges(choices, max_matrices, too_many);
    if (key.text == "store") always_or_never(*value, "store");
    if (blocks.size() * choices.size() > max_matrices) fail_at(value->location, too_many);
    std::vector<MatrixBlock> combinations;
    for (const MatrixBlock& block : blocks) {
      for (const Scalar& choice : choices) {
        combinations.push_back(block);
        combinations.back().values[key.text] = choice;
      }
    }
    blocks = std::move(combinations);
  }
  return blocks;
}

/// Checks a condition of `exclude`. A condition that begins with <, > or = compares numbers; every other one
/// is a value or a glob.
void check_condition(const Scalar& condition, const std::string& name) {
  // The operand begins after the operator; a condition without an operator may be any text.
  const std::size_t begin = condition.text.find_first_not_of("<>=");
  if (begin == 0) return;
  const std::string op = condition.text.substr(0, begin);
  if (begin == std::string::npos || (op != "<" && op != ">" && op != "<=" && op != ">=")) {
    fail_at(condition.location, name + ": '" + condition.text +
                                    "' is no condition; allowed: a value, or a number after <, <=, > or >=");
  }
  const Scalar number{
      condition.text.substr(std::min(condition.text.find_first_not_of(' ', begin), condition.text.size())),
      condition.location};
  if (!number.text.empty() && (number.text.back() == 'k' || number.text.back() == 'K')) {
    parse_integer(number, INT64_MIN, INT64_MAX, name);
  } else {
    parse_real(number, -largest_number, largest_number, name);
  }
}

}  // namespace

// Lists the keys of all matrix kinds. The driver checks which of them a kind has.
const std::vector<std::string>& matrix_keys() {
  static const std::vector<std::string> words = {
      "kind",   "file",      "dataset", "seed",       "store",       "low",    "high",   "mode",
      "value",  "condition", "psf",     "psf_file",   "sigma",       "radius", "length", "angle",
      "amount", "width",     "height",  "seen_width", "seen_height", "what",   "lambda", "s"};
  return words;
}

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> words = {"cuda", "emulated", "host"};
  return words;
}

void fail_kind(const YamlNode& node, const std::string& what, const std::string& wanted) {
  fail_at(node.location, what + " is " + kind_text(node) + "; allowed: " + wanted);
}

void require_word(const Scalar& word, const std::vector<std::string>& allowed, const std::string& what) {
  if (std::find(allowed.begin(), allowed.end(), word.text) != allowed.end()) return;
  std::string list;
  for (const std::string& allowed_word : allowed) list += (list.empty() ? "" : ", ") + allowed_word;
  fail_at(word.location,
          what + " '" + word.text + "'; " + nearest_hint(word.text, allowed) + "allowed: " + list);
}

Scalar scalar_of(const YamlNode& node, const std::string& what) {
  if (node.kind != Kind::scalar) fail_kind(node, what, "one value");
  if (node.text.empty()) fail_at(node.location, what + " is an empty text; allowed: one value");
  return {node.text, node.location};
}

std::vector<Scalar> scalars_of(const YamlNode& node, const std::string& what) {
  if (node.kind == Kind::scalar) return {scalar_of(node, what)};
  if (node.kind != Kind::sequence) fail_kind(node, what, "a value or a list of values");
  if (node.items.empty()) fail_at(node.location, what + " is an empty list; allowed: at least one value");
  std::vector<Scalar> values;
  for (const YamlPointer& item : node.items) values.push_back(scalar_of(*item, "an entry of " + what));
  return values;
}

Scalar always_or_never(const YamlNode& node, const std::string& what) {
  Scalar scalar = scalar_of(node, what);
  require_word(scalar, {"always", "never"}, what + ":");
  return scalar;
}

bool has_backends(const std::string& axis) {
  return axis == "n" || axis == "m" || axis == "k";
}

Axis axis_of(const Scalar& name, const YamlNode& node, RangeBudget& budget) {
  Axis axis;
  axis.location = name.location;
  if (node.kind != Kind::map) {
    axis.values = expanded(name.text, node, budget);
    return axis;
  }
  if (!has_backends(name.text))
    fail_kind(node, name.text, "a value or a list (only n, m and k may differ by backend or GPU)");
  for (const auto& [backend, value] : node.entries) {
    // Only the names of GPU models contain digits.
    if (backend.text.find_first_of("0123456789") == std::string::npos)
      require_word(backend, backend_names(), name.text + ": no backend, nor a GPU model,");
    axis.by_backend[backend.text] = expanded(name.text, *value, budget);
  }
  if (axis.by_backend.empty())
    fail_at(node.location, name.text + " is empty; allowed: sizes by backend or GPU model");
  return axis;
}

std::vector<std::map<std::string, Axis>> zips_of(const YamlNode& node, RangeBudget& budget) {
  if (node.kind == Kind::sequence && !node.items.empty()) {
    std::vector<std::map<std::string, Axis>> zips;
    for (const YamlPointer& item : node.items) {
      if (item->kind != Kind::map) fail_kind(*item, "an entry of zip", "a mapping of lists of equal length");
      for (auto& zip : zips_of(*item, budget)) zips.push_back(std::move(zip));
    }
    return zips;
  }
  if (node.kind != Kind::map) fail_kind(node, "zip", "a mapping of lists of equal length");
  if (node.entries.empty()) fail_at(node.location, "zip is empty; allowed: lists of equal length");
  std::map<std::string, Axis> zip;
  std::string first;
  for (const auto& [name, value] : node.entries) {
    const Axis axis = axis_of(name, *value, budget);
    if (!axis.by_backend.empty())
      fail_at(value->location, "zip: " + name.text + " differs by backend; allowed: a list");
    if (first.empty()) first = name.text;
    const std::size_t length = zip.empty() ? axis.values.size() : zip.at(first).values.size();
    if (axis.values.size() != length) {
      fail_at(value->location, "zip: " + name.text + " has " + std::to_string(axis.values.size()) +
                                   " values, " + first + " has " + std::to_string(length) +
                                   "; allowed: lists of equal length");
    }
    zip.emplace(name.text, axis);
  }
  return {zip};
}

std::vector<MatrixBlock> matrices_of(const YamlNode& node, const std::string& what) {
  if (node.kind != Kind::sequence) return blocks_of(node, what);
  if (node.items.empty()) fail_at(node.location, what + " is an empty list; allowed: at least one matrix");
  std::vector<MatrixBlock> blocks;
  for (const YamlPointer& item : node.items) {
    for (MatrixBlock& block : blocks_of(*item, "an entry of " + what)) blocks.push_back(std::move(block));
    if (blocks.size() > max_matrices)
      fail_at(item->location, what + ": the lists have too many combinations");
  }
  return blocks;
}

std::vector<Exclude> excludes_of(const YamlNode& node) {
  const std::string wanted = "a list of mappings, e.g. [{method: lapack, n: \">4096\"}]";
  if (node.kind != Kind::sequence) fail_kind(node, "exclude", wanted);
  if (node.items.empty()) fail_at(node.location, "exclude is an empty list; allowed: " + wanted);
  std::vector<Exclude> excludes;
  for (const YamlPointer& item : node.items) {
    if (item->kind != Kind::map) fail_kind(*item, "an entry of exclude", "a mapping of conditions");
    if (item->entries.empty())
      fail_at(item->location, "an entry of exclude is empty; allowed: at least one condition");
    Exclude exclude;
    exclude.location = item->location;
    for (const auto& [name, value] : item->entries) {
      const std::vector<Scalar> conditions =
          expanded_ranges(scalars_of(*value, "exclude." + name.text), max_matrices,
                          "exclude." + name.text + ": the ranges have too many values");
      for (const Scalar& condition : conditions) check_condition(condition, "exclude." + name.text);
      exclude.conditions[name.text] = conditions;
    }
    excludes.push_back(std::move(exclude));
  }
  return excludes;
}

std::map<std::string, std::pair<Location, std::vector<Scalar>>> expect_of(const YamlNode& node) {
  if (node.kind != Kind::map) fail_kind(node, "expect", "a mapping of methods to statuses");
  if (node.entries.empty())
    fail_at(node.location, "expect is empty; allowed: a status or a list of statuses per method");
  std::map<std::string, std::pair<Location, std::vector<Scalar>>> expect;
  for (const auto& [method, value] : node.entries) {
    const std::vector<Scalar> statuses = scalars_of(*value, "expect." + method.text);
    for (const Scalar& status : statuses) require_word(status, status_names(), "no status");
    expect[method.text] = {method.location, statuses};
  }
  return expect;
}

}  // namespace gaussweep::io
