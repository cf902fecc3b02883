#pragma once
/// Table columns and short names that distinguish a trial from the others in a table. A trial is one method
/// on one matrix; a record is its stored result.

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

/// Short names of matrices. A name has the label (kind or file name), the parameters that differ between the
/// given matrices with this label, and the parameter `condition`. The condition number is always shown,
/// because it limits the accuracy of an answer.
class MatrixNames {
 public:
  explicit MatrixNames(const std::vector<const io::Record*>& records);
  std::string of(const io::Record& record) const;

 private:
  /// By label and parameters (as JSON).
  std::map<std::pair<std::string, std::string>, std::string> names_;
};

/// Short texts for the parameters of trials. A text has only the parameters whose values differ between the
/// given trials. `common` has the parameters with one value in all trials that have the parameter.
class ParameterNames {
 public:
  /// @param parameters the parameters of each trial, as JSON
  explicit ParameterNames(const std::vector<std::string>& parameters);
  explicit ParameterNames(const std::vector<const io::Record*>& records);
  /// Returns the given parameters whose values differ between the trials: "blocks=4".
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

/// The reader of a table. Programs (CSV, JSON) get all columns. Persons do not get columns that would have
/// the same value in all rows (see NeededColumns).
enum class Reader { person, program };

/// The columns that identify trials in a table.
class TrialColumns {
 public:
  /// @param records all records of the table
  TrialColumns(const std::vector<const io::Record*>& records, Reader reader);
  std::vector<Column> columns() const;
  /// Returns a table with these columns as key columns, and no rows.
  Table table() const;
  /// Returns the same table, but Table::common then has only the parameters of the records in `shown`.
  Table table(const std::vector<const io::Record*>& shown) const;
  std::vector<Cell> cells(const io::Record& record) const;

 private:
  struct Part {
    Column column;
    std::function<Cell(const io::Record&)> cell;
  };
  std::vector<Part> parts_;
  std::shared_ptr<const ParameterNames> parameter_names_;  ///< for persons
};

/// The columns that a table for persons needs. A column is needed if a record has another value than the
/// default, or if the records' values differ.
struct NeededColumns {
  explicit NeededColumns(const std::vector<const io::Record*>& records);
  bool nrhs = false;   ///< true if a record has more than one right-hand side
  bool batch = false;  ///< true if a record is of a batch of systems
  bool seed = false;   ///< true if the seeds differ
  /// Names of the settings (io/plan/settings.hpp) whose values differ.
  std::set<std::string> conditions;
  bool round = false;          ///< true if a record is of a round (repetition of the trials) after the first
  std::set<std::string> uplo;  ///< problems with records of both triangles, upper and lower
};

/// Names trials briefly: "gesv/lapack double n=64 host blocks=4". A name also has the number of right-hand
/// sides, batch, triangle, matrix, seed and conditions if NeededColumns says so, or if the matrices differ.
class TrialNames {
 public:
  explicit TrialNames(const std::vector<const io::Record*>& records);
  std::string of(const io::Record& record) const;

 private:
  NeededColumns needed_;
  MatrixNames matrices_;
  std::map<std::string, std::set<std::string>> matrices_of_;  ///< names, by problem
};

}  // namespace gaussweep::driver
