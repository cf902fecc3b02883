/// Renders the verdict grids as text, Markdown, LaTeX, sentences and a table. A cell of a grid has the race
/// of all methods on one task.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <vector>

#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/roofline_fraction.hpp"
#include "driver/summary/verdict_grid.hpp"
#include "io/plan/settings.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

constexpr std::size_t lines_per_cell = 5;
constexpr const char* gap = "   ";  // the space between two columns
/// ANSI colours; the method with the most wins gets the first one. Red is reserved for errors.
constexpr int colours[] = {32, 36, 33, 35, 34};

/// Returns a text with the ANSI escape codes of a colour; unchanged without a code.
std::string painted(const std::string& text, const std::string& code) {
  return code.empty() || text.empty() ? text : fmt::format("\033[{}m{}\033[0m", code, text);
}

/// Returns " (emulated)", " (CPU)" or " (2 GPUs)" for a method that did not run on exactly one device of the
/// grid's model. Returns an empty text for all other methods.
std::string backend_text(const VerdictGrid& grid, const Record& r) {
  if (r.backend == "emulated") return " (emulated)";
  if (gpus_of(r) > 1) return fmt::format(" ({} GPUs)", one_line_printable(r.gpu_count));
  return r.backend == "host" && grid.capability > 0 ? " (CPU)" : "";
}

std::string bound_text(Bound bound) {
  return bound == Bound::memory ? "memory" : "compute";
}

/// Returns true if the baseline exists, is not the winner itself, and has no tie with the winner.
bool has_other_baseline(const VerdictCell& cell) {
  const bool has_tie = cell.tie && cell.runner_up == cell.baseline;
  return cell.baseline != nullptr && !has_tie && cell.baseline->first().method != cell.winner->first().method;
}

/// Returns the speedup over the baseline: "2.70x cusolver".
std::string baseline_text(const VerdictCell& cell) {
  return fmt::format("{} {}", to_text(Cell(cell.speedup), Style::factor),
                     one_line_printable(cell.baseline->first().method));
}

using Lines = std::vector<std::string>;  // the lines of a cell or a label: `lines_per_cell` elements

/// Returns the lines of a cell: method, time and lead, fraction of the limit (lower bound on the time),
/// baseline, batch.
Lines cell_lines(const VerdictGrid& grid, const VerdictRow& row, const VerdictCell& cell) {
  const std::string batch = row.has_batches ? fmt::format("batch {}", cell.any_group->first().batch) : "";
  if (cell.winner == nullptr) {
    return {cell.races > 1 ? "none passed with every seed" : "none passed",
            "of " + counted(cell.methods, "method"), batch, "", ""};
  }
  const Record& r = cell.winner->first();
  const std::string wins = cell.races > 1 ? fmt::format(" {} of {}", cell.wins, cell.races) : "";
  if (r.backend == "emulated")  // an emulated kernel's time is compared with no other time
    return {one_line_printable(r.method) + " (emulated)" + wins,
            fmt::format("{}  answers only", seconds_text(cell.winner->median)), "", "", batch};
  std::string lead = cell.lacks_seeds ? "no common seed" : "uncontested";
  if (cell.tie) {
    lead = "tie";
  } else if (cell.runner_up != nullptr) {
    lead = to_text(Cell(cell.lead), Style::factor);
  }
  const std::string fraction = to_text(Cell(cell.limit_fraction), Style::percent);
  return {one_line_printable(r.method) + backend_text(grid, r) + wins,
          fmt::format("{}  {}", seconds_text(cell.winner->median), lead),
          fraction.empty() ? ""
                           : fmt::format("{}{} {}", fraction, cell.limit_fraction > 1 ? "*" : "",
                                         bound_text(cell.limit.bound)),
          has_other_baseline(cell) ? baseline_text(cell) : "", batch};
}

/// Returns "For X of A X = B", "For the inverse of a matrix".
std::string task_text(const Record& r) {
  return fmt::format("For {} in {}",
                     one_line_printable(r.problem_title.empty() ? r.problem : r.problem_title),
                     one_line_printable(r.precision));
}

/// Returns "1.04", "2.3", "23", "2300", without an exponent. The limits 1.095 and 9.95 round to 1.1 and 10,
/// so the number of decimals changes there.
std::string times_text(double times) {
  if (times < 1.095) return fmt::format("{:.2f}", times);
  return times < 9.95 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}

