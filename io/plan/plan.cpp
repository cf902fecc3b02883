/// Reads the keys of a plan and of its entries. The tables of keys also define the JSON schema.

#include "io/plan/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "io/plan/mistakes.hpp"
#include "io/plan/plan_parts.hpp"

namespace gaussweep::io {
namespace {

using Kind = YamlNode::Kind;
using KeyReader = std::function<void(const YamlNode&)>;

/// The reader of a key's value, its definition in plan_schema.cpp, and its help text.
struct Key {
  KeyReader read;
  const char* schema_definition;
  const char* help;
};
using Keys = std::map<std::string, Key>;

using Problems = std::vector<std::string>;

std::string listed(const Problems& problems) {
  std::string all;
  for (const std::string& problem : problems) all += (all.empty() ? "" : ", ") + problem;
  return all;
}

std::vector<std::string> names_of(const Keys& keys) {
  std::vector<std::string> names;
  for (const auto& [name, key] : keys) names.push_back(name);
  return names;
}

std::vector<PlanKey> plan_keys_of(const Keys& keys) {
  std::vector<PlanKey> all;
  for (const auto& [name, key] : keys) all.push_back({name, key.schema_definition, key.help});
  return all;
}

/// Throws unless a mapping is not empty and its keys are names of problems.
void require_problems(const YamlNode& node, const std::string& key, const Problems& problems) {
  if (node.entries.empty()) fail_at(node.location, key + " is empty; allowed: one number per problem");
  for (const auto& [problem, value] : node.entries) require_word(problem, problems, key + ": no problem");
}

/// Adds the keys that a plan and its entries have in common. An entry is an element of the plan's list
/// `sweep`.
void add_settings(Keys& keys, Settings& settings, const Problems& problems) {
  for (const Setting& setting : all_settings()) {
    const auto read = [&](const YamlNode& v) {
      if (setting.by_problem && v.kind == Kind::map) require_problems(v, setting.name, problems);
      setting.read(v, settings);
    };
    keys[setting.name] = {read, setting.name, setting.help};
  }
}

/// Returns the reserved keys of an entry with their readers. Every other key is an axis.
Keys entry_keys(Entry& entry, const Problems& problems, RangeBudget& budget) {
  Keys keys = {
      {"problem",
       {[&](const YamlNode& v) { entry.problem = scalar_of(v, "problem"); }, "problem",
        "the name of a problem, or a list of names"}},
      {"method",
       {[&](const YamlNode& v) { entry.methods = scalars_of(v, "method"); }, "methods",
        "a variant, problem/variant, a glob, a list of these, or all"}},
      {"matrix",
       {[&](const YamlNode& v) { entry.matrices = matrices_of(v, "matrix"); }, "matrices",
        "the matrix, or several"}},
      {"matrix_b",
       {[&](const YamlNode& v) {
          const std::vector<MatrixBlock> blocks = matrices_of(v, "matrix_b");
          if (blocks.size() > 1) fail_at(v.location, "matrix_b gives several matrices; allowed: one");
          entry.matrix_b = blocks.front();
        },
        "matrix", "gemm: B"}},
      {"zip",
       {[&](const YamlNode& v) { entry.zips = zips_of(v, budget); }, "zips",
        "axes that vary together instead of being combined"}},
      {"exclude",
       {[&](const YamlNode& v) { entry.excludes = excludes_of(v); }, "excludes", "trials to leave out"}},
      {"expect",
       {[&](const YamlNode& v) { entry.expect = expect_of(v); }, "expect",
        "expected statuses, by method or glob: they are results, not failures"}},
  };
  add_settings(keys, entry.settings, problems);
  return keys;
}

/// Throws if an axis is given twice.
void check_axes_once(const Entry& entry) {
  std::set<std::string> named;
  for (const auto& [name, axis] : entry.axes) named.insert(name);
  for (const auto& zip : entry.zips) {
    for (const auto& [name, axis] : zip) {
      if (!named.insert(name).second) {
        fail_at(axis.location,
                name + " is given twice, as an axis and in zip, or in two zips; allowed: once");
      }
    }
  }
}

/// Returns a hint if a key of the entry may be a misspelling of the missing key `word`; else "". Example for
/// `method`: "; is 'methods' at line 7 meant to be it?"
std::string misspelling_hint(const Entry& entry, const std::string& word) {
  for (const auto& [name, axis] : entry.axes) {
    if (nearest_hint(name, {word}).empty()) continue;
    return "; is '" + name + "' at line " + std::to_string(axis.location.line) + " meant to be it?";
  }
  return {};
}

/// The values of keys whose list stands for several entries, such as `cache: [warm, cold]`. In a plan or an
/// entry, a value is the whole list. In a result of combinations_of, it is one element of the list.
using Combination = std::map<std::string, YamlPointer>;

/// Returns true if the value is a list that stands for one entry per value. These are lists of problems and
/// of conditions of measurement (`cache`, `host_memory`). The list of an axis gives trials of the same entry.
/// @throws InputError if such a list is empty
bool multiplies_entries(const std::string& key, const YamlNode& value) {
  const bool multiplies = key == "problem" || std::any_of(all_settings().begin(), all_settings().end(),
                                                          [&](const Setting& setting) {
                                                            return setting.name == key && setting.condition;
                                                          });
  if (!multiplies || value.kind != Kind::sequence) return false;
  if (value.items.empty()) fail_at(value.location, key + " is an empty list; allowed: at least one value");
  return true;
}

/// Returns all combinations of the lists of an entry.
/// @param common lists of the plan; an entry's own value of a key replaces the plan's list
std::vector<Combination> combinations_of(const YamlNode& node, const Combination& common) {
  constexpr std::size_t max_entries = 100;
  Combination lists = common;
  for (const auto& [key, value] : node.entries) {
    lists.erase(key.text);
    if (multiplies_entries(key.text, *value)) lists[key.text] = value;
  }
  std::vector<Combination> combinations(1);
  for (const auto& [key, list] : lists) {
    if (list->items.size() > max_entries / combinations.size())
      fail_at(list->location,
              key + ": the lists stand for too many entries; allowed: " + std::to_string(max_entries));
    std::vector<Combination> extended;
    for (const Combination& combination : combinations) {
      for (const YamlPointer& item : list->items) {
        extended.push_back(combination);
        extended.back()[key] = item;
      }
    }
    combinations = std::move(extended);
  }
  return combinations;
}

/// Reads one entry of `sweep`. `combination` has the value of each key whose list stands for several entries.
Entry entry_of(const YamlNode& node, const Combination& combination, const Settings& common,
               const Problems& problems, RangeBudget& budget, Mistakes& mistakes) {
  Entry entry;
  entry.location = node.location;
  entry.settings = common;
  const Keys keys = entry_keys(entry, problems, budget);
  bool is_complete = true;  // false once a key is missing or its value is wrong
  for (const auto& [key, value] : combination)
    is_complete =
        mistakes.attempt([&, &name = key, &one = value] { keys.at(name).read(*one); }) && is_complete;
  for (const auto& [key, value] : node.entries) {
    if (key.text == "problem") {
      for (const YamlPointer& item : value->items) entry.problems.push_back(item->text);
    }
    if (combination.count(key.text) > 0) continue;
    const auto reserved_key = keys.find(key.text);
    const auto read = [&, &name = key, &node_of = value] {
      if (reserved_key != keys.end()) return reserved_key->second.read(*node_of);
      // The key is not reserved, so it is an axis. The driver checks if the methods have it, because io does
      // not depend on the registry.
      if (node_of->kind == Kind::map && !has_backends(name.text)) {
        fail_at(node_of->location,
                name.text + " is " + kind_text(*node_of) + "; " + nearest_hint(name.text, names_of(keys)) +
                    "allowed: a value or a list (only n, m and k may differ by backend or GPU)");
      }
      entry.axes.emplace(name.text, axis_of(name, *node_of, budget));
    };
    is_complete = mistakes.attempt(read) && is_complete;
  }
  const auto require = [&](const std::string& name, const std::string& allowed) {
    const auto has_this_name = [&](const auto& written) { return written.first.text == name; };
    if (std::any_of(node.entries.begin(), node.entries.end(), has_this_name)) return;
    is_complete = false;
    mistakes.attempt([&] {
      fail_at(node.location, name + " is missing in this entry of sweep; allowed: " + allowed +
                                 misspelling_hint(entry, name));
    });
  };
  require("problem", listed(problems));
  require("method", "a method, a list, a glob, or all");
  if (!is_complete) return entry;
  if (entry.problems.empty()) entry.problems = {entry.problem.text};
  check_axes_once(entry);
  return entry;
}

/// Reads all entries of sweep. @throws InputError with all mistakes
std::vector<Entry> sweep_of(const YamlNode& node, const Combination& lists, const Settings& common,
                            const Problems& problems, RangeBudget& budget) {
  if (node.kind != Kind::sequence) fail_kind(node, "sweep", "a list of entries");
  if (node.items.empty())
    fail_at(node.location, "sweep is empty; allowed: at least one entry with problem and method");
  std::vector<Entry> sweep;
  Mistakes mistakes;
  for (const YamlPointer& item : node.items) {
    mistakes.attempt([&] {
      if (item->kind != Kind::map)
        fail_kind(*item, "an entry of sweep", "a mapping with problem, method and sizes");
      for (const Combination& combination : combinations_of(*item, lists)) {
        mistakes.attempt(
            [&] { sweep.push_back(entry_of(*item, combination, common, problems, budget, mistakes)); });
      }
    });
  }
  mistakes.refuse();
  return sweep;
}

/// Values of the plan's keys for entries that lack these keys.
struct Common {
  Combination lists;
  std::vector<MatrixBlock> matrices;
  std::optional<Scalar> store;

