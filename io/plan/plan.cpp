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

/// What stands at a key: how it is read, what it looks like (a definition of plan_schema.cpp), what it is
/// for.
struct Key {
  Reader read;
  const char* shape;
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

std::vector<PlanKey> told(const Keys& keys) {
  std::vector<PlanKey> all;
  for (const auto& [name, key] : keys) all.push_back({name, key.shape, key.help});
  return all;
}

/// The fixed words of an entry.
Keys entry_keys(Entry& entry, const Problems& problems, RangeBudget& budget) {
  return {
      {"problem",
       {[&](const YamlNode& v) { entry.problem = scalar_of(v, "problem"); }, "problem", "what is solved"}},
      {"method",
       {[&](const YamlNode& v) { entry.methods = scalars_of(v, "method"); }, "methods",
        "a variant, problem/variant, a glob, a list of these, or all"}},
      {"matrix",
       {[&](const YamlNode& v) { entry.matrices = matrices_of(v, "matrix"); }, "matrices",
        "the matrix, or several"}},
      {"matrix_b",
       {[&](const YamlNode& v) {
          const std::vector<MatrixBlock> blocks = matrices_of(v, "matrix_b");
          if (blocks.size() > 1) fail_at(v.place, "matrix_b stands for several matrices; allowed: one");
          entry.matrix_b = blocks.front();
        },
        "matrix", "gemm: B"}},
      {"zip",
       {[&](const YamlNode& v) { entry.zips = zips_of(v, budget); }, "zips",
        "axes that go together instead of being multiplied"}},
      {"exclude",
       {[&](const YamlNode& v) { entry.excludes = excludes_of(v); }, "excludes", "trials to leave out"}},
      {"expect",
       {[&](const YamlNode& v) { entry.expect = expect_of(v); }, "expect",
        "statuses that are a finding and no failure, a method or glob each"}},
      {"repeats",
       {[&](const YamlNode& v) { entry.repeats = repeats_of(v); }, "repeats",
        "timed samples a trial, or when there are enough"}},
      {"warmup",
       {[&](const YamlNode& v) { entry.warmup = warmup_of(v); }, "warmup",
        "runs before them that are not timed: a number, or for how long"}},
      {"inner_repeats",
       {[&](const YamlNode& v) { entry.inner_repeats = count_of(v, "inner_repeats", 1); }, "count",
        "runs between two events, for what is shorter than the clock"}},
      {"stages",
       {[&](const YamlNode& v) { entry.stages = stages_of(v); }, "stages",
        "whether stages are measured, and each of their calls"}},
      {"timeout",
       {[&](const YamlNode& v) { entry.timeout = timeout_of(v); }, "duration",
        "of a trial; then its worker is ended"}},
      {"cache",
       {[&](const YamlNode& v) { entry.cache = cache_of(v); }, "cache", "what a sample begins with"}},
      {"host_memory",
       {[&](const YamlNode& v) { entry.host_memory = host_memory_of(v); }, "host_memory",
        "what operands and answer are copied from and to"}},
      {"energy",
       {[&](const YamlNode& v) { entry.energy = energy_of(v); }, "energy",
        "for how long a GPU runs a trial to learn its joules"}},
      {"rounds",
       {[&](const YamlNode& v) { entry.rounds = rounds_of(v); }, "rounds",
        "the trial so many times, each in a fresh process"}},
      {"tolerance",
       {[&](const YamlNode& v) { entry.tolerance = tolerance_of(v, problems); }, "tolerance",
        "most that the judged ratio may be, a problem each; a number multiplies the defaults"}},
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
  const Keys keys = entry_keys(entry, problems, budget);
  for (const auto& [key, value] : node.entries) {
    const auto known = keys.find(key.text);
    if (known != keys.end()) {
      known->second.read(*value);
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

/// The fixed words of a plan.
Keys plan_keys(Plan& plan, const Problems& problems, RangeBudget& budget) {
  // What an entry may say for itself is said for all here, in the same words.
  Entry entry;
  const Keys of_entry = entry_keys(entry, problems, budget);
  const auto as_in_entry = [&](const char* name, Reader read) {
    return std::pair(std::string(name),
                     Key{std::move(read), of_entry.at(name).shape, of_entry.at(name).help});
  };
  Keys keys = {
      {"name",
       {[&](const YamlNode& v) { plan.name = scalar_of(v, "name").text; }, "text", "in results and reports"}},
      {"precision",
       {[&](const YamlNode& v) {
          plan.precision = axis_of({"precision", v.place}, v, budget).values;
        },
        "precision", "of the operands and of the arithmetic"}},
      {"store",
       {[&](const YamlNode& v) { plan.store = always_or_never(v, "store"); }, "always_or_never",
        "whether matrices are kept in the run directory"}},
      {"store_limit",
       {[&](const YamlNode& v) { plan.store_limit = bytes_scalar_of(v, "store_limit"); }, "bytes",
        "most bytes of stored matrices, or none"}},
      {"sweep",
       {[&](const YamlNode& v) { plan.sweep = sweep_of(v, problems, budget); }, "sweep",
        "the entries: each stands for all combinations of its lists"}},
  };
  keys.insert(as_in_entry("repeats", [&](const YamlNode& v) { plan.repeats = repeats_of(v); }));
  keys.insert(as_in_entry("warmup", [&](const YamlNode& v) { plan.warmup = warmup_of(v); }));
  keys.insert(as_in_entry("inner_repeats",
                          [&](const YamlNode& v) { plan.inner_repeats = count_of(v, "inner_repeats", 1); }));
  keys.insert(as_in_entry("stages", [&](const YamlNode& v) { plan.stages = stages_of(v); }));
  keys.insert(as_in_entry("timeout", [&](const YamlNode& v) { plan.timeout = timeout_of(v); }));
  keys.insert(as_in_entry("cache", [&](const YamlNode& v) { plan.cache = cache_of(v); }));
  keys.insert(as_in_entry("host_memory", [&](const YamlNode& v) { plan.host_memory = host_memory_of(v); }));
  keys.insert(as_in_entry("energy", [&](const YamlNode& v) { plan.energy = energy_of(v); }));
  keys.insert(as_in_entry("rounds", [&](const YamlNode& v) { plan.rounds = rounds_of(v); }));
  keys.insert(
      as_in_entry("tolerance", [&](const YamlNode& v) { plan.tolerance = tolerance_of(v, problems); }));
  keys.insert(as_in_entry("matrix", [&](const YamlNode& v) { plan.matrices = matrices_of(v, "matrix"); }));
  return keys;
}

}  // namespace

const std::vector<std::string>& entry_words() {
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
  RangeBudget budget;
  const Problems none;
  return told(plan_keys(plan, none, budget));
}

std::vector<PlanKey> keys_of_entry() {
  Entry entry;
  RangeBudget budget;
  const Problems none;
  return told(entry_keys(entry, none, budget));
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
  plan.host_memory = {"pageable", nowhere};
  plan.energy = {"never", nowhere};
  plan.rounds = {"1", nowhere};
  RangeBudget budget;
  const Keys keys = plan_keys(plan, problems, budget);
  for (const auto& [key, value] : root->entries) {
    require_word(key, names_of(keys), "a plan has no");
    keys.at(key.text).read(*value);
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