/// Describes a race in a sentence. @param which a text such as ", n = 16, uniform", which distinguishes the
/// race from others; may be empty
std::string sentence(const VerdictGrid& grid, const VerdictRow& row, const VerdictCell& cell,
                     const std::string& which) {
  const Record& any = cell.any_group->first();
  std::string text = fmt::format("{}{}{}{}{} on {}: ", task_text(any), which, row.details.empty() ? "" : ", ",
                                 one_line_printable(row.details),
                                 row.has_batches ? fmt::format(", batch {}", any.batch) : "",
                                 one_line_printable(grid.device));
  if (cell.winner == nullptr) {
    const std::string seeds = cell.races > 1 ? " with every seed" : "";
    return text + (cell.methods == 1 ? fmt::format("{}/{} did not pass{}.", one_line_printable(any.problem),
                                                   one_line_printable(any.method), seeds)
                                     : fmt::format("none of {} methods passed{}.", cell.methods, seeds));
  }
  const Record& r = cell.winner->first();
  text += fmt::format("{}/{}{}, {}", one_line_printable(r.problem), one_line_printable(r.method),
                      backend_text(grid, r), seconds_text(cell.winner->median));
  if (r.backend == "emulated") return text + ", which says nothing about a GPU's time.";
  if (has_other_baseline(cell)) {
    text += fmt::format(", {} times as fast as {}", times_text(cell.speedup),
                        one_line_printable(cell.baseline->first().method));
  } else if (cell.runner_up != nullptr) {
    text += cell.tie ? fmt::format(", level with {}", one_line_printable(cell.runner_up->first().method))
                     : fmt::format(", {} times as fast as the next, {}", times_text(cell.lead),
                                   one_line_printable(cell.runner_up->first().method));
  }
  if (cell.lacks_seeds) {
    text += ", while other methods ran with other seeds";
  } else if (cell.races > 1 && cell.wins > 0) {
    text += fmt::format(", the fastest with {} of {} seeds", cell.wins, cell.races);
  }
  if (is_doubtful(*cell.winner)) text += " (doubtful: faster than the device's peaks allow)";
  const double digits = std::floor(-std::log10(cell.winner->forward_error));
  if (digits >= 0 && std::isfinite(digits))
    text += ", about " + counted(static_cast<std::size_t>(digits), "correct digit");
  return text + ".";
}

/// Returns the sizes of all rows, which are the columns of a grid.
std::set<std::int64_t> sizes_of(const VerdictGrid& grid) {
  std::set<std::int64_t> sizes;
  for (const VerdictRow& row : grid.rows) {
    for (const auto& [n, cell] : row.cells) sizes.insert(n);
  }
  return sizes;
}

Lines label_lines(const VerdictRow& row) {
  return {fmt::format("{} {}", one_line_printable(row.problem), one_line_printable(row.precision)),
          one_line_printable(row.matrix), one_line_printable(row.details), "", ""};
}

/// Returns the ANSI code of each method's colour, chosen by its number of wins.
std::map<std::string, std::string> codes_of(const std::vector<VerdictGrid>& grids) {
  std::map<std::string, int> wins;
  for (const VerdictGrid& grid : grids) {
    for (const VerdictRow& row : grid.rows) {
      for (const auto& [n, cell] : row.cells) {
        if (cell.winner != nullptr) ++wins[cell.winner->first().method];
      }
    }
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [method, count] : wins) order.emplace_back(-count, method);
  std::sort(order.begin(), order.end());
  std::map<std::string, std::string> codes;
  for (std::size_t i = 0; i < order.size() && i < std::size(colours); ++i)
    codes[order[i].second] = fmt::format("1;{}", colours[i]);
  return codes;
}

