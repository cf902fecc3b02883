#pragma once
/// The table columns that identify a trial among the others.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/base/table.hpp"
#include "io/records/record.hpp"

namespace gaussweep::driver {

std::vector<const io::Record*> pointers_to(const std::vector<io::Record>& records);

/// Short names of matrices: the label, the parameters that differ between matrices with this label in the
/// given records, and `condition`, which decides whether an answer can be right.
class MatrixNames {
 public:
  explicit MatrixNames(const std::vector<const io::Record*>& records);
  std::string of(const io::Record& record) const;

 private:
  /// By label and parameters (as JSON).
  std::map<std::pair<std::string, std::string>, std::string> names_;
};

/// Short texts for the parameters of trials: the parameters whose values differ between the given trials.
/// Parameters with one value in all trials that have them are in `common`.
class ParameterNames {
 public:
  /// @param parameters of each trial, as JSON
  explicit ParameterNames(const std::vector<std::string>& parameters);
  explicit ParameterNames(const std::vector<const io::Record*>& records);
  /// Returns the differing parameters, "blocks=4".
  std::string of(const std::string& parameters) const;
  /// Returns the parameters that all trials share, "threads=0 preparation=none"; empty if there is only one
  /// trial, whose parameters `of` returns.
  std::string common() const;
  /// Returns the shared parameters that at least one of the records has.
  std::string common(const std::vector<const io::Record*>& records) const;

 private:
  std::map<std::string, std::string> names_;  ///< by parameters (as JSON)
  nlohmann::ordered_json common_ = nlohmann::ordered_json::object();
};

/// The reader of a table. Programs (CSV, JSON) get all columns; persons do not get columns with equal values
/// in all rows.
enum class Reader { person, program };

/// The columns that identify trials in a table.
class TrialColumns {
 public:
  /// @param records all records of the table
  TrialColumns(const std::vector<const io::Record*>& records, Reader reader);
  std::vector<Column> columns() const;
  /// Returns a table with these columns as naming columns, and no rows.
  Table table() const;
  /// Returns such a table for `shown`, a part of the records, with the parameters that they share.
  Table table(const std::vector<const io::Record*>& shown) const;
  std::vector<Cell> cells(const io::Record& record) const;

 private:
  struct Part {
    Column column;
    std::function<Cell(const io::Record&)> cell;
  };
  std::vector<Part> parts_;
  std::shared_ptr<const ParameterNames> settings_;  ///< for persons
};

/// The columns in which records differ, so that a table for persons shows them.
struct Varying {
  explicit Varying(const std::vector<const io::Record*>& records);
  bool nrhs = false;   ///< true if some have more than one right-hand side
  bool batch = false;  ///< true if some are batches
  bool seed = false;
  std::set<std::string> conditions;  ///< names of settings with different values (io/plan/settings.hpp)
  bool round = false;                ///< true if some trials ran in several rounds
  std::set<std::string> uplo;        ///< problems with both triangles
};

/// Names trials briefly: "gesv/lapack double n=64 host blocks=4". A name has the right-hand sides, batch,
/// triangle, matrix, seed and conditions if the given records differ by them.
class TrialNames {
 public:
  explicit TrialNames(const std::vector<const io::Record*>& records);
  std::string of(const io::Record& record) const;

 private:
  Varying varying_;
  MatrixNames matrices_;
  std::map<std::string, std::set<std::string>> matrices_of_;  ///< names, by problem
};

}  // namespace gaussweep::driver
