/// Renders the tables of the commands as CSV and JSON, and single cells as text. table_text.cpp has the other
/// formats.

#include "driver/base/table.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"

namespace gaussweep::driver {

namespace {

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

std::string csv_cell(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::to_string(*whole);
  if (const auto* number = std::get_if<double>(&cell))
    return std::isnan(*number) ? "" : fmt::to_string(*number);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return {};
  // A spreadsheet would evaluate a text that begins with one of these characters as a formula.
  const bool is_formula =
      !text->empty() && std::strchr("=+-@\t\r", text->front()) != nullptr && !is_number(*text);
  const std::string shown = (is_formula ? "'" : "") + *text;
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

Format parse_format(const std::string& text) {
  if (text == "table") return Format::table;
  if (text == "csv") return Format::csv;
  if (text == "json") return Format::json;
  if (text == "markdown") return Format::markdown;
  if (text == "latex") return Format::latex;
  throw UsageError(
      fmt::format("--format {}: unknown format; allowed are table, csv, json, markdown, latex", text));
}

std::string to_text(const Cell& cell, Style style) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return style == Style::bytes ? bytes_text(static_cast<double>(*whole)) : fmt::to_string(*whole);
  }
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr || std::isnan(*number)) return {};
  // A ratio that overflows is recorded as the largest double.
  if (*number >= std::numeric_limits<double>::max()) return "inf";
  switch (style) {
    case Style::seconds:
      return seconds_text(*number);
    case Style::percent:
      return fmt::format("{:.1f}%", 100 * *number);
    case Style::bytes:
      return bytes_text(*number);
    case Style::scientific:
      return fmt::format("{:.2g}", *number);
    case Style::factor:
      if (*number > 0 && *number < 0.1) return fmt::format("{:.2g}x", *number);
      return *number >= 100 ? fmt::format("{:.0f}x", *number) : fmt::format("{:.2f}x", *number);
    case Style::plain:
      break;
  }
  return fmt::format("{:.4g}", *number);
}

std::string csv_line(const std::vector<Cell>& cells) {
  std::string out;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c > 0) out += ',';
    out += csv_cell(cells[c]);
  }
  return out + '\n';
}

std::string render_csv(const Table& table) {
  std::vector<Cell> names;
  for (const Column& column : table.columns) names.emplace_back(column.name);
  std::string out = csv_line(names);
  for (const auto& row : table.rows) out += csv_line(row);
  return out;
}

nlohmann::ordered_json number_json(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(/*indent=*/2, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json json_row(const std::vector<Column>& columns, const std::vector<Cell>& cells) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    nlohmann::ordered_json& field = object[columns[c].name];
    if (const auto* text = std::get_if<std::string>(&cells[c])) field = *text;
    if (const auto* whole = std::get_if<std::int64_t>(&cells[c])) field = *whole;
    if (const auto* number = std::get_if<double>(&cells[c])) field = number_json(*number);
  }
  return object;
}

nlohmann::ordered_json render_json(const Table& table) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) array.push_back(json_row(table.columns, row));
  return array;
}

}  // namespace gaussweep::driver
