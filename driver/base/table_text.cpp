/// A table as people read it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/base/words.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::size_t gap = 2;              // columns between two columns
constexpr std::size_t easy_to_read = 20;    // a text is not made narrower while something else can go
constexpr std::size_t easy_for_names = 36;  // nor all that names a trial
constexpr std::size_t hardly_legible = 8;   // nor narrower than this
constexpr std::size_t longest_name = 40;    // words up to this are not broken

struct Unit {
  const char* name;
  double size;
};

/// A column's title and texts, as many as rows.
struct Shown {
  std::size_t place = 0;  ///< in the table
  std::string title;
  std::vector<std::string> texts;
  bool is_number = false;
  bool is_joined = false;              ///< of several columns
  std::size_t natural = 0, width = 0;  ///< without line breaks, and as chosen
  std::size_t word = 0;                ///< the longest one that is not broken
};

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

/// NaN where it is none.
double value_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr ? std::nan("") : *number;
}

/// The one in which the middle one of the numbers is at least 1.
Unit unit_of(const Table& table, std::size_t c) {
  static constexpr Unit seconds[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  static constexpr Unit bytes[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                   {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};
  const bool is_time = table.columns[c].style == Style::seconds;
  const Unit* first = is_time ? std::begin(seconds) : std::begin(bytes);
  const Unit* last = (is_time ? std::end(seconds) : std::end(bytes)) - 1;
  std::vector<double> sizes;
  for (const auto& row : table.rows) {
    const double size = std::fabs(value_of(row[c]));
    if (std::isfinite(size) && size > 0) sizes.push_back(size);
  }
  if (sizes.empty()) return is_time ? *last : *first;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  while (last != first && *middle < last->size * 0.9995) --last;
  return *last;
}

/// Numbers with a fraction, and those without, have their points one below the other.
void align_points(std::vector<std::string>& texts) {
  std::size_t most = 0;
  const auto fraction = [](const std::string& text) {
    const std::size_t point = text.find('.');
    return point == std::string::npos ? 0 : text.size() - point;
  };
  for (const std::string& text : texts) {
    if (text.find('e') != std::string::npos) return;  // an exponent: no place of the point says anything
    most = std::max(most, fraction(text));
  }
  for (std::string& text : texts) {
    if (!text.empty()) text.append(most - fraction(text), ' ');
  }
}

std::vector<std::string> words_of(const std::string& names) {
  std::istringstream stream(names);
  return {std::istream_iterator<std::string>(stream), {}};
}

void note_width(Shown& column, const std::string& text) {
  column.natural = std::max(column.natural, width_of(text));
  for (const std::string& word : words_of(text)) {
    if (width_of(word) <= longest_name) column.word = std::max(column.word, width_of(word));
  }
}

Shown shown(const Table& table, std::size_t c) {
  constexpr int digits_of_times = 3, digits = 4;
  const Column& column = table.columns[c];
  Shown result;
  result.place = c;
  result.title = column.title;
  const bool has_unit = column.style == Style::seconds || column.style == Style::bytes;
  const bool all_numbers = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return !std::holds_alternative<std::string>(row[c]);
  });
  const Unit unit = has_unit ? unit_of(table, c) : Unit{"", 1};
  for (const auto& row : table.rows) {
    const Cell& cell = row[c];
    const double value = value_of(cell) / unit.size;
    result.is_number = result.is_number || is_number(cell);
    if (!std::isnan(value) && column.style == Style::seconds) {
      result.texts.push_back(significant_text(value, digits_of_times));
    } else if (!std::isnan(value) && column.style == Style::bytes) {
      result.texts.push_back(fmt::format("{:.{}f}", value, unit.size == 1 ? 0 : 1));
    } else if (!std::isnan(value) && column.style == Style::plain && std::holds_alternative<double>(cell)) {
      result.texts.push_back(significant_text(value, digits));
    } else {
      result.texts.push_back(printable(to_text(cell, column.style)));
    }
  }
  if (has_unit && result.is_number) result.title += fmt::format(" {}", unit.name);
  if (all_numbers && column.style != Style::scientific && column.style != Style::factor)
    align_points(result.texts);
  for (const std::string& text : result.texts) note_width(result, text);
  if (result.natural > 0) result.natural = std::max(result.natural, width_of(result.title));
  return result;
}

std::size_t total(const std::vector<Shown>& columns) {
  std::size_t width = 0;
  for (const Shown& column : columns) width += column.width + gap;
  return width == 0 ? 0 : width - gap;
}

