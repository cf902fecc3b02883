#include "io/plan/plan.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "io/plan/plan_parts.hpp"

namespace gaussweep::io {
namespace {

using Kind = YamlNode::Kind;
using Reader = std::function<void(const YamlNode&)>;
using Readers = std::map<std::string, Reader>;

using Problems = std::vector<std::string>;

std::string listed(const Problems& problems) {
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : ", ") + problem;
  return all;
}

std::vector<std::string> names_of(const Readers& readers) {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers) names.push_back(name);
  return names;
}

/// The fixed words of an entry, each with what reads its value.
Readers entry_readers(Entry& entry, const Problems& problems, RangeBudget& budget) {
  return {
      {"problem", [&](const YamlNode& v) { entry.problem = scalar_of(v, "problem"); }},
      {"method", [&](const YamlNode& v) { entry.methods = scalars_of(v, "method"); }},
      {"matrix", [&](const YamlNode& v) { entry.matrices = matrices_of(v, "matrix"); }},
      {"matrix_b",
       [&](const YamlNode& v) {
         const std::vector<MatrixBlock> blocks = matrices_of(v, "matrix_b");
         if (blocks.size() > 1) fail_at(v.place, "matrix_b stands for several matrices; allowed: one");
         entry.matrix_b = blocks.front();
       }},
      {"zip", [&](const YamlNode& v) { entry.zips = zips_of(v, budget); }},
      {"exclude", [&](const YamlNode& v) { entry.excludes = excludes_of(v); }},
      {"expect", [&](const YamlNode& v) { entry.expect = expect_of(v); }},
      {"repeats", [&](const YamlNode& v) { entry.repeats = repeats_of(v); }},
      {"warmup", [&](const YamlNode& v) { entry.warmup = warmup_of(v); }},
      {"inner_repeats", [&](const YamlNode& v) { entry.inner_repeats = count_of(v, "inner_repeats", 1); }},
      {"stages", [&](const YamlNode& v) { entry.stages = stages_of(v); }},
      {"timeout", [&](const YamlNode& v) { entry.timeout = timeout_of(v); }},
      {"cache", [&](const YamlNode& v) { entry.cache = cache_of(v); }},
      {"energy", [&](const YamlNode& v) { entry.energy = energy_of(v); }},
      {"rounds", [&](const YamlNode& v) { entry.rounds = rounds_of(v); }},
      {"tolerance", [&](const YamlNode& v) { entry.tolerance = tolerance_of(v, problems); }},
  };
}

void check_axes_once(const Entry& entry) {
  std::set<std::string> named;
  for (const auto& [name, axis] : entry.axes) named.insert(name);
  for (const auto& zip : entry.zips) {
    for (const auto& [name, axis] : zip) {
      if (!named.insert(name).second) {
        fail_at(axis.place, name + " is given twice, as an axis and in zip, or in two zips; allowed: once");
      }
    }
  }
}

/// Where a key may have been meant as `word`, "; is 'methods' at line 7 meant to be it?", else nothing.
std::string miswritten(const Entry& entry, const std::string& word) {
  for (const auto& [name, axis] : entry.axes) {
    if (nearest_hint(name, {word}).empty()) continue;
    return "; is '" + name + "' at line " + std::to_string(axis.place.line) + " meant to be it?";
  }
  return {};
}

Entry entry_of(const YamlNode& node, const Problems& problems, RangeBudget& budget) {
  if (node.kind != Kind::map)
    fail_kind(node, "an entry of sweep", "a mapping with problem, method and sizes");
  Entry entry;
  entry.place = node.place;
  const Readers readers = entry_readers(entry, problems, budget);
  for (const auto& [key, value] : node.entries) {
    const auto reader = readers.find(key.text);
    if (reader != readers.end()) {
      reader->second(*value);
    } else {
      // Not a fixed word, so an axis. Whether the methods know it is decided where the methods are known.
      entry.axes.emplace(key.text, axis_of(key, *value, budget));
    }
  }
  if (entry.problem.text.empty()) {
    fail_at(node.place, "problem is missing in this entry of sweep; allowed: " + listed(problems) +
                            miswritten(entry, "problem"));
  }
  if (entry.methods.empty()) {
    fail_at(node.place,
            "method is missing in this entry of sweep; allowed: a method, a list, a glob, or all" +
                miswritten(entry, "method"));
  }
  check_axes_once(entry);
  return entry;
}

