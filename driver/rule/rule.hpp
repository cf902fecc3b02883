#pragma once
/// A rule chooses the method for a problem of given sizes on a given device. It is learned from records of
/// trials. A rule consists of parts, one or several per problem and device. A part has boxes: ranges of sizes
/// (batch, right-hand sides, n) for which it chooses one method. docs/rule.md describes rules for users.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/records/results.hpp"

namespace gaussweep::driver {

/// The wildcard name in a rule: it matches every name in a Question.
inline constexpr const char* any_name = "*";

/// A task for which a program needs a method.
struct Question {
  std::string problem, device;
  std::string precision, uplo;
  std::string matrix;  ///< kind or file name
  std::int64_t n = 0, nrhs = 1, batch = 1;
};

/// A method and its parameters (a JSON object as text, as in records).
struct MethodChoice {
  std::string method, parameters = "{}";
  /// Returns the method and its parameters as people read them, for example "batched kernel=rows".
  std::string text() const;
};
inline bool operator==(const MethodChoice& a, const MethodChoice& b) {
  return a.method == b.method && a.parameters == b.parameters;
}
inline bool operator!=(const MethodChoice& a, const MethodChoice& b) {
  return !(a == b);
}

/// An inclusive range of sizes.
struct SizeRange {
  std::int64_t from = 0, to = 0;
  bool has(std::int64_t size) const { return from <= size && size <= to; }
};
inline bool operator==(const SizeRange& a, const SizeRange& b) {
  return a.from == b.from && a.to == b.to;
}
/// The range for an axis that the problem does not have (such as nrhs of an inversion). It contains every
/// size.
inline constexpr SizeRange any_size{0, INT32_MAX};

/// Another method that a program could use in a box instead of the chosen one. `least` and `most` are the
/// smallest and the largest ratio of its time to the chosen method's time over the tasks measured in the box.
struct Alternative {
  MethodChoice choice;
  double least = 1, most = 1;
};

/// A box of sizes for which a rule has one choice.
struct Box {
  SizeRange batch = any_size, nrhs = any_size, n = any_size;
  MethodChoice choice;
  std::int64_t measured_tasks = 0;        ///< measured tasks in the box; 0: all of its times are interpolated
  double mean = 0, worst = 0;             ///< the regret in these tasks: time / least time - 1
  std::vector<Alternative> alternatives;  ///< the other methods whose times are known at all sizes of the box
  bool has(const Question& q) const { return batch.has(q.batch) && nrhs.has(q.nrhs) && n.has(q.n); }
};

/// The precision, triangle (uplo) and matrix kind for which the boxes of a RulePart hold. `any_name` stands
/// for every value.
struct RuleNames {
  std::string precision, uplo, matrix;
};
inline bool operator==(const RuleNames& a, const RuleNames& b) {
  return a.precision == b.precision && a.uplo == b.uplo && a.matrix == b.matrix;
}

/// A part of a rule: the boxes of a problem on a device, for some combinations of names. The boxes are
/// disjoint.
struct RulePart {
  std::string problem, device;
  std::vector<RuleNames> names;
  std::vector<Box> boxes;
  bool covers(const Question& question) const;
};

/// The choices that were learned, and their origin.
struct Rule {
  /// The origin: program, runs, devices with their drivers, tolerance, methods.
  nlohmann::ordered_json provenance = nlohmann::ordered_json::object();
  std::vector<RulePart> parts;
  /// Returns the box that answers a question; null if no box does, because nothing was measured for it.
  const Box* find(const Question& question) const;
};

/// Relative difference up to which two times count as equal, as in `compare`.
inline constexpr double usual_tolerance = 0.02;

/// Returns a rule with few boxes. The choice of a box must be among the best methods at every size in the
/// box. The best methods are those that passed and meet one of these conditions:
/// - the time is within `tolerance` of the least time;
/// - it is within 10 % of the least time, and the interquartile ranges overlap;
/// - it is within 30 % of the least time, and the CUDA graph replays take equally long, so that only launch
///   overhead differs.
/// If a vendor library's method is among the best, it is chosen; otherwise the fastest one is. Combinations
/// of precision, triangle and matrix share a part if the rule then has fewer boxes.
/// @throws UsageError if no record has a time
Rule learn_rule(const io::Results& results, double tolerance = usual_tolerance);

nlohmann::ordered_json to_json(const Rule& rule);
/// Converts a rule from JSON. @param source names the file in errors @throws io::InputError if the JSON is
/// not a rule
Rule rule_from_json(const nlohmann::ordered_json& json, const std::string& source);
/// Reads the file rule.json, or the one in a directory. @throws io::InputError
Rule read_rule(const std::filesystem::path& path);

/// Returns the text of rule.h, a header for C89 and C++ with one function per problem.
std::string c_header(const Rule& rule);
/// Returns the text of rule.py, a module for Python 3.
std::string python_module(const Rule& rule);

/// Checks the directory that the option -o names before any work is done.
/// @throws UsageError if it is a file, holds other files than a rule's, or holds a rule and `force` is false
void check_rule_directory(const std::filesystem::path& directory, bool force);
/// Writes a directory with rule.json, rule.h and rule.py. The directory gets its name only when it is
/// complete; a directory with another rule is replaced.
/// @throws UsageError if `directory` is a file or holds other files than a rule's @throws io::StorageError
void write_rule(const std::filesystem::path& directory, const Rule& rule);

}  // namespace gaussweep::driver
