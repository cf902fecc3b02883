/// Converts results to tables of cells, for CSV, JSON and SQLite.

#include "io/records/data_tables.hpp"

#include <algorithm>
#include <map>
#include <type_traits>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "io/records/results_columns.hpp"

namespace gaussweep::io {
namespace {

using Cells = std::vector<DataCell>;
using TakeRow = std::function<void(const Cells&)>;  // a callback that gets the cells of one row

template <class Columns>
std::vector<DataColumn> names_of(const Columns& columns) {
  std::vector<DataColumn> names;
  for (const auto& column : columns) names.push_back({std::string(column.name), std::string(column.unit)});
  return names;
}

// Not inlined, because GCC 12 would then warn of an uninitialised text in rows that have no text column.
template <class Columns, class Row>
[[gnu::noinline]] void append_cells(const Columns& columns, const Row& row, Cells& cells) {
  for (const auto& column : columns) {
    std::visit(
        [&](auto member) {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(row.*member)>>) {
            cells.emplace_back(row.*member);
          } else {
            cells.emplace_back(std::string(row.*member));
          }
        },
        column.member);
  }
}

/// Makes a table. @param each a function that calls its argument with each row
template <class Columns, class Each>
DataTable table_of(const std::string& name, const Columns& columns, Each each) {
  return {name, names_of(columns), [&columns, each](const TakeRow& take_row) {
            Cells cells;
            each([&](const auto& row) {
              cells.clear();
              append_cells(columns, row, cells);
              take_row(cells);
            });
          }};
}

/// Returns a parameter's value as a cell; arrays and objects become their JSON text.
DataCell cell_of(const nlohmann::json& value) {
  if (value.is_number_integer() || value.is_boolean()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A cache: the JSON text of a record's parameters → their cells by name. Many records share one text.
using ParameterCells = std::unordered_map<std::string, std::map<std::string, DataCell>>;

/// Returns the table `records`, with a column per method parameter.
DataTable record_table(const std::vector<Record>& records) {
  ParameterCells parameters;
  // The first pass over the records collects the names of all parameters; then each gets a column.
  std::map<std::string, std::size_t> column_index;
  for (const Record& record : records) {
    const auto [found, is_new] = parameters.try_emplace(std::string(record.parameters));
    const nlohmann::json json =
        is_new ? nlohmann::json::parse(found->first, nullptr, false) : nlohmann::json();
    if (!json.is_object()) continue;
    for (const auto& [name, value] : json.items()) {
      found->second.emplace(name, cell_of(value));
      column_index.emplace(name, 0);
    }
  }
  DataTable table{"records", names_of(record_fields()), {}};
  table.columns.insert(table.columns.begin(), {"trial", ""});
  for (auto& [name, index] : column_index) {
    index = table.columns.size();
    table.columns.push_back({"parameter_" + name, ""});
  }
  table.each_row = [&records, parameters, column_index,
                    width = table.columns.size()](const TakeRow& take_row) {
    Cells cells;
    std::int64_t trial = 0;
    for (const Record& record : records) {
      cells.clear();
      cells.emplace_back(trial++);
      append_cells(record_fields(), record, cells);
      cells.resize(width);
      for (const auto& [name, cell] : parameters.at(std::string(record.parameters)))
        cells[column_index.at(name)] = cell;
      take_row(cells);
    }
  };
  return table;
}

}  // namespace

const std::vector<std::string>& data_table_names() {
  static const std::vector<std::string> names{"records",    "samples", "stages",
                                              "iterations", "devices", "hosts"};
  return names;
}

DataTable data_table(const Results& results, const std::string& name) {
  const auto rows_of = [](const auto& rows) {
    return [&rows](const auto& take_row) { std::for_each(rows.begin(), rows.end(), take_row); };
  };
  const auto& records = results.records;
  if (name == "samples")
    return table_of(name, sample_columns(), [&](const auto& take_row) { each_sample(records, take_row); });
  if (name == "stages")
    return table_of(name, stage_columns(), [&](const auto& take_row) { each_stage(records, take_row); });
  if (name == "iterations")
    return table_of(name, iteration_columns(),
                    [&](const auto& take_row) { each_iteration(records, take_row); });
  if (name == "devices") return table_of(name, device_columns(), rows_of(results.devices));
  if (name == "hosts") return table_of(name, host_columns(), rows_of(results.hosts));
  return record_table(records);
}

}  // namespace gaussweep::io
