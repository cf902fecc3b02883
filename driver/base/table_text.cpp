/// Renders tables as aligned text, Markdown and LaTeX. table.hpp declares the functions.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "driver/base/printable.hpp"
#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "io/files/utf8.hpp"

namespace gaussweep::driver {
namespace {

// All widths are in characters.
constexpr std::size_t gap = 2;  // spaces between two columns
// Minimum width of a text column, and of the joined key columns, while there are columns to drop.
constexpr std::size_t readable_width = 20, readable_key_width = 36;
constexpr std::size_t min_width = 8;      // minimum width after all droppable columns were dropped
constexpr std::size_t max_unbroken = 40;  // longer words may be broken over two lines

/// A unit of time or memory, and its size in seconds or bytes.
struct Unit {
  const char* name;
  double size;
};

/// A column's title and its texts, one per row.
struct ShownColumn {
  std::size_t index = 0;  ///< index in Table::columns
  std::string title;
  std::vector<std::string> texts;
  bool is_number = false;
  bool is_joined = false;                     ///< true for the column that replaces the key columns
  std::size_t unbroken_width = 0, width = 0;  ///< width without line breaks, and chosen width
  std::size_t word = 0;                       ///< width of the longest word that must not be broken
};

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

/// Returns the number in a cell; NaN if the cell has none.
double value_of(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr ? std::nan("") : *number;
}

std::vector<std::string> words_of(const std::string& names) {
  std::istringstream stream(names);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Returns true if the columns with the indices a and b share one unit: they are the same column, or one
/// entry of Table::droppable names both.
bool share_unit(const Table& table, std::size_t a, std::size_t b) {
  const auto has_both = [&](const std::string& group) {
    const std::vector<std::string> names = words_of(group);
    const auto has = [&](std::size_t c) {
      return std::find(names.begin(), names.end(), table.columns[c].name) != names.end();
    };
    return has(a) && has(b);
  };
  return a == b || (table.columns[a].style == table.columns[b].style &&
                    std::any_of(table.droppable.begin(), table.droppable.end(), has_both));
}

/// Returns the unit for the numbers of column `c`: the largest one in which their median is at least 1. The
/// median is taken over all columns that share this unit.
Unit unit_of(const Table& table, std::size_t c) {
  static constexpr Unit seconds[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  static constexpr Unit bytes[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                                   {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50}};
  const bool is_time = table.columns[c].style == Style::seconds;
  const Unit* first = is_time ? std::begin(seconds) : std::begin(bytes);
  const Unit* last = (is_time ? std::end(seconds) : std::end(bytes)) - 1;
  std::vector<double> sizes;
  for (std::size_t other = 0; other < table.columns.size(); ++other) {
    if (!share_unit(table, c, other)) continue;
    for (const auto& row : table.rows) {
      const double size = std::fabs(value_of(row[other]));
      if (std::isfinite(size) && size > 0) sizes.push_back(size);
    }
  }
  if (sizes.empty()) return is_time ? *last : *first;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  // With three digits 0.9995 rounds to 1.
  while (last != first && *middle < last->size * 0.9995) --last;
  return *last;
}

/// Pads numbers so that their decimal points are aligned.
void align_points(std::vector<std::string>& texts) {
  std::size_t max_fraction = 0;
  const auto fraction = [](const std::string& text) {
    const std::size_t point = text.find('.');
    return point == std::string::npos ? 0 : text.size() - point;
  };
  for (const std::string& text : texts) {
    if (text.find('e') != std::string::npos) return;  // numbers with an exponent are not aligned
    max_fraction = std::max(max_fraction, fraction(text));
  }
  for (std::string& text : texts) {
    if (!text.empty()) text.append(max_fraction - fraction(text), ' ');
  }
}

/// Enlarges the column's `unbroken_width` and `word` to the values for `text` if they are smaller.
void note_width(ShownColumn& column, const std::string& text) {
  column.unbroken_width = std::max(column.unbroken_width, width_of(text));
  for (const std::string& word : words_of(text)) {
    if (width_of(word) <= max_unbroken) column.word = std::max(column.word, width_of(word));
  }
}

/// Formats the title and the cells of column `c`.
ShownColumn shown_column(const Table& table, std::size_t c) {
  constexpr int digits_of_times = 3, digits = 4;  // significant digits of times and of other numbers
  const Column& column = table.columns[c];
  ShownColumn result;
  result.index = c;
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
      result.texts.push_back(one_line_printable(to_text(cell, column.style)));
    }
  }
  if (has_unit && result.is_number) result.title += fmt::format(" {}", unit.name);
  if (all_numbers && column.style != Style::scientific && column.style != Style::factor)
    align_points(result.texts);
  for (const std::string& text : result.texts) note_width(result, text);
  if (result.unbroken_width > 0)
    result.unbroken_width = std::max(result.unbroken_width, width_of(result.title));
  return result;
}

std::size_t total_width(const std::vector<ShownColumn>& columns) {
  std::size_t width = 0;
  for (const ShownColumn& column : columns) width += column.width + gap;
  return width == 0 ? 0 : width - gap;
}

/// Narrows the widest text column, one character at a time, until the table fits `width`. No column gets
/// narrower than `min_text_width`, its title or its longest unbroken word. Returns true if the table fits.
bool shrink(std::vector<ShownColumn>& columns, std::size_t width, std::size_t min_text_width) {
  for (std::size_t current = total_width(columns); current > width; --current) {
    ShownColumn* widest = nullptr;
    for (ShownColumn& column : columns) {
      const bool can_shrink =
          !column.is_number && column.width > std::max({min_text_width, width_of(column.title), column.word});
      if (can_shrink && (widest == nullptr || column.width > widest->width)) widest = &column;
    }
    if (widest == nullptr) return false;
    --widest->width;
  }
  return true;
}

/// Chooses readable widths within `width`, and drops columns in `droppable` if necessary. Returns true if the
/// table fits. @param dropped receives the titles of the dropped columns
bool drop_columns(std::vector<ShownColumn>& columns, const Table& table, std::size_t width,
                  std::vector<std::string>& dropped) {
  const std::size_t min_text_width = columns.front().is_joined ? readable_key_width : readable_width;
  const auto fits = [&] {
    for (ShownColumn& column : columns) column.width = column.unbroken_width;
    return shrink(columns, width, min_text_width);
  };
  if (fits()) return true;
  for (const std::string& names : table.droppable) {
    const auto is_dropped = [&](const ShownColumn& column) {
      const std::vector<std::string> dropped_names = words_of(names);
      const std::string& name = table.columns[column.index].name;
      return !column.is_joined &&
             std::find(dropped_names.begin(), dropped_names.end(), name) != dropped_names.end();
    };
    for (const ShownColumn& column : columns) {
      if (is_dropped(column)) dropped.push_back(column.title);
    }
    columns.erase(std::remove_if(columns.begin(), columns.end(), is_dropped), columns.end());
    if (fits()) return true;
  }
  return false;
}

/// Returns the columns with the key columns joined into one. In the joined column, texts are unchanged and a
/// number gets its name: "n=64".
std::vector<ShownColumn> joined(const std::vector<ShownColumn>& columns, const Table& table) {
  const auto end = std::find_if(columns.begin(), columns.end(),
                                [&](const ShownColumn& column) { return column.index >= table.key_columns; });
  if (end - columns.begin() < 2) return columns;
  ShownColumn first;
  first.is_joined = true;
  first.texts.resize(table.rows.size());
  std::vector<std::string> titles;
  for (auto column = columns.begin(); column != end; ++column) {
    titles.push_back(column->title);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::string text = one_line_printable(to_text(table.rows[r][column->index], Style::plain));
      if (text.empty()) continue;
      std::string& line = first.texts[r];
      if (!line.empty()) line += ' ';
      line += (column->is_number ? table.columns[column->index].name + "=" : "") + text;
    }
  }
  first.title = fmt::format("{}", fmt::join(titles, " "));
  if (width_of(first.title) > readable_width) first.title = "TRIAL";
  first.unbroken_width = width_of(first.title);
  for (const std::string& text : first.texts) note_width(first, text);
  std::vector<ShownColumn> result{first};
  result.insert(result.end(), end, columns.end());
  return result;
}

/// Chooses the columns and their widths so that the table fits. Tries readable widths first, then joined key
/// columns, then narrow widths. Returns the titles of the dropped columns.
std::vector<std::string> choose_widths(std::vector<ShownColumn>& columns, const Table& table,
                                       std::size_t width) {
  std::vector<std::string> dropped;
  if (width == any_width) {
    for (ShownColumn& column : columns) column.width = column.unbroken_width;
    return dropped;
  }
  const std::vector<ShownColumn> all_columns = columns;
  if (drop_columns(columns, table, width, dropped)) return dropped;
  dropped.clear();
  columns = joined(all_columns, table);
  if (drop_columns(columns, table, width, dropped)) return dropped;
  for (ShownColumn& column : columns) column.width = column.unbroken_width;
  if (shrink(columns, width, min_width)) return dropped;
  for (ShownColumn& column : columns)
    column.word = 0;  // words may be broken now, because the table must not exceed the terminal's width
  shrink(columns, width, min_width);
  return dropped;
}

/// Appends one line of a cell, padded to the column's width.
void add_part(std::string& line, const ShownColumn& column, const std::string& part) {
  const std::size_t fill = column.width - std::min(column.width, width_of(part));
  if (column.is_number) line.append(fill, ' ');
  line += part;
  if (!column.is_number) line.append(fill, ' ');
}

/// Removes the spaces at the end and appends a line feed.
void end_line(std::string& out) {
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

/// Appends a row of cells; it takes several lines if a text is wrapped. @param text returns a column's text
template <class Text>
void add_line(std::string& out, const std::vector<ShownColumn>& columns, Text text) {
  std::vector<std::vector<std::string>> parts;  // the lines of wrapped columns; empty if nothing is wrapped
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

/// If there are several rows, removes the columns whose cells are equal in all rows, but leaves at least one
/// column. Returns a text with the removed cells.
std::string take_common(std::vector<ShownColumn>& columns, const Table& table) {
  std::vector<std::string> removed;
  for (auto column = columns.begin();
       table.rows.size() > 1 && column != columns.end() && columns.size() > 1;) {
    const std::size_t c = column->index;
    const Cell& first = table.rows.front()[c];
    const bool is_kept =
        std::find(table.kept.begin(), table.kept.end(), table.columns[c].name) != table.kept.end();
    const bool agree =
        std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row[c] == first; });
    if (agree && !is_kept) {
      removed.push_back(table.columns[c].title + " " +
                        one_line_printable(to_text(first, table.columns[c].style)));
      column = columns.erase(column);
    } else {
      ++column;
    }
  }
  std::string text = removed.empty() ? "" : fmt::format("All rows: {}", fmt::join(removed, ", "));
  if (!table.common.empty())
    text += fmt::format("{}Parameters with one value: {}", text.empty() ? "" : ". ", table.common);
  return text;
}

/// Returns the columns that have values and differ between rows. @param common_text receives the cells that
/// are equal in all rows
std::vector<ShownColumn> shown_columns(const Table& table, std::string& common_text) {
  std::vector<ShownColumn> columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    columns.push_back(shown_column(table, c));
    if (columns.back().unbroken_width == 0) columns.pop_back();  // no row has a value here
  }
  common_text = take_common(columns, table);
  return columns;
}

