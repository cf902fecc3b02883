/// Makes the tables and sentences of a comparison of two device models (GPUs or CPUs), base and new.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/statistics.hpp"
#include "driver/base/text_format.hpp"
#include "driver/compare/models.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "";
  return ratio < 10 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.3g}", ratio);
}

/// Returns a ratio with its 95 % interval: "1.28±6%". The percentage is the distance to the upper end; in
/// ln(ratio) both ends are equally far.
std::string interval_text(const Estimate& estimate) {
  constexpr double max_percent = 99;  // a wider interval is shown as ">99%"
  const double percent = 100 * (estimate.high() / estimate.ratio() - 1);
  return fmt::format("{}±{}{:.0f}%", ratio_text(estimate.ratio()), percent > max_percent ? ">" : "",
                     std::min(percent, max_percent));
}

/// Returns a rate with its unit: "4.1 TB/s", "52 GFLOP/s".
std::string rate_text(double rate, const char* unit) {
  if (!(rate > 0)) return "";
  const bool is_tera = rate >= 1e12;
  return fmt::format("{} {}{}", significant_text(rate / (is_tera ? 1e12 : 1e9), 3), is_tera ? "T" : "G",
                     unit);
}

std::vector<double> ratios_of(const ModelRow& row) {
  std::vector<double> ratios;
  for (const auto& [n, cell] : row.cells) ratios.push_back(cell.speedup.ratio());
  return ratios;
}

/// Returns the range of some ratios: "1.02" or "1.02 to 1.28".
std::string range_text(const std::vector<double>& values) {
  if (values.empty()) return "";
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string from = ratio_text(*low), to = ratio_text(*high);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

/// Returns "launches below 2048, then memory": the limits by size.
std::string bounding_limit_text(const ModelRow& row) {
  std::string text;
  BoundingLimit last = BoundingLimit::unknown;
  for (const auto& [n, cell] : row.cells) {
    if (cell.bounding_limit == last || cell.bounding_limit == BoundingLimit::unknown) continue;
    if (last != BoundingLimit::unknown) text += fmt::format(" below {}, then ", n);
    text += to_string(cell.bounding_limit);
    last = cell.bounding_limit;
  }
  return text;
}

/// Returns the size between two sizes at which the ratio is 1, interpolated linearly in ln(n).
double equal_at(std::int64_t n, const ModelCell& cell, std::int64_t next_n, const ModelCell& next) {
  const double from = std::log(static_cast<double>(n)), to = std::log(static_cast<double>(next_n));
  return std::exp(from + (to - from) * cell.speedup.log / (cell.speedup.log - next.speedup.log));
}

/// Returns the faster model by size: "H200 at every size", "H200 at 4 of 5 sizes", "H100, H200 from about
/// 700".
std::string faster_text(const ModelRow& row, const ModelComparison& comparison) {
  // The last size at which one model is clearly faster, with its cell.
  const std::pair<const std::int64_t, ModelCell>* last = nullptr;
  std::string text;
  std::int64_t unclear = 0;
  for (const auto& at : row.cells) {
    const int sign = at.second.sign();
    if (sign == 0) {
      ++unclear;
      continue;
    }
    const std::string& name = (sign > 0 ? comparison.now : comparison.base).short_name;
    if (last == nullptr) {
      text = name;
    } else if (last->second.sign() != sign) {
      text += fmt::format(", {} from about {:.0f}", name,
                          equal_at(last->first, last->second, at.first, at.second));
    }
    last = &at;
  }
  if (text.empty()) return "no clear difference";
  const auto sizes = static_cast<std::int64_t>(row.cells.size());
  const bool changes = text.find(',') != std::string::npos;
  if (unclear > 0)
    return text + fmt::format("{} {} of {} sizes", changes ? "; clear at" : " at", sizes - unclear, sizes);
  return changes ? text : text + " at every size";
}

std::vector<Column> task_columns() {
  return {{"problem", "PROBLEM"}, {"precision", "PRECISION"}, {"matrix", "MATRIX"}, {"details", "OPERANDS"}};
}

std::vector<Cell> task_cells(const ModelTask& task) {
  return {task.problem, task.precision, task.matrix, task.details};
}

/// Returns the sizes n of all tasks; if there are more than `max_sizes`, an evenly distributed selection.
std::vector<std::int64_t> sizes_of(const ModelComparison& comparison, std::size_t max_sizes) {
  std::set<std::int64_t> all;
  for (const ModelTask& task : comparison.tasks) {
    for (const auto& [n, cell] : task.fastest.cells) all.insert(n);
  }
  std::vector<std::int64_t> sizes(all.begin(), all.end());
  if (sizes.size() <= max_sizes || max_sizes < 2) return sizes;
  std::vector<std::int64_t> selection;
  for (std::size_t i = 0; i < max_sizes; ++i)
    selection.push_back(sizes[i * (sizes.size() - 1) / (max_sizes - 1)]);
  return selection;
}

/// Returns the cell of a task at size n for the method and backend of `like`; null if there is none.
const ModelCell* find_cell(const ModelTask& task, const Group& like, std::int64_t n) {
  for (const ModelRow& row : task.methods) {
    if (row.method == std::string(like.first().method) && row.backend == std::string(like.first().backend))
      return find_in(row.cells, n);
  }
  return nullptr;
}

/// The fastest methods of both models at one size, compared.
struct Winners {
  /// True if the methods differ, and each is clearly faster on its model than the other.
  bool differ = false;
  /// On each model: the time of the other model's fastest method, divided by the time of its own fastest
  /// method. NaN if the other model's method did not pass.
  double base_cost = Record::unknown, new_cost = Record::unknown;
};

/// Compares the fastest methods of both models for a task at size n.
Winners winners_of(const ModelTask& task, std::int64_t n, const ModelCell& fastest) {
  Winners result;
  const Record &before = fastest.base->first(), &after = fastest.now->first();
  if (before.method == after.method && before.backend == after.backend) return result;
  const ModelCell *new_method = find_cell(task, *fastest.now, n),
                  *old_method = find_cell(task, *fastest.base, n);
  const auto is_clear = [](const Group& faster, const Group& slower) { return slower.q1 > faster.q3; };
  result.differ = (new_method == nullptr || is_clear(*fastest.base, *new_method->base)) &&
                  (old_method == nullptr || is_clear(*fastest.now, *old_method->now));
  if (new_method != nullptr) result.base_cost = new_method->base->median / fastest.base->median;
  if (old_method != nullptr) result.new_cost = old_method->now->median / fastest.now->median;
  return result;
}

}  // namespace

