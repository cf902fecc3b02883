#pragma once
/// The plan as written: values with the location they stand at. What they mean (does this method exist?) is
/// decided in the driver, which reports with the same places.

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

/// One entry of `sweep:`.
struct Entry {
  Scalar problem;
  std::vector<Scalar> methods;                    ///< as written: names, globs, "all"
  std::map<std::string, Axis> axes;               ///< n, m, k, nrhs, uplo, precision, seed, and any parameter
  std::vector<std::map<std::string, Axis>> zips;  ///< each: axes of equal length that go together
  std::vector<Exclude> excludes;
  std::vector<MatrixBlock> matrices;  ///< its own, the plan's, or the default
  std::optional<MatrixBlock> matrix_b;
  std::map<std::string, std::pair<Location, std::vector<Scalar>>> expect;  ///< method → statuses
  Settings settings;                                                       ///< the plan's, and its own
  Location location;
};

struct Plan {
  std::string text;  ///< the file as it was read
  std::string file;
  std::string name;
  std::vector<Scalar> precision;      ///< default: double
  Settings settings;                  ///< for entries that say nothing else
  std::optional<double> store_limit;  ///< most bytes in the run directory's matrices; infinity: none
  std::vector<Entry> sweep;
};

/// The fixed words of an entry of `sweep`; every other key is an axis or a parameter.
const std::vector<std::string>& entry_words();

/// Reads a plan. @throws InputError "file:line:column: …": not YAML, unknown key (with the nearest), wrong
/// type, bad range, empty sweep, empty list, unequal zip.
/// @param problems the names of all problems: this room knows none
Plan read_plan(const std::filesystem::path& path, const std::vector<std::string>& problems);
Plan parse_plan(const std::string& text, const std::string& file, const std::vector<std::string>& problems);

/// A fixed word of a plan or of an entry.
struct PlanKey {
  std::string name;
  std::string shape;  ///< of its value: a definition of the schema
  std::string help;   ///< what it is for
};
std::vector<PlanKey> keys_of_plan();
std::vector<PlanKey> keys_of_entry();

}  // namespace gaussweep::io