/// Returns the letters of the block Latin Extended-A that LaTeX writes with an accent command, and their
/// LaTeX text.
std::map<std::string, std::string> accented_letters() {
  struct Accent {
    const char* command;
    std::string_view letters;  ///< two bytes per letter
    std::string_view bases;    ///< the letters without the accent
  };
  constexpr Accent accents[] = {{"\\'", "ĆćĹĺŃńŔŕŚśŹź", "CcLlNnRrSsZz"},
                                {"\\^", "ĈĉĜĝĤĥĴĵŜŝŴŵŶŷ", "CcGgHhJjSsWwYy"},
                                {"\\v", "ČčĎďĚěĽľŇňŘřŠšŤťŽž", "CcDdEeLlNnRrSsTtZz"},
                                {"\\c", "ĢģĶķĻļŅņŖŗŞşŢţ", "GgKkLlNnRrSsTt"},
                                {"\\~", "ĨĩŨũ", "IiUu"},
                                {"\\r", "Ůů", "Uu"},
                                {"\\\"", "Ÿ", "Y"}};
  std::map<std::string, std::string> letters;
  for (const Accent& accent : accents) {
    for (std::size_t i = 0; i < accent.bases.size(); ++i)
      letters.emplace(accent.letters.substr(2 * i, 2),
                      fmt::format("{}{{{}}}", accent.command, accent.bases[i]));
  }
  return letters;
}

