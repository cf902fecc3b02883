#pragma once
/// Tables of the commands: one set of cells, shown for people, as CSV, or as JSON.

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace gaussweep::driver {

/// An empty cell, text, a whole number, or a number (NaN is empty to people and in CSV, null in JSON).
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// How a column's numbers are shown to people. CSV and JSON always carry the number itself, in base units.
enum class Style {
  plain,       ///< 4 significant digits
  seconds,     ///< "1.23 ms"
  percent,     ///< a share: 0.5 is "50.0%"
  bytes,       ///< "1.5 GiB"
  scientific,  ///< "1.2e-16"
  factor       ///< "2.50x"
};

/// What stands above a column, and how its cells are shown.
struct Column {
  std::string name;   ///< in CSV and JSON
  std::string title;  ///< to people
  Style style = Style::plain;
};

/// What a command shows.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as long as `columns`
  /// How many columns, the first ones, tell one row from another: where the width is too small they become
  /// one, but none is left out.
  std::size_t naming = 1;
  /// Names of others: left out to people in this order where the width is too small for all. What goes
  /// together is one text: "low high".
  std::vector<std::string> spare{};
  /// What else holds for all rows, for people: "threads=0".
  std::string common{};
};

/// What a command prints.
enum class Format { table, csv, json };

/// "table", "csv" or "json". @throws UsageError
Format parse_format(const std::string& text);

/// A cell as people read it, by itself: "1.23 ms".
std::string to_text(const Cell& cell, Style style);

/// A width that nothing exceeds: of a file, or of a pipe.
constexpr std::size_t any_width = static_cast<std::size_t>(-1);

/// Aligned columns under their titles. Text is as `printable` shows it, numbers are to the right, points one
/// below the other. Seconds and bytes of a column have one unit, in its title. A column without any value is
/// left out; one whose several rows all agree is said once, before all ("All rows: …"). A table wider than
/// `width` has long texts on several lines. It then loses spare columns (said below it), or has its naming
/// columns in one. The last line ends with a newline; a table without rows is empty.
std::string render_text(const Table& table, std::size_t width);
/// A row of CSV, with the end of its line.
std::string csv_line(const std::vector<Cell>& cells);
/// A row as a JSON object, fields in the columns' order.
nlohmann::ordered_json json_row(const std::vector<Column>& columns, const std::vector<Cell>& cells);
/// CSV after RFC 4180, with a header line; numbers so that they read back exactly.
std::string render_csv(const Table& table);
/// An array with an object a row, fields in the columns' order.
nlohmann::ordered_json render_json(const Table& table);

/// A number as JSON: NaN is null, the infinities are "inf" and "-inf".
nlohmann::ordered_json number_json(double value);

/// JSON as commands print it: indented by 2, what is not UTF-8 replaced, no newline at its end.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace gaussweep::driver
