#include "io/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "io/plan_tree.hpp"
#include "io/plan_values.hpp"

namespace gaussweep::io {
namespace {

using Kind = YamlNode::Kind;

[[noreturn]] void fail_kind(const YamlNode& node, const std::string& what, const std::string& wanted) {
  fail_at(node.place, what + " is " + kind_words(node) + "; allowed: " + wanted);
}

Scalar scalar_of(const YamlNode& node, const std::string& what) {
  if (node.kind != Kind::scalar || node.text.empty()) fail_kind(node, what, "one value");
  return {node.text, node.place};
}

/// A value or a non-empty list of values.
std::vector<Scalar> scalars_of(const YamlNode& node, const std::string& what) {
  if (node.kind == Kind::scalar) return {scalar_of(node, what)};
  if (node.kind != Kind::sequence) fail_kind(node, what, "a value or a list of values");
  if (node.items.empty()) fail_at(node.place, what + " is an empty list; allowed: at least one value");
  std::vector<Scalar> values;
  for (const YamlPointer& item : node.items) values.push_back(scalar_of(*item, "an entry of " + what));
  return values;
}

std::vector<Scalar> expanded(const YamlNode& node, const std::string& what) {
  std::vector<Scalar> values;
  for (const Scalar& scalar : scalars_of(node, what)) {
    const std::vector<Scalar> more = expand_range(scalar);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

bool has_backends(const std::string& axis) { return axis == "n" || axis == "m" || axis == "k"; }

/// Sizes are checked here already: every plan's sizes are positive.
void check_sizes(const std::string& name, const std::vector<Scalar>& values) {
  if (!has_backends(name) && name != "nrhs") return;
  for (const Scalar& value : values) parse_integer(value, 1, 1000000, name);
}

Axis axis_of(const std::string& name, const YamlNode& node) {
  Axis axis;
  axis.place = node.place;
  if (node.kind != Kind::map) {
    axis.values = expanded(node, name);
    check_sizes(name, axis.values);
    return axis;
  }
  if (!has_backends(name)) fail_kind(node, name, "a value or a list (only n, m and k may differ by backend)");
  const std::vector<std::string> backends = {"cuda", "emulated", "host"};
  for (const auto& [key, value] : node.entries) {
    if (std::find(backends.begin(), backends.end(), key.text) == backends.end()) {
      fail_at(key.place, name + ": '" + key.text + "' is no backend; allowed: cuda, emulated, host" +
                             nearest_hint(key.text, backends));
    }
    axis.by_backend[key.text] = expanded(*value, name);
    check_sizes(name, axis.by_backend[key.text]);
  }
  if (axis.by_backend.empty()) fail_at(node.place, name + " is empty; allowed: sizes by backend");
  return axis;
}

MatrixBlock matrix_of(const YamlNode& node, const std::string& what) {
  if (node.kind != Kind::map) fail_kind(node, what, "a mapping, e.g. {kind: uniform, seed: 1} or {file: a.mtx}");
  MatrixBlock block;
  block.place = node.place;
  for (const auto& [key, value] : node.entries) block.values[key.text] = scalar_of(*value, what + "." + key.text);
  if (block.values.empty()) fail_at(node.place, what + " is empty; allowed: a kind or a file");
  return block;
}

/// A number (a factor for every default), or a mapping of problems to numbers.
std::map<std::string, Scalar> tolerance_of(const YamlNode& node) {
  std::map<std::string, Scalar> tolerance;
  if (node.kind == Kind::map) {
    for (const auto& [key, value] : node.entries) tolerance[key.text] = scalar_of(*value, "tolerance." + key.text);
  } else {
    tolerance[""] = scalar_of(node, "tolerance");
  }
  for (const auto& [problem, value] : tolerance) parse_real(value, 1e-300, 1e300, "tolerance");
  return tolerance;
}

std::vector<std::map<std::string, Axis>> zips_of(const YamlNode& node) {
  if (node.kind == Kind::sequence) {
    std::vector<std::map<std::string, Axis>> zips;
    for (const YamlPointer& item : node.items) {
      for (auto& zip : zips_of(*item)) zips.push_back(std::move(zip));
    }
    return zips;
  }
  if (node.kind != Kind::map || node.entries.empty()) fail_kind(node, "zip", "a mapping of lists of equal length");
  std::map<std::string, Axis> zip;
  for (const auto& [name, value] : node.entries) {
    const Axis axis = axis_of(name.text, *value);
    if (!axis.by_backend.empty()) fail_at(axis.place, "zip: " + name.text + " must be a list");
    if (!zip.empty() && axis.values.size() != zip.begin()->second.values.size()) {
      fail_at(axis.place, "zip: " + name.text + " has " + std::to_string(axis.values.size()) + " values, " +
                              zip.begin()->first + " has " + std::to_string(zip.begin()->second.values.size()) +
                              "; allowed: lists of equal length");
    }
    zip.emplace(name.text, axis);
  }
  return {zip};
}

std::vector<Exclude> excludes_of(const YamlNode& node) {
  if (node.kind != Kind::sequence) fail_kind(node, "exclude", "a list of mappings, e.g. [{method: lapack, n: \">4096\"}]");
  std::vector<Exclude> excludes;
  for (const YamlPointer& item : node.items) {
    if (item->kind != Kind::map || item->entries.empty()) fail_kind(*item, "an entry of exclude", "a mapping of conditions");
    Exclude exclude;
    exclude.place = item->place;
    for (const auto& [name, value] : item->entries) exclude.conditions[name.text] = scalars_of(*value, "exclude." + name.text);
    excludes.push_back(std::move(exclude));
  }
  return excludes;
}

std::map<std::string, std::pair<Place, std::vector<Scalar>>> expect_of(const YamlNode& node) {
  if (node.kind != Kind::map) fail_kind(node, "expect", "a mapping of methods to statuses");
  std::map<std::string, std::pair<Place, std::vector<Scalar>>> expect;
  for (const auto& [method, value] : node.entries) {
    expect[method.text] = {method.place, scalars_of(*value, "expect." + method.text)};
  }
  return expect;
}

std::vector<MatrixBlock> matrices_of(const YamlNode& node) {
  if (node.kind != Kind::sequence) return {matrix_of(node, "matrix")};
  if (node.items.empty()) fail_at(node.place, "matrix is an empty list; allowed: at least one matrix");
  std::vector<MatrixBlock> blocks;
  for (const YamlPointer& item : node.items) blocks.push_back(matrix_of(*item, "an entry of matrix"));
  return blocks;
}

/// The counts and the timeout are checked where they stand.
Scalar count_of(const YamlNode& node, const std::string& name, std::int64_t low) {
  const Scalar scalar = scalar_of(node, name);
  parse_integer(scalar, low, 1000000, name);
  return scalar;
}

Scalar timeout_of(const YamlNode& node) {
  const Scalar scalar = scalar_of(node, "timeout");
  parse_duration(scalar, "timeout");
  return scalar;
}

using Reader = std::function<void(const YamlNode&)>;

std::vector<std::string> names_of(const std::map<std::string, Reader>& readers) {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers) names.push_back(name);
  return names;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Entry entry_of(const YamlNode& node) {
  if (node.kind != Kind::map) fail_kind(node, "an entry of sweep", "a mapping with problem, method and sizes");
  Entry entry;
  entry.place = node.place;
  bool has_problem = false;
  const std::map<std::string, Reader> readers = {
      {"problem", [&](const YamlNode& v) { entry.problem = scalar_of(v, "problem"); has_problem = true; }},
      {"method", [&](const YamlNode& v) { entry.methods = scalars_of(v, "method"); }},
      {"matrix", [&](const YamlNode& v) { entry.matrices = matrices_of(v); }},
      {"matrix_b", [&](const YamlNode& v) { entry.matrix_b = matrix_of(v, "matrix_b"); }},
      {"zip", [&](const YamlNode& v) { entry.zips = zips_of(v); }},
      {"exclude", [&](const YamlNode& v) { entry.excludes = excludes_of(v); }},
      {"expect", [&](const YamlNode& v) { entry.expect = expect_of(v); }},
      {"repeats", [&](const YamlNode& v) { entry.repeats = count_of(v, "repeats", 1); }},
      {"warmup", [&](const YamlNode& v) { entry.warmup = count_of(v, "warmup", 0); }},
      {"inner_repeats", [&](const YamlNode& v) { entry.inner_repeats = count_of(v, "inner_repeats", 1); }},
      {"timeout", [&](const YamlNode& v) { entry.timeout = timeout_of(v); }},
      {"tolerance", [&](const YamlNode& v) { entry.tolerance = tolerance_of(v); }},
  };
  for (const auto& [key, value] : node.entries) {
    const auto reader = readers.find(key.text);
    if (reader != readers.end()) {
      reader->second(*value);
    } else {
      // not a fixed word: an axis. Whether the methods know it is decided where the methods are known.
      Axis axis = axis_of(key.text, *value);
      axis.place = key.place;
      entry.axes.emplace(key.text, std::move(axis));
    }
  }
  if (!has_problem) fail_at(node.place, "problem is missing in this entry of sweep; allowed: gemm, trsv, gesv, getrf, potrf, trtri, geinv, poinv");
  if (entry.methods.empty()) fail_at(node.place, "method is missing in this entry of sweep; allowed: a method, a list, a glob, or all");
  std::set<std::string> named;
  for (const auto& [name, axis] : entry.axes) named.insert(name);
  for (const auto& zip : entry.zips) {
    for (const auto& [name, axis] : zip) {
      if (!named.insert(name).second) fail_at(axis.place, name + " is given twice: as an axis and in zip, or in two zips");
    }
  }
  return entry;
}

}  // namespace

Plan parse_plan(const std::string& text, const std::string& file) {
  const YamlPointer root = parse_yaml(text, file);
  if (root == nullptr || root->kind != Kind::map) {
    const Place start{file, 1, 1};
    fail_at(root == nullptr ? start : root->place, "this is no plan; allowed: a mapping with name and sweep (README.md shows one)");
  }
  Plan plan;
  plan.text = text;
  plan.file = file;
  plan.precision = {{"double", {file, 1, 1}}};
  plan.repeats = {"5", {file, 1, 1}};
  plan.warmup = {"1", {file, 1, 1}};
  plan.inner_repeats = {"1", {file, 1, 1}};
  plan.timeout = {"10min", {file, 1, 1}};
  bool has_sweep = false;
  const std::map<std::string, Reader> readers = {
      {"name", [&](const YamlNode& v) { plan.name = scalar_of(v, "name").text; }},
      {"precision", [&](const YamlNode& v) { plan.precision = scalars_of(v, "precision"); }},
      {"repeats", [&](const YamlNode& v) { plan.repeats = count_of(v, "repeats", 1); }},
      {"warmup", [&](const YamlNode& v) { plan.warmup = count_of(v, "warmup", 0); }},
      {"inner_repeats", [&](const YamlNode& v) { plan.inner_repeats = count_of(v, "inner_repeats", 1); }},
      {"timeout", [&](const YamlNode& v) { plan.timeout = timeout_of(v); }},
      {"tolerance", [&](const YamlNode& v) { plan.tolerance = tolerance_of(v); }},
      {"matrix", [&](const YamlNode& v) { plan.matrix = matrix_of(v, "matrix"); }},
      {"sweep", [&](const YamlNode& v) {
         has_sweep = true;
         if (v.kind != Kind::sequence) fail_kind(v, "sweep", "a list of entries");
         if (v.items.empty()) fail_at(v.place, "sweep is empty; allowed: at least one entry with problem and method");
         for (const YamlPointer& item : v.items) plan.sweep.push_back(entry_of(*item));
       }},
  };
  for (const auto& [key, value] : root->entries) {
    const auto reader = readers.find(key.text);
    if (reader == readers.end()) {
      const std::vector<std::string> names = names_of(readers);
      fail_at(key.place, "a plan has no '" + key.text + "'; allowed: " + listed(names) + nearest_hint(key.text, names));
    }
    reader->second(*value);
  }
  if (!has_sweep) fail_at(root->place, "sweep is missing; allowed: a list of entries with problem and method");
  if (plan.name.empty()) plan.name = std::filesystem::path(file).stem().string();
  return plan;
}

Plan read_plan(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw InputError(path.string() + ": is a directory; give a plan file");
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > max_plan_bytes) {
    throw InputError(path.string() + ": has " + std::to_string(size) + " bytes; a plan has at most " + std::to_string(max_plan_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf() || size == 0)) {
    throw InputError(path.string() + ": the plan cannot be read: " + std::strerror(errno));
  }
  return parse_plan(text.str(), path.string());
}

}  // namespace gaussweep::io