std::vector<Entry> sweep_of(const YamlNode& node, const Problems& problems, RangeBudget& budget) {
  if (node.kind != Kind::sequence) fail_kind(node, "sweep", "a list of entries");
  if (node.items.empty())
    fail_at(node.place, "sweep is empty; allowed: at least one entry with problem and method");
  std::vector<Entry> sweep;
  for (const YamlPointer& item : node.items) sweep.push_back(entry_of(*item, problems, budget));
  return sweep;
}

}  // namespace

const std::vector<std::string>& entry_words() {
  static const std::vector<std::string> words = [] {
    Entry entry;
    RangeBudget budget;
    const Problems none;
    return names_of(entry_readers(entry, none, budget));
  }();
  return words;
}

Plan parse_plan(const std::string& text, const std::string& file, const Problems& problems) {
  const YamlPointer root = parse_yaml(text, file);
  if (root == nullptr || root->kind != Kind::map) {
    fail_at(root == nullptr ? Place{file, 1, 1} : root->place,
            "this is no plan; allowed: a mapping with name and sweep (README.md shows one)");
  }
  const Place nowhere{file, 0, 0};  // of what the plan leaves to its defaults
  Plan plan;
  plan.text = text;
  plan.file = file;
  plan.precision = {{"double", nowhere}};
  plan.repeats = {{"", {"5", nowhere}}};
  plan.warmup = {"1", nowhere};
  plan.inner_repeats = {"1", nowhere};
  plan.stages = {"always", nowhere};
  plan.timeout = {"10min", nowhere};
  plan.cache = {"warm", nowhere};
  plan.energy = {"never", nowhere};
  plan.rounds = {"1", nowhere};
  RangeBudget budget;
  const Readers readers = {
      {"name", [&](const YamlNode& v) { plan.name = scalar_of(v, "name").text; }},
      {"precision",
       [&](const YamlNode& v) {
         plan.precision = axis_of({"precision", v.place}, v, budget).values;
       }},
      {"repeats", [&](const YamlNode& v) { plan.repeats = repeats_of(v); }},
      {"warmup", [&](const YamlNode& v) { plan.warmup = warmup_of(v); }},
      {"inner_repeats", [&](const YamlNode& v) { plan.inner_repeats = count_of(v, "inner_repeats", 1); }},
      {"stages", [&](const YamlNode& v) { plan.stages = stages_of(v); }},
      {"timeout", [&](const YamlNode& v) { plan.timeout = timeout_of(v); }},
      {"cache", [&](const YamlNode& v) { plan.cache = cache_of(v); }},
      {"energy", [&](const YamlNode& v) { plan.energy = energy_of(v); }},
      {"rounds", [&](const YamlNode& v) { plan.rounds = rounds_of(v); }},
      {"tolerance", [&](const YamlNode& v) { plan.tolerance = tolerance_of(v, problems); }},
      {"matrix", [&](const YamlNode& v) { plan.matrices = matrices_of(v, "matrix"); }},
      {"store", [&](const YamlNode& v) { plan.store = always_or_never(v, "store"); }},
      {"store_limit", [&](const YamlNode& v) { plan.store_limit = bytes_scalar_of(v, "store_limit"); }},
      {"sweep", [&](const YamlNode& v) { plan.sweep = sweep_of(v, problems, budget); }},
  };
  for (const auto& [key, value] : root->entries) {
    require_word(key, names_of(readers), "a plan has no");
    readers.at(key.text)(*value);
  }
  if (plan.sweep.empty())
    fail_at(root->place, "sweep is missing; allowed: a list of entries with problem and method");
  if (plan.name.empty()) plan.name = std::filesystem::path(file).stem().string();
  return plan;
}

Plan read_plan(const std::filesystem::path& path, const Problems& problems) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw InputError(path.string() + ": is a directory; give a plan file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path.string() + ": the plan cannot be opened: " + std::strerror(errno));
  // No more than the limit and a byte, whatever the file's size says: it may be a pipe, or endless.
  std::string text(max_plan_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw InputError(path.string() + ": the plan cannot be read: " + std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_plan(text, path.string(), problems);
}

}  // namespace gaussweep::io