Table limits_table(const ModelComparison& comparison) {
  const ModelFacts &base = comparison.base, &now = comparison.now;
  Table table;
  table.columns = {
      {"limit", "MEASURED LIMIT"}, {"base", base.short_name}, {"new", now.short_name}, {"ratio", "RATIO"}};
  const auto add = [&](const char* name, double before, double after, double ratio, const auto& text) {
    if (before > 0 || after > 0)
      table.rows.push_back({std::string(name), text(before), text(after), ratio_text(ratio)});
  };
  const auto bytes = [](double rate) { return rate_text(rate, "B/s"); };
  const auto flops = [](double rate) { return rate_text(rate, "FLOP/s"); };
  const auto time = [](double seconds) { return seconds > 0 ? seconds_text(seconds) : std::string(); };
  add("memory (copy)", base.rates.copy, now.rates.copy, now.rates.copy / base.rates.copy, bytes);
  add("products (GEMM, float)", base.rates.flops_float, now.rates.flops_float,
      now.rates.flops_float / base.rates.flops_float, flops);
  add("products (GEMM, double)", base.rates.flops_double, now.rates.flops_double,
      now.rates.flops_double / base.rates.flops_double, flops);
  add("launches (host, per kernel)", base.launch, now.launch, base.launch / now.launch, time);
  return table;
}

