#pragma once
/// How tables name a trial: by what tells it from the others there.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/base/table.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

/// How people are told which matrix it is: by its label, and those parameters in which the matrices of that
/// label differ among some records.
class MatrixNames {
 public:
  explicit MatrixNames(const std::vector<const io::Record*>& records);
  std::string of(const io::Record& record) const;

 private:
  /// By label and parameters as JSON.
  std::map<std::pair<std::string, std::string>, std::string> names_;
};

/// How people are told trials' parameters: by those in which some trials differ. What all that have a
/// parameter agree in is said once.
class ParameterNames {
 public:
  /// @param parameters of each trial, as JSON
  explicit ParameterNames(const std::vector<std::string>& parameters);
  explicit ParameterNames(const std::vector<const io::Record*>& records);
  /// "blocks=4"
  std::string of(const std::string& parameters) const;
  /// "threads=0 preparation=none"; empty of one trial, which says its own.
  const std::string& common() const { return common_; }

 private:
  std::map<std::string, std::string> names_;  ///< by parameters as JSON
  std::string common_;
};

/// What a table is for: data (CSV, JSON) has every column; people are spared those that say the same
/// everywhere.
enum class Reader { person, program };

/// The columns that name trials in a table.
class TrialColumns {
 public:
  /// @param records all that the table is to name
  TrialColumns(const std::vector<const io::Record*>& records, Reader reader);
  std::vector<Column> columns() const;
  std::vector<Cell> cells(const io::Record& record) const;
  /// What else holds for all of them, for people.
  const std::string& common() const { return common_; }

 private:
  struct Part {
    Column column;
    std::function<Cell(const io::Record&)> cell;
  };
  std::vector<Part> parts_;
  std::string common_;
};

/// What of a trial's name varies among records, so that people must be told.
struct Varying {
  explicit Varying(const std::vector<const io::Record*>& records);
  bool nrhs = false;   ///< some have more than one right-hand side
  bool batch = false;  ///< some are batches
  bool seed = false;
  std::set<std::string> conditions;  ///< settings in which some differ from others (io/plan/settings.hpp)
  bool round = false;                ///< some trials were done in several rounds
  std::set<std::string> uplo;        ///< the problems that have both triangles
};

}  // namespace gaussweep::driver