/// Prints a grid in blocks; a block has the sizes that fit the width.
class GridPrinter {
 public:
  GridPrinter(const VerdictGrid& grid, const RenderOptions& options,
              const std::map<std::string, std::string>& codes)
      : grid_(grid), rows_(grid.pooled_rows), options_(options), codes_(codes) {
    for (const VerdictRow& row : rows_) {
      for (const std::string& line : label_lines(row)) label_width_ = std::max(label_width_, width_of(line));
      for (const auto& [n, cell] : row.cells) {
        std::size_t& width = widths_[n];
        width = std::max(width, std::to_string(n).size());
        for (const std::string& line : cell_lines(grid, row, cell)) width = std::max(width, width_of(line));
      }
    }
  }
  std::string text() {
    auto column = widths_.begin();
    while (column != widths_.end()) {
      std::vector<std::int64_t> sizes;
      std::size_t width = label_width_;
      for (; column != widths_.end(); ++column) {
        const std::size_t wider = width + width_of(gap) + column->second;
        if (!sizes.empty() && wider > options_.width) break;
        width = wider;
        sizes.push_back(column->first);
      }
      if (!text_.empty()) text_ += '\n';
      add_block(sizes);
    }
    return text_;
  }

 private:
  void add_block(const std::vector<std::int64_t>& sizes) {
    Lines titles;
    for (const std::int64_t n : sizes) titles.push_back(std::to_string(n));
    add_line("N", titles, sizes, std::vector<std::string>(sizes.size(), options_.colours ? "1" : ""));
    for (const VerdictRow& row : rows_) {
      std::vector<Lines> cells;
      std::vector<std::string> codes;
      bool is_empty = true;
      for (const std::int64_t n : sizes) {
        const VerdictCell* cell = find_in(row.cells, n);
        cells.push_back(cell == nullptr ? Lines(lines_per_cell) : cell_lines(grid_, row, *cell));
        codes.push_back(cell == nullptr ? "" : code_of(*cell));
        is_empty = is_empty && cell == nullptr;
      }
      if (is_empty) continue;
      const Lines label = label_lines(row);
      for (std::size_t i = 0; i < lines_per_cell; ++i) {
        Lines line;
        for (const Lines& cell : cells) line.push_back(cell[i]);
        add_line(label[i], line, sizes, i == 0 ? codes : std::vector<std::string>(sizes.size()));
      }
    }
  }
  std::string code_of(const VerdictCell& cell) const {
    if (!options_.colours || cell.winner == nullptr) return {};
    const std::string* code = find_in(codes_, cell.winner->first().method);
    return code == nullptr ? "1" : *code;
  }
  /// Adds nothing if the label and all cells are empty.
  void add_line(const std::string& label, const Lines& cells, const std::vector<std::int64_t>& sizes,
                const std::vector<std::string>& codes) {
    std::string line = label;
    std::size_t width = width_of(label), column_start = label_width_;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!cells[i].empty()) {
        line += std::string(column_start - width, ' ') + gap + painted(cells[i], codes[i]);
        width = column_start + width_of(gap) + width_of(cells[i]);
      }
      column_start += width_of(gap) + widths_.at(sizes[i]);
    }
    if (!line.empty()) text_ += line + '\n';
  }

  const VerdictGrid& grid_;
  const std::vector<VerdictRow>& rows_;
  const RenderOptions& options_;
  const std::map<std::string, std::string>& codes_;
  std::size_t label_width_ = 1;
  std::map<std::int64_t, std::size_t> widths_;  // by n
  std::string text_;
};

std::string title_of(const VerdictGrid& grid) {
  std::string title = one_line_printable(grid.device);
  if (grid.capability > 0) title += fmt::format(" ({})", capability_text(static_cast<int>(grid.capability)));
  if (!grid.cpus.empty())
    title += fmt::format(", with methods on {}",
                         one_line_printable(fmt::format("{}", fmt::join(grid.cpus, ", "))));
  return title;
}

}  // namespace