Table ratio_table(const ModelComparison& comparison, bool with_methods, std::size_t most_sizes) {
  const std::vector<std::int64_t> sizes = sizes_of(comparison, most_sizes);
  Table table;
  table.columns = task_columns();
  table.columns.push_back({"method", "METHOD"});
  for (const std::int64_t n : sizes) table.columns.push_back({fmt::to_string(n), fmt::format("n={}", n)});
  const auto add = [&](const ModelTask& task, const std::string& method, const ModelRow& row,
                       const auto& text) {
    std::vector<Cell>& cells = table.rows.emplace_back(task_cells(task));
    cells.push_back(method);
    for (const std::int64_t n : sizes) {
      const ModelCell* cell = find_in(row.cells, n);
      cells.push_back(cell == nullptr ? Cell() : Cell(text(*cell)));
    }
  };
  const auto measured = [](const ModelCell& cell) { return interval_text(cell.speedup); };
  const auto predicted = [](const ModelCell& cell) { return ratio_text(cell.predicted); };
  for (const ModelTask& task : comparison.tasks) {
    add(task, "fastest", task.fastest, measured);
    add(task, "(predicted)", task.fastest, predicted);
    if (!with_methods) continue;
    for (const ModelRow& row : task.methods)
      add(task, row.backend == "emulated" ? row.method + " (emulated)" : row.method, row, measured);
  }
  table.key_columns = 5;
  return table;
}

Table task_table(const ModelComparison& comparison) {
  Table table;
  table.columns = task_columns();
  extend(table.columns, {{"speedup", "SPEEDUP"},
                         {"range", "OVER SIZES"},
                         {"predicted", "PREDICTED"},
                         {"limit", "LIMITED BY"},
                         {"faster", "FASTER"}});
  for (const ModelTask& task : comparison.tasks) {
    std::vector<double> predicted;
    for (const auto& [n, cell] : task.fastest.cells) {
      if (std::isfinite(cell.predicted)) predicted.push_back(cell.predicted);
    }
    const std::vector<double> ratios = ratios_of(task.fastest);
    extend(table.rows.emplace_back(task_cells(task)),
           {ratio_text(median_of(ratios)), range_text(ratios), range_text(predicted),
            bounding_limit_text(task.fastest), faster_text(task.fastest, comparison)});
  }
  table.key_columns = 4;
  return table;
}

Table winner_table(const ModelComparison& comparison) {
  Table table;
  table.columns = task_columns();
  const std::string &base = comparison.base.short_name, &now = comparison.now.short_name;
  extend(table.columns, {{"n", "N"},
                         {"base_method", "FASTEST ON " + base},
                         {"new_method", "FASTEST ON " + now},
                         {"base_cost", "COST ON " + base, Style::factor},
                         {"new_cost", "COST ON " + now, Style::factor}});
  for (const ModelTask& task : comparison.tasks) {
    const std::size_t first_row = table.rows.size();
    std::int64_t from = 0;
    bool is_adjacent = false;
    for (const auto& [n, cell] : task.fastest.cells) {
      const Winners winners = winners_of(task, n, cell);
      const bool was_adjacent = std::exchange(is_adjacent, winners.differ);
      if (!winners.differ) continue;
      const std::string before = cell.base->first().method, after = cell.now->first().method;
      // Neighbouring sizes with the same two methods share a row. Its columns 4 to 8 are n, base_method,
      // new_method, base_cost and new_cost.
      if (was_adjacent && table.rows.size() > first_row) {
        std::vector<Cell>& last = table.rows.back();
        if (last[5] == Cell(before) && last[6] == Cell(after)) {
          last[4] = range_text(from, n);
          last[7] = std::fmax(std::get<double>(last[7]), winners.base_cost);
          last[8] = std::fmax(std::get<double>(last[8]), winners.new_cost);
          continue;
        }
      }
      from = n;
      extend(table.rows.emplace_back(task_cells(task)),
             {fmt::to_string(n), before, after, winners.base_cost, winners.new_cost});
    }
  }
  table.key_columns = 5;
  return table;
}