/// Returns a character of several UTF-8 bytes as LaTeX: unchanged if it is in Latin-1 and LaTeX's default
/// fonts have it, with an accent command if it is such a letter, otherwise its Unicode number in brackets.
/// analysis/words.py does the same for captions, and knows more LaTeX commands.
std::string latex_character(const std::string& bytes) {
  static const std::set<std::string> missing{"«", "»", "Ð", "ð", "Þ", "þ"};
  static const std::map<std::string, std::string> accented = accented_letters();
  if (const auto found = accented.find(bytes); found != accented.end()) return found->second;
  constexpr unsigned last_of_latin_1 = 0xFF;
  const unsigned lead_bits = 0x7Fu >> bytes.size();  // mask of the first byte's bits of the code point
  unsigned number = static_cast<unsigned char>(bytes.front()) & lead_bits;
  for (const char c : bytes.substr(1)) number = number << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return number <= last_of_latin_1 && missing.count(bytes) == 0 ? bytes : fmt::format("{{[}}{:X}]", number);
}

/// Returns a cell's text as LaTeX. The spaces that align decimal points become invisible digits.
std::string latex_number(const std::string& text) {
  const std::size_t end = text.find_last_not_of(' ') + 1;
  std::string hidden(text.size() - end, '0');  // as wide as the missing digits
  if (hidden.empty()) return latex_cell(text);
  if (text.find('.') == std::string::npos) hidden.front() = '.';
  return latex_cell(text.substr(0, end)) + "\\phantom{" + hidden + "}";
}

}  // namespace

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (std::strchr("\\`*_{}[]<>|~#&", c) != nullptr) cell += '\\';
    cell += c;
  }
  return cell;
}