std::string verdict_legend(const std::vector<VerdictGrid>& grids) {
  std::string text;
  bool has_share = false, has_baseline = false, is_uncontested = false, is_emulated = false,
       is_pooled = false;
  std::set<Bound> exceeded;
  for (const VerdictGrid& grid : grids) {
    is_pooled = is_pooled || grid.pooled_rows.size() < grid.rows.size();
    for (const VerdictRow& row : grid.pooled_rows) {
      for (const auto& [n, cell] : row.cells) {
        if (cell.winner != nullptr && cell.winner->first().backend == "emulated") {
          is_emulated = true;
          continue;
        }
        has_share = has_share || cell.limit_fraction > 0;
        is_uncontested =
            is_uncontested || (cell.winner != nullptr && cell.runner_up == nullptr && !cell.lacks_seeds);
        if (cell.limit_fraction > 1) exceeded.insert(cell.limit.bound);
        has_baseline = has_baseline || (cell.winner != nullptr && has_other_baseline(cell));
      }
    }
  }
  text +=
      "A cell has the fastest method that passed, its median time, and its lead over\n"
      "the next method (tie: their times overlap from first to third quartile).\n";
  if (is_uncontested)
    text += "uncontested: no other method of the same device passed (emulated ones do not compete).\n";
  if (is_pooled)
    text +=
        "Matrices that differ only in their seeds share a row. Only seeds count with which\n"
        "all of the cell's methods were tried (no common seed: others have other seeds).\n"
        "\"2 of 3\": the method is the fastest with two of three. Times are medians over them.\n";
  if (has_share) {
    text +=
        "Below is its fraction of the problem's limit on the device, for any method:\n"
        "the operations at the measured GEMM rate (compute), or the operands once at\n"
        "the measured copy rate (memory).\n";
  }
  if (has_baseline) text += "The last line is its speedup over the method named there.\n";
  if (exceeded.count(Bound::memory) > 0)
    text +=
        "* memory: the operands are in a cache, or the copy rate was measured too low\n"
        "(another program used the memory).\n";
  if (exceeded.count(Bound::compute) > 0)
    text +=
        "* compute: a lower precision inside the method, skipped zeros, or a GEMM rate\n"
        "that was measured too low.\n";
  if (is_emulated)
    text +=
        "Emulated kernels run on the CPU to verify their answers. Their times say nothing\n"
        "about a GPU, so they have no lead and no share.\n";
  return text;
}

std::string verdict_text(const std::vector<VerdictGrid>& grids, const RenderOptions& options) {
  const std::map<std::string, std::string> codes = codes_of(grids);
  std::string text;
  for (const VerdictGrid& grid : grids) {
    if (!text.empty()) text += '\n';
    text += painted(title_of(grid), options.colours ? "1" : "") + '\n';
    text += GridPrinter(grid, options, codes).text();
  }
  return text.empty() || !options.legend ? text : text + '\n' + verdict_legend(grids);
}

std::string verdict_markdown(const std::vector<VerdictGrid>& grids) {
  const auto cell_of = [](const Lines& lines, const char* emphasis) {
    std::string cell;
    for (const std::string& line : lines) {
      if (line.empty()) continue;
      cell += cell.empty() ? emphasis + markdown_cell(line) + emphasis : "<br>" + markdown_cell(line);
    }
    return cell;
  };
  std::string text;
  for (const VerdictGrid& grid : grids) {
    const std::set<std::int64_t> sizes = sizes_of(grid);
    text += fmt::format("{}### {}\n\n| n |", text.empty() ? "" : "\n", markdown_cell(title_of(grid)));
    for (const std::int64_t n : sizes) text += fmt::format(" {} |", n);
    text += "\n|---|";
    for (std::size_t i = 0; i < sizes.size(); ++i) text += "---|";
    for (const VerdictRow& row : grid.pooled_rows) {
      text += fmt::format("\n| {} |", cell_of(label_lines(row), "**"));
      for (const std::int64_t n : sizes) {
        const VerdictCell* cell = find_in(row.cells, n);
        text += cell == nullptr ? " |" : fmt::format(" {} |", cell_of(cell_lines(grid, row, *cell), ""));
      }
    }
    text += '\n';
  }
  return text;
}