Table cell_table(const ModelComparison& comparison) {
  struct CellColumn {
    const char* name;
    Cell (*cell)(const ModelCell& cell, const Record& base, const Record& now);
  };
  using C = const ModelCell&;
  using R = const Record&;
  static const CellColumn columns[] = {
      {"m", [](C, R, R r) -> Cell { return r.m; }},
      {"n", [](C, R, R r) -> Cell { return r.n; }},
      {"k", [](C, R, R r) -> Cell { return r.k; }},
      {"nrhs", [](C, R, R r) -> Cell { return r.nrhs; }},
      {"batch", [](C, R, R r) -> Cell { return r.batch; }},
      {"uplo", [](C, R, R r) -> Cell { return r.uplo; }},
      {"matrix_seed", [](C, R, R r) -> Cell { return r.matrix_seed; }},
      {"matrix_digest", [](C, R, R r) -> Cell { return r.matrix_digest; }},
      {"backend", [](C, R, R r) -> Cell { return r.backend; }},
      {"base_method", [](C, R base, R) -> Cell { return base.method; }},
      {"new_method", [](C, R, R r) -> Cell { return r.method; }},
      {"base_parameters", [](C, R base, R) -> Cell { return base.parameters; }},
      {"new_parameters", [](C, R, R r) -> Cell { return r.parameters; }},
      {"base_median", [](C c, R, R) -> Cell { return c.base->median; }},
      {"new_median", [](C c, R, R) -> Cell { return c.now->median; }},
      {"speedup", [](C c, R, R) -> Cell { return c.speedup.ratio(); }},
      {"speedup_low", [](C c, R, R) -> Cell { return c.speedup.low(); }},
      {"speedup_high", [](C c, R, R) -> Cell { return c.speedup.high(); }},
      {"predicted", [](C c, R, R) -> Cell { return c.predicted; }},
      {"limit", [](C c, R, R) -> Cell { return to_string(c.bounding_limit); }},
      {"faster", [](C c, R, R) -> Cell {
         if (c.sign() > 0) return "new";
         return c.sign() < 0 ? "base" : "";
       }}};
  Table table;
  for (const char* name : {"base_model", "new_model", "of", "problem", "precision", "matrix"})
    table.columns.push_back({name, name});
  for (const CellColumn& column : columns) table.columns.push_back({column.name, column.name});
  const auto add = [&](const ModelTask& task, const ModelRow& row) {
    const char* kind = row.method.empty() ? "fastest" : "method";
    for (const auto& [n, cell] : row.cells) {
      std::vector<Cell>& cells = table.rows.emplace_back();
      extend(cells,
             {comparison.base.name, comparison.now.name, kind, task.problem, task.precision, task.matrix});
      for (const CellColumn& column : columns)
        cells.push_back(column.cell(cell, cell.base->first(), cell.now->first()));
    }
  };
  for (const ModelTask& task : comparison.tasks) {
    add(task, task.fastest);
    for (const ModelRow& row : task.methods) add(task, row);
  }
  return table;
}

std::string headline(const ModelComparison& comparison) {
  std::vector<double> ratios;
  std::size_t faster = 0, slower = 0;
  for (const ModelTask& task : comparison.tasks) {
    for (const auto& [n, cell] : task.fastest.cells) {
      ratios.push_back(cell.speedup.ratio());
      faster += cell.sign() > 0 ? 1 : 0;
      slower += cell.sign() < 0 ? 1 : 0;
    }
  }
  return fmt::format(
      "{} is {} times as fast as {} (median of {}; {}). It is clearly faster in {}, clearly slower in {}, "
      "and there is no clear difference in {}.",
      one_line_printable(comparison.now.name), ratio_text(median_of(ratios)),
      one_line_printable(comparison.base.name), counted(ratios.size(), "case"), range_text(ratios), faster,
      slower, ratios.size() - faster - slower);
}

std::vector<std::string> sample_sentences(const ModelComparison& comparison) {
  std::vector<std::string> sentences;
  for (const ModelFacts* model : {&comparison.base, &comparison.now}) {
    std::string text = fmt::format("{}: {} on {}", one_line_printable(model->name),
                                   counted(static_cast<std::size_t>(model->runs), "run"),
                                   counted(static_cast<std::size_t>(model->devices), "device"));
    if (model->devices == 1) {
      text += ", one sample of this model";
    } else if (model->scatter > 0) {
      text += fmt::format("; the times of a trial differ by {} % (sigma)",
                          significant_text(100 * model->scatter, 2));
    }
    sentences.push_back(text + ".");
  }
  return sentences;
}

}  // namespace gaussweep::driver
