#include "driver/command/matrix_facts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "driver/base/table.hpp"

namespace gaussweep::driver {
namespace {

std::string diagonal_words(const MatrixFacts& facts) {
  std::string zeros = "no zeros";
  if (facts.zero_diagonals > 0) {
    zeros = fmt::format("{} zero{}, the first in row {}", facts.zero_diagonals,
                        facts.zero_diagonals == 1 ? "" : "s", facts.first_zero_diagonal);
  }
  if (facts.by_rows == facts.by_columns) {
    if (facts.by_rows == Dominance::none) return zeros + "; not dominant";
    return fmt::format("{}; {} dominant by rows and by columns", zeros, to_string(facts.by_rows));
  }
  std::vector<std::string> ways;
  if (facts.by_rows != Dominance::none)
    ways.push_back(fmt::format("{} dominant by rows", to_string(facts.by_rows)));
  if (facts.by_columns != Dominance::none)
    ways.push_back(fmt::format("{} dominant by columns", to_string(facts.by_columns)));
  return fmt::format("{}; {}", zeros, fmt::join(ways, ", "));
}

/// Returns the correct decimal digits of a solution, given the condition number.
int digits_left(double condition, Precision precision) {
  return std::max(0, static_cast<int>(std::floor(-std::log10(condition * roundoff_of(precision)))));
}

std::string condition_words(const Conditioning& found) {
  if (found.zero_pivot > 0) return fmt::format("singular: pivot {} is exactly 0", found.zero_pivot);
  if (!std::isfinite(found.condition) || found.condition > 1 / roundoff_of(Precision::float64)) {
    return fmt::format("{:.2g} in the 1-norm, estimated: singular to double's precision", found.condition);
  }
  return fmt::format(
      "about {:.2g} in the 1-norm, estimated\nDigits:    about {} of a solution hold in double, {} in float",
      found.condition, digits_left(found.condition, Precision::float64),
      digits_left(found.condition, Precision::float32));
}

std::string shape_words(const MatrixFacts& facts) {
  if (!facts.is_square()) return {};
  if (facts.lower_bandwidth + facts.upper_bandwidth == 0) return "diagonal";
  if (facts.is_triangular()) return fmt::format("{} triangular", to_string(facts.triangle()));
  if (std::max(facts.lower_bandwidth, facts.upper_bandwidth) == facts.rows - 1) return {};
  return fmt::format("{} diagonals below and {} above the main one", facts.lower_bandwidth,
                     facts.upper_bandwidth);
}

std::string symmetry_words(const SeenMatrix& matrix) {
  const MatrixFacts& facts = matrix.facts;
  if (!facts.is_symmetric)
    return fmt::format("no, elements differ by up to {:.2g} of the largest", facts.asymmetry);
  if (!matrix.conditioning) return "yes";
  return matrix.conditioning->is_definite ? "yes, positive definite" : "yes, not positive definite";
}

}  // namespace

std::string seen_text(const SeenMatrix& matrix) {
  const MatrixFacts& facts = matrix.facts;
  const double share = static_cast<double>(facts.nonzeros) /
                       (static_cast<double>(facts.rows) * static_cast<double>(facts.cols));
  const std::string count =
      facts.nonzeros == facts.rows * facts.cols
          ? fmt::format("all {}", facts.nonzeros)
          : fmt::format("{} ({})", facts.nonzeros, to_text(Cell(share), Style::percent));
  std::string text = fmt::format("Nonzeros:  {}, the largest {:.4g}\n", count, facts.largest);
  if (const std::string shape = shape_words(facts); !shape.empty()) text += "Shape:     " + shape + "\n";
  text += fmt::format("Norms:     1-norm {:.4g}, infinity {:.4g}, Frobenius {:.4g}\n", facts.norm_1,
                      facts.norm_inf, facts.norm_frobenius);
  if (!facts.is_square()) return text;
  text += fmt::format("Symmetric: {}\n", symmetry_words(matrix));
  text += fmt::format("Diagonal:  {}\n", diagonal_words(facts));
  text += fmt::format("Condition: {}\n",
                      matrix.conditioning
                          ? condition_words(*matrix.conditioning)
                          : fmt::format("not estimated beyond n = {} (--condition)", most_factored));
  return text;
}

nlohmann::ordered_json seen_json(const SeenMatrix& matrix) {
  const MatrixFacts& facts = matrix.facts;
  nlohmann::ordered_json json;
  json["nonzeros"] = facts.nonzeros;
  json["largest"] = number_json(facts.largest);
  json["norm_1"] = number_json(facts.norm_1);
  json["norm_inf"] = number_json(facts.norm_inf);
  json["norm_frobenius"] = number_json(facts.norm_frobenius);
  if (!facts.is_square()) return json;
  json["is_symmetric"] = facts.is_symmetric;
  json["asymmetry"] = number_json(facts.asymmetry);
  json["dominant_by_rows"] = to_string(facts.by_rows);
  json["dominant_by_columns"] = to_string(facts.by_columns);
  json["zero_diagonals"] = facts.zero_diagonals;
  json["first_zero_diagonal"] = facts.first_zero_diagonal;
  json["lower_bandwidth"] = facts.lower_bandwidth;
  json["upper_bandwidth"] = facts.upper_bandwidth;
  if (!matrix.conditioning) return json;
  json["is_positive_definite"] = matrix.conditioning->is_definite;
  json["condition"] = number_json(matrix.conditioning->condition);
  json["zero_pivot"] = matrix.conditioning->zero_pivot;
  return json;
}

}  // namespace gaussweep::driver