  /// Adds the plan's matrices and its `store` to an entry that lacks them; the default matrix is `uniform`.
  void complete(Entry& entry) const {
    if (entry.matrices.empty()) entry.matrices = matrices;
    if (entry.matrices.empty()) entry.matrices = {{{{"kind", {"uniform", entry.location}}}, entry.location}};
    if (!store) return;
    for (MatrixBlock& block : entry.matrices) block.values.emplace("store", *store);
    if (entry.matrix_b) entry.matrix_b->values.emplace("store", *store);
  }
};

/// Returns the reserved keys of a plan.
Keys plan_keys(Plan& plan, Common& common, const Problems& problems, RangeBudget& budget) {
  Keys keys = {
      {"name",
       {[&](const YamlNode& v) { plan.name = scalar_of(v, "name").text; }, "text", "in results and reports"}},
      {"precision",
       {[&](const YamlNode& v) {
          plan.precision = axis_of({"precision", v.location}, v, budget).values;
        },
        "precision", "of the operands and of the arithmetic"}},
      {"matrix",
       {[&](const YamlNode& v) { common.matrices = matrices_of(v, "matrix"); }, "matrices",
        "the matrix, or several"}},
      {"store",
       {[&](const YamlNode& v) { common.store = always_or_never(v, "store"); }, "always_or_never",
        "whether matrices are kept in the run directory"}},
      {"store_limit",
       {[&](const YamlNode& v) {
          plan.store_limit = parse_bytes(scalar_of(v, "store_limit"), "store_limit");
        },
        "bytes", "most bytes of stored matrices, or none"}},
      {"libraries",
       {[&](const YamlNode& v) { plan.libraries = scalars_of(v, "libraries"); }, "libraries",
        "shared libraries with more methods: a path, or a list, relative to the plan"}},
      {"sweep",
       {[&](const YamlNode& v) { plan.sweep = sweep_of(v, common.lists, plan.settings, problems, budget); },
        "sweep", "the entries: each stands for all combinations of its lists"}},
  };
  add_settings(keys, plan.settings, problems);
  return keys;
}

}  // namespace

const std::vector<std::string>& reserved_entry_keys() {
  static const std::vector<std::string> words = [] {
    Entry entry;
    RangeBudget budget;
    const Problems none;
    return names_of(entry_keys(entry, none, budget));
  }();
  return words;
}

std::vector<PlanKey> keys_of_plan() {
  Plan plan;
  Common common;
  RangeBudget budget;
  const Problems none;
  return plan_keys_of(plan_keys(plan, common, none, budget));
}

std::vector<PlanKey> keys_of_entry() {
  Entry entry;
  RangeBudget budget;
  const Problems none;
  return plan_keys_of(entry_keys(entry, none, budget));
}

Plan parse_plan(const std::string& text, const std::string& file, const Problems& problems) {
  const YamlPointer root = parse_yaml(text, file);
  if (root == nullptr || root->kind != Kind::map) {
    fail_at(root == nullptr ? Location{file, 1, 1} : root->location,
            "this is no plan; allowed: a mapping with name and sweep (README.md shows one)");
  }
  Plan plan;
  plan.text = text;
  plan.file = file;
  plan.precision = {{"double", {file, 0, 0}}};
  RangeBudget budget;
  Common common;
  const Keys keys = plan_keys(plan, common, problems, budget);
  Mistakes mistakes;
  // Entries are read last, because they start from the plan's settings.
  for (const bool is_sweep : {false, true}) {
    for (const auto& [key, value] : root->entries) {
      if ((key.text == "sweep") != is_sweep) continue;
      mistakes.attempt([&, &word = key, &node = value] {
        require_word(word, names_of(keys), "a plan has no");
        if (word.text != "problem" && multiplies_entries(word.text, *node)) {
          common.lists[word.text] = node;
        } else {
          keys.at(word.text).read(*node);
        }
      });
    }
  }
  mistakes.refuse();
  for (Entry& entry : plan.sweep) common.complete(entry);
  if (plan.sweep.empty())
    fail_at(root->location, "sweep is missing; allowed: a list of entries with problem and method");
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
  // Reads at most the limit and one byte, whatever the file's size: it may be a pipe, or endless.
  std::string text(max_plan_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw InputError(path.string() + ": the plan cannot be read: " + std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_plan(text, path.string(), problems);
}

}  // namespace gaussweep::io
