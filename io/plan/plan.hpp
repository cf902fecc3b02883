#pragma once
/// A parsed plan: values with their locations in the file. The driver interprets the values (for example, it
/// checks that a method exists) and uses the locations in its error messages.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/plan/plan_values.hpp"
#include "io/plan/settings.hpp"

namespace gaussweep::io {

/// One entry of the plan's list `sweep`. An axis is a size, property or parameter with the values that it
/// takes. Each combination of problem, method, matrix and axis values is a trial: one method on one input.
struct Entry {
  Scalar problem;
  std::vector<std::string> problems;  ///< all values that the key `problem` has
  std::vector<Scalar> methods;        ///< names, globs and "all", as written
  std::map<std::string, Axis> axes;   ///< n, m, k, nrhs, uplo, precision, seed, and any parameter
  /// Groups of axes of equal length that vary together: a trial uses the i-th value of each axis of a group.
  std::vector<std::map<std::string, Axis>> zips;
  std::vector<Exclude> excludes;
  std::vector<MatrixBlock> matrices;  ///< from the entry, else from the plan, else the default
  std::optional<MatrixBlock> matrix_b;
  std::map<std::string, std::pair<Location, std::vector<Scalar>>> expect;  ///< method → statuses
  Settings settings;  ///< those of the plan, overridden by those of the entry
  Location location;
};

/// A plan: its name, settings and entries.
struct Plan {
  std::string text;  ///< the contents of the file
  std::string file;
  std::string name;
  std::vector<Scalar> precision;      ///< default: double
  Settings settings;                  ///< the defaults of the entries
  std::optional<double> store_limit;  ///< maximum bytes of the run directory's matrices; infinity: no limit
  std::vector<Scalar> libraries;      ///< paths of shared libraries with more methods
  std::vector<Entry> sweep;
};

/// Returns the reserved keys of an entry of `sweep`; every other key is an axis or a parameter.
const std::vector<std::string>& reserved_entry_keys();

/// Read a plan from a file (read_plan) or from its text (parse_plan, where `file` is used in messages).
/// @throws InputError "file:line:column: …": not YAML, unknown key (with the nearest known key), wrong type,
/// number out of range, empty sweep, empty list, unequal zip.
/// @param problems the names of all problems (io does not depend on the registry)
Plan read_plan(const std::filesystem::path& path, const std::vector<std::string>& problems);
Plan parse_plan(const std::string& text, const std::string& file, const std::vector<std::string>& problems);

/// A reserved key of a plan or of an entry.
struct PlanKey {
  std::string name;
  std::string schema_definition;  ///< the name of its value's definition in the JSON schema
  std::string help;               ///< its purpose
};
std::vector<PlanKey> keys_of_plan();
std::vector<PlanKey> keys_of_entry();

}  // namespace gaussweep::io