std::string render_markdown(const Table& table) {
  if (table.rows.empty()) return {};
  std::string common_text;
  const std::vector<ShownColumn> columns = shown_columns(table, common_text);
  std::string out = common_text.empty() ? "" : fmt::format("\n{}\n", markdown_cell(common_text));
  std::string titles = "|", separator = "|";
  for (const ShownColumn& column : columns) {
    titles += fmt::format(" {} |", markdown_cell(column.title));
    separator += column.is_number ? "---:|" : "---|";
  }
  out += fmt::format("\n{}\n{}\n", titles, separator);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    out += '|';
    for (const ShownColumn& column : columns) out += fmt::format(" {} |", markdown_cell(column.texts[r]));
    out += '\n';
  }
  return out;
}

std::string latex_cell(const std::string& text) {
  // Braces around * and [, because after the \\ of the row before they would be arguments of the \\.
  static const std::map<char, const char*> commands{{'\\', "\\textbackslash{}"},
                                                    {'~', "\\textasciitilde{}"},
                                                    {'^', "\\textasciicircum{}"},
                                                    {'<', "\\textless{}"},
                                                    {'>', "\\textgreater{}"},
                                                    {'|', "\\textbar{}"},
                                                    // a straight quotation mark
                                                    {'"', "{\\ttfamily\\char34}"},
                                                    {'*', "{*}"},
                                                    {'[', "{[}"}};
  std::string cell;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (const std::size_t length = io::character_bytes(text, i); length > 1) {
      cell += latex_character(text.substr(i, length));
      i += length - 1;
    } else if (const auto found = commands.find(c); found != commands.end()) {
      cell += found->second;
    } else {
      if (std::strchr("{}_$&#%", c) != nullptr) cell += '\\';
      cell += c;
      if (c == '-' && text.compare(i + 1, 1, "-") == 0) cell += "{}";  // TeX would join two hyphens to a dash
    }
  }
  return cell;
}

std::string comment_lines_if_latex(const std::string& text, Format format) {
  if (format != Format::latex) return text;
  std::string lines;
  for (const char c : text) {
    if (c != '\n' && (lines.empty() || lines.back() == '\n')) lines += "% ";
    lines += c;
  }
  return lines;
}

std::string render_latex(const Table& table) {
  if (table.rows.empty()) return {};
  std::string common_text;
  const std::vector<ShownColumn> columns = shown_columns(table, common_text);
  std::string alignments;
  std::vector<std::string> titles;
  for (const ShownColumn& column : columns) {
    alignments += column.is_number ? 'r' : 'l';
    titles.push_back(latex_cell(column.title));
  }
  std::string out = common_text.empty() ? "" : comment_lines_if_latex(common_text + "\n", Format::latex);
  out += fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n", alignments,
                     fmt::join(titles, " & "));
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    std::vector<std::string> cells;
    for (const ShownColumn& column : columns) cells.push_back(latex_number(column.texts[r]));
    out += fmt::format("{} \\\\\n", fmt::join(cells, " & "));
  }
  return out + "\\bottomrule\n\\end{tabular}\n";
}

std::string render_shown(const Table& table, Format format, std::size_t width) {
  if (format == Format::latex) return render_latex(table);
  return format == Format::markdown ? render_markdown(table) : render_text(table, width);
}

std::string render_text(const Table& table, std::size_t width) {
  if (table.rows.empty()) return {};
  std::string common_text;
  std::vector<ShownColumn> columns = shown_columns(table, common_text);
  std::string out = common_text.empty() ? common_text : paragraph(common_text, width);
  const std::vector<std::string> dropped = choose_widths(columns, table, width);
  add_line(out, columns, [](const ShownColumn& column) -> const std::string& { return column.title; });
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    add_line(out, columns, [r](const ShownColumn& column) -> const std::string& { return column.texts[r]; });
  if (!dropped.empty()) {
    out += paragraph(fmt::format("Not shown in {} columns: {}", width, fmt::join(dropped, ", ")), width);
  }
  return out;
}

}  // namespace gaussweep::driver
