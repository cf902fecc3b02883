#pragma once
/// Tables of the commands: the same cells as aligned text, Markdown, LaTeX, CSV or JSON.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace gaussweep::driver {

/// An empty cell, a text, an integer, or a number. NaN is an empty cell in text and CSV, and null in JSON.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double>;

/// The format of a column's numbers in text. CSV and JSON always have the full number in base units.
enum class Style {
  plain,       ///< 4 significant digits
  seconds,     ///< "1.23 ms"
  percent,     ///< a fraction: 0.5 is "50.0%"
  bytes,       ///< "1.5 GiB"
  scientific,  ///< "1.2e-16"
  factor       ///< "2.50x", "0.0011x"
};

/// A column's names and number format.
struct Column {
  std::string name;   ///< name in CSV and JSON
  std::string title;  ///< title in text
  Style style = Style::plain;
};

/// The data of a table.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each has one cell per column
  /// The number of leading columns that identify a row. If the width is too small, these columns are joined
  /// into one, but never dropped.
  std::size_t key_columns = 1;
  /// Names of the columns that the text may leave out, in this order, if the width is too small. An entry may
  /// name several columns ("low high"); these are dropped together and have the same unit.
  std::vector<std::string> droppable{};
  /// Text about method parameters with one value in all rows that have the parameter: "threads=0".
  std::string common{};
  /// Names of columns that the text shows as columns even if their cells are equal in all rows.
  std::vector<std::string> kept{};
};

/// Appends columns to a table, or cells to a row.
template <class T>
void extend(std::vector<T>& list, std::initializer_list<typename std::vector<T>::value_type> values) {
  list.insert(list.end(), values);
}

/// The output format of a command.
enum class Format { table, csv, json, markdown, latex };

/// Converts "table", "csv", "json", "markdown" or "latex". @throws UsageError
Format parse_format(const std::string& text);

/// Returns a single cell as text: "1.23 ms".
std::string to_text(const Cell& cell, Style style);

/// The width of a table that is written to a file or pipe: unlimited.
constexpr std::size_t any_width = static_cast<std::size_t>(-1);

/// Renders aligned columns under their titles. Text goes through `one_line_printable`; numbers are
/// right-aligned at their decimal points. Seconds and bytes of a column share one unit, shown in its title. A
/// column without values is dropped. A column with equal values in all of several rows is shown once, before
/// the table ("All rows: …"), unless it is in `kept`.
///
/// If a table is wider than `width`, long texts are broken into several lines. If that does not suffice,
/// the columns in `droppable` are left out and their titles are listed below the table. If that does not
/// suffice either, the key columns are joined. The last line ends with a newline; a table without rows gives
/// an empty text.
std::string render_text(const Table& table, std::size_t width);
/// Renders the cells that `render_text` shows as a table in GitHub's Markdown, preceded by an empty line. A
/// table without rows gives an empty text.
std::string render_markdown(const Table& table);
/// Renders the cells that `render_text` shows as a LaTeX tabular that needs the package booktabs. A table
/// without rows gives an empty text.
std::string render_latex(const Table& table);
/// Renders Markdown or LaTeX if `format` is one of them, otherwise text.
std::string render_shown(const Table& table, Format format, std::size_t width);
/// Returns a row as a CSV line with its line end.
std::string csv_line(const std::vector<Cell>& cells);
/// Returns a row as a JSON object with the fields in the columns' order.
nlohmann::ordered_json json_row(const std::vector<Column>& columns, const std::vector<Cell>& cells);
/// Renders CSV by RFC 4180 with a header line. Numbers have enough digits to read back exactly.
std::string render_csv(const Table& table);
/// Renders an array with one object per row, fields in the columns' order.
nlohmann::ordered_json render_json(const Table& table);

/// Converts a number to JSON: NaN to null, the infinities to "inf" and "-inf".
nlohmann::ordered_json number_json(double value);

/// Returns JSON as text, indented by 2. Invalid UTF-8 is replaced. No newline at the end.
std::string json_text(const nlohmann::ordered_json& json);
/// Returns JSON as one line, without a newline at the end. Invalid UTF-8 is replaced.
std::string json_line(const nlohmann::ordered_json& json);

/// Returns a text as a cell of a Markdown table: escapes Markdown's special characters.
std::string markdown_cell(const std::string& text);
/// Returns LaTeX code that prints the text's characters. Characters that some TeX systems lack become their
/// Unicode number, such as [6F22].
std::string latex_cell(const std::string& text);
/// Formats text that is printed above or below a table: as comment lines in LaTeX, else unchanged.
std::string comment_lines_if_latex(const std::string& text, Format format);

}  // namespace gaussweep::driver