/// Makes the widest texts narrower, none below `least`. Whether they then fit.
bool shrink(std::vector<Shown>& columns, std::size_t width, std::size_t least) {
  for (std::size_t now = total(columns); now > width; --now) {
    Shown* widest = nullptr;
    for (Shown& column : columns) {
      const bool may =
          !column.is_number && column.width > std::max({least, width_of(column.title), column.word});
      if (may && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return false;
    --widest->width;
  }
  return true;
}

/// Chooses the widths of what is readable in `width` without some spare columns; whether anything is.
bool spare_some(std::vector<Shown>& columns, const Table& table, std::size_t width,
                std::vector<std::string>& gone) {
  const std::size_t least = columns.front().is_joined ? easy_for_names : easy_to_read;
  const auto fits = [&] {
    for (Shown& column : columns) column.width = column.natural;
    return shrink(columns, width, least);
  };
  if (fits()) return true;
  for (const std::string& names : table.spare) {
    const auto goes = [&](const Shown& column) {
      const std::vector<std::string> together = words_of(names);
      const std::string& name = table.columns[column.place].name;
      return !column.is_joined && std::find(together.begin(), together.end(), name) != together.end();
    };
    for (const Shown& column : columns) {
      if (goes(column)) gone.push_back(column.title);
    }
    columns.erase(std::remove_if(columns.begin(), columns.end(), goes), columns.end());
    if (fits()) return true;
  }
  return false;
}

/// The columns that name the row as one: texts as they are, numbers as "n=64".
std::vector<Shown> joined(const std::vector<Shown>& columns, const Table& table) {
  const auto end = std::find_if(columns.begin(), columns.end(),
                                [&](const Shown& column) { return column.place >= table.naming; });
  if (end - columns.begin() < 2) return columns;
  Shown all;
  all.is_joined = true;
  all.texts.resize(table.rows.size());
  std::vector<std::string> titles;
  for (auto column = columns.begin(); column != end; ++column) {
    titles.push_back(column->title);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::string text = printable(to_text(table.rows[r][column->place], Style::plain));
      if (text.empty()) continue;
      std::string& line = all.texts[r];
      if (!line.empty()) line += ' ';
      line += (column->is_number ? table.columns[column->place].name + "=" : "") + text;
    }
  }
  all.title = fmt::format("{}", fmt::join(titles, " "));
  if (width_of(all.title) > easy_to_read) all.title = "TRIAL";
  all.natural = width_of(all.title);
  for (const std::string& text : all.texts) note_width(all, text);
  std::vector<Shown> result{all};
  result.insert(result.end(), end, columns.end());
  return result;
}

/// Chooses the widths; the titles of what had to go.
std::vector<std::string> fit(std::vector<Shown>& columns, const Table& table, std::size_t width) {
  std::vector<std::string> gone;
  if (width == any_width) {
    for (Shown& column : columns) column.width = column.natural;
    return gone;
  }
  const std::vector<Shown> all = columns;
  if (spare_some(columns, table, width, gone)) return gone;
  gone.clear();
  columns = joined(all, table);
  if (spare_some(columns, table, width, gone)) return gone;
  for (Shown& column : columns) column.width = column.natural;
  if (shrink(columns, width, hardly_legible)) return gone;
  for (Shown& column : columns) column.word = 0;  // rather than beyond the terminal's edge
  shrink(columns, width, hardly_legible);
  return gone;
}

void add_part(std::string& line, const Shown& column, const std::string& part) {
  const std::size_t fill = column.width - std::min(column.width, width_of(part));
  if (column.is_number) line.append(fill, ' ');
  line += part;
  if (!column.is_number) line.append(fill, ' ');
}

void end_line(std::string& out) {
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

/// @param text of a column
template <class Text>
void add_line(std::string& out, const std::vector<Shown>& columns, Text text) {
  std::vector<std::vector<std::string>> parts;  // of what takes several lines; empty: nothing does
  std::size_t height = 1;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (width_of(text(columns[c])) <= columns[c].width) continue;
    parts.resize(columns.size());
    parts[c] = wrapped(text(columns[c]), columns[c].width, columns[c].is_joined ? 2 : 0);
    height = std::max(height, parts[c].size());
  }
  const std::string nothing;
  for (std::size_t i = 0; i < height; ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) out.append(gap, ' ');
      const bool is_wrapped = !parts.empty() && !parts[c].empty();
      if (is_wrapped) {
        add_part(out, columns[c], i < parts[c].size() ? parts[c][i] : nothing);
      } else {
        add_part(out, columns[c], i == 0 ? text(columns[c]) : nothing);
      }
    }
    end_line(out);
  }
}

/// Takes out of the columns, and says, what several rows all agree in; one column stays.
std::string said_once(std::vector<Shown>& columns, const Table& table) {
  std::vector<std::string> words;
  for (auto column = columns.begin();
       table.rows.size() > 1 && column != columns.end() && columns.size() > 1;) {
    const std::size_t c = column->place;
    const Cell& first = table.rows.front()[c];
    const bool agree =
        std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row[c] == first; });
    if (agree) {
      words.push_back(table.columns[c].title + " " + printable(to_text(first, table.columns[c].style)));
      column = columns.erase(column);
    } else {
      ++column;
    }
  }
  if (!table.common.empty()) words.push_back(table.common);
  return words.empty() ? std::string() : fmt::format("All rows: {}", fmt::join(words, ", "));
}

}  // namespace

std::string render_text(const Table& table, std::size_t width) {
  if (table.rows.empty()) return {};
  std::vector<Shown> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    columns.push_back(shown(table, c));
    if (columns.back().natural == 0) columns.pop_back();  // no row has a value here
  }
  const std::string once = said_once(columns, table);
  std::string out = once.empty() ? once : paragraph(once, width);
  const std::vector<std::string> gone = fit(columns, table, width);
  add_line(out, columns, [](const Shown& column) -> const std::string& { return column.title; });
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    add_line(out, columns, [r](const Shown& column) -> const std::string& { return column.texts[r]; });
  if (!gone.empty()) {
    out += paragraph(fmt::format("Not shown in {} columns: {}", width, fmt::join(gone, ", ")), width);
  }
  return out;
}

}  // namespace gaussweep::driver
