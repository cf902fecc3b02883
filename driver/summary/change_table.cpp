#include "driver/summary/change_table.hpp"

#include <vector>

namespace gaussweep::driver {

Table change_table(const Verification& verification, Reader reader) {
  // All records, so that the names of changed trials are unique among them.
  std::vector<const io::Record*> all;
  for (const io::Record& record : verification.records) all.push_back(&record);
  const TrialColumns trial(all, reader);
  Table table;
  table.columns = trial.columns();
  const std::vector<Column> added = {{"residual_ratio", "RATIO", Style::scientific},
                                     {"tolerance", "TOLERANCE"},
                                     {"old_status", "WAS"},
                                     {"status", "IS"}};
  // For programs, the columns that identify the trial already contain the key.
  const bool with_key = reader == Reader::person;
  table.columns.insert(table.columns.end(), added.begin(), added.end());
  if (with_key) table.columns.push_back({"key", "KEY"});
  for (const std::size_t i : verification.changed) {
    const io::Record& r = verification.records[i];
    std::vector<Cell>& row = table.rows.emplace_back(trial.cells(r));
    for (Cell& cell :
         std::vector<Cell>{r.residual_ratio, r.tolerance, verification.old_statuses[i], r.status})
      row.push_back(std::move(cell));
    if (with_key) row.emplace_back(r.key);
  }
  table.naming = trial.columns().size();
  table.common = trial.common();
  table.spare = {"key"};
  return table;
}

}  // namespace gaussweep::driver