std::string verdict_latex(const std::vector<VerdictGrid>& grids) {
  const auto cell_of = [](const Lines& lines) {
    std::vector<std::string> shown;
    for (const std::string& line : lines) {
      if (!line.empty()) shown.push_back(latex_cell(line));
    }
    return fmt::format("\\begin{{tabular}}[t]{{@{{}}l@{{}}}}{}\\end{{tabular}}", fmt::join(shown, "\\\\"));
  };
  std::string text;
  for (const VerdictGrid& grid : grids) {
    const std::set<std::int64_t> sizes = sizes_of(grid);
    text += fmt::format("{}% {}\n\\begin{{tabular}}{{l{}}}\n\\toprule\nn & {} \\\\\n\\midrule\n",
                        text.empty() ? "" : "\n", one_line_printable(title_of(grid)),
                        std::string(sizes.size(), 'l'), fmt::join(sizes, " & "));
    for (const VerdictRow& row : grid.pooled_rows) {
      text += cell_of(label_lines(row));
      for (const std::int64_t n : sizes) {
        const VerdictCell* cell = find_in(row.cells, n);
        text += cell == nullptr ? " &" : " & " + cell_of(cell_lines(grid, row, *cell));
      }
      text += " \\\\\n";
    }
    text += "\\bottomrule\n\\end{tabular}\n";
  }
  return text;
}

std::string verdict_sentences(const std::vector<VerdictGrid>& grids) {
  std::set<std::int64_t> sizes;
  std::set<std::string> matrices;
  for (const VerdictGrid& grid : grids) {
    for (const VerdictRow& row : grid.pooled_rows) {
      matrices.insert(row.matrix);
      for (const auto& [n, cell] : row.cells) sizes.insert(n);
    }
  }
  std::string text;
  for (const VerdictGrid& grid : grids) {
    for (const VerdictRow& row : grid.pooled_rows) {
      for (const auto& [n, cell] : row.cells) {
        std::string which = sizes.size() > 1 ? fmt::format(", n = {}", n) : "";
        if (matrices.size() > 1) which += ", " + one_line_printable(row.matrix);
        text += sentence(grid, row, cell, which) + "\n";
      }
    }
  }
  return text;
}

Table verdict_table(const std::vector<VerdictGrid>& grids) {
  const std::map<std::string_view, Style> styles{
      {"median", Style::seconds}, {"runner_up_median", Style::seconds},
      {"limit", Style::seconds},  {"baseline_median", Style::seconds},
      {"lead", Style::factor},    {"speedup", Style::factor},
      {"share", Style::percent}};
  Table table;
  std::istringstream names(
      "device capability problem precision m n k nrhs batch uplo matrix matrix_seed matrix_digest methods "
      "winner backend parameters median runner_up runner_up_backend runner_up_median lead tie limit bound "
      "share baseline baseline_median speedup");
  for (std::string name; names >> name;) {
    const Style* style = find_in(styles, name);
    table.columns.push_back({name, name, style == nullptr ? Style::plain : *style});
  }
  std::vector<io::Text Record::*> conditions;  // the columns of conditions that separate tasks
  for (const io::Setting& setting : io::conditions()) {
    if (!setting.condition->separates_tasks) continue;
    conditions.push_back(setting.condition->column);
    table.columns.push_back({setting.name, setting.name, Style::plain});
  }
  const auto text = [](const Group* group, io::Text Record::*member) {
    return group == nullptr ? Cell() : Cell(group->first().*member);
  };
  const auto unless = [](bool is_unknown, const Cell& cell) { return is_unknown ? Cell() : cell; };
  const auto median = [](const Group* group) { return group == nullptr ? Cell() : Cell(group->median); };
  for (const VerdictGrid& grid : grids) {
    for (const VerdictRow& row : grid.rows) {
      for (const auto& [n, cell] : row.cells) {
        const Record& r = cell.any_group->first();
        const Group *winner = cell.winner, *next = cell.runner_up, *baseline = cell.baseline;
        table.rows.push_back({grid.device, grid.capability, row.problem, row.precision, r.m, n, r.k, r.nrhs,
                              r.batch, r.uplo, row.matrix, r.matrix_seed, r.matrix_digest, cell.methods});
        extend(
            table.rows.back(),
            {text(winner, &Record::method), text(winner, &Record::backend), text(winner, &Record::parameters),
             median(winner), text(next, &Record::method), text(next, &Record::backend), median(next),
             cell.lead, unless(next == nullptr, std::int64_t{cell.tie}), cell.limit.seconds,
             unless(std::isnan(cell.limit.seconds), bound_text(cell.limit.bound)), cell.limit_fraction,
             text(baseline, &Record::method), median(baseline), cell.speedup});
        for (const auto column : conditions) table.rows.back().push_back(Cell(r.*column));
      }
    }
  }
  return table;
}

}  // namespace gaussweep::driver
