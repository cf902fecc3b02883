/// Computes the ratio of a residual, column by column. A column is summed exactly if its rounding error could
/// change the status (pass, suspect or failed).

#include "kernels/check/verifiers.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace gaussweep::verifiers {
namespace {

/// An estimate of a column's ratio, which lies in [value - bound, value + bound].
struct RatioEstimate {
  double value, bound;
  double lower() const { return value - bound; }
  double upper() const { return std::min(value + bound, failed_ratio); }
};

/// The maximum number of terms that are summed exactly if the status is already certain.
constexpr double exact_term_budget = 1 << 22;  ///< exact sums of this many terms take milliseconds
constexpr double required_accuracy = 1e-3;     ///< the allowed error of a ratio, relative to max(1, ratio)

/// Returns true if the ratio stays inaccurate even when the `max_exact` columns with the largest upper bounds
/// are summed exactly. In this case exact sums for mere accuracy would be wasted.
bool cannot_be_accurate(const std::vector<RatioEstimate>& estimates, double max_exact) {
  if (max_exact >= static_cast<double>(estimates.size())) return false;
  std::vector<double> uppers;
  double value = 0;
  for (const RatioEstimate& estimate : estimates) {
    uppers.push_back(estimate.upper());
    value = std::max(value, estimate.value);
  }
  const auto next_largest = uppers.begin() + static_cast<std::ptrdiff_t>(max_exact);
  std::nth_element(uppers.begin(), next_largest, uppers.end(), std::greater<>());
  return *next_largest - value > required_accuracy * std::max(1.0, *next_largest);
}

}  // namespace

bool error_interval_contains(double lower, double upper, double tolerance) {
  const auto is_between = [&](double limit) { return lower <= limit && limit < upper; };
  return is_between(tolerance) || is_between(suspect_factor * tolerance);
}

template <class T>
Findings verify_columns(Reductions<T>& reductions, const ProductOperands<T>& operands,
                        const ResidualTarget<T>& target, Measure measure, const std::vector<Scale>& scales,
                        double factor, double tolerance) {
  const auto scale = [&](std::size_t j) -> const Scale& {
    return scales.size() == 1 ? scales[0] : scales[j];
  };
  const WideNumber wide_factor(factor);
  std::vector<ColumnResidual> columns = reductions.residual_columns(operands, target, measure);
  std::vector<RatioEstimate> estimates;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const WideNumber divisor = scale(j).with_underflow * wide_factor;
    estimates.push_back({(columns[j].value / divisor).value(), (columns[j].bound / divisor).value()});
  }
  const double cost = static_cast<double>(operands.rows()) * static_cast<double>(operands.terms());
  const bool stays_inaccurate = cannot_be_accurate(estimates, exact_term_budget / cost);
  double exact_terms = 0;
  double upper = 0;
  // Repeatedly sums the column with the largest upper bound exactly, until the status is certain and the
  // ratio is accurate. Once the status is certain, at most exact_term_budget terms are spent on accuracy.
  while (true) {
    const auto worst = std::max_element(
        estimates.begin(), estimates.end(),
        [](const RatioEstimate& a, const RatioEstimate& b) { return a.upper() < b.upper(); });
    double lower = 0;
    for (const RatioEstimate& estimate : estimates) lower = std::max(lower, estimate.lower());
    upper = worst->upper();
    if (worst->bound == 0) break;
    const bool is_undecided = error_interval_contains(lower, upper, tolerance);
    const bool is_accurate = upper - lower <= required_accuracy * std::max(1.0, upper);
    if (!is_undecided && (is_accurate || stays_inaccurate || exact_terms + cost > exact_term_budget)) break;
    const auto j = static_cast<std::size_t>(worst - estimates.begin());
    columns[j].value = exact_column(operands, target, measure, static_cast<std::int64_t>(j));
    *worst = {(columns[j].value / (scale(j).with_underflow * wide_factor)).value(), /*bound=*/0};
    exact_terms += cost;
  }
  Findings findings = unknown();
  findings.ratio = findings.backward_error = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    findings.ratio = std::max(findings.ratio, estimates[j].value);
    findings.backward_error = std::max(findings.backward_error, (columns[j].value / scale(j).plain).value());
  }
  findings.ratio_bound = upper - findings.ratio;
  return findings;
}

template Findings verify_columns<float>(Reductions<float>&, const ProductOperands<float>&,
                                        const ResidualTarget<float>&, Measure, const std::vector<Scale>&,
                                        double, double);
template Findings verify_columns<double>(Reductions<double>&, const ProductOperands<double>&,
                                         const ResidualTarget<double>&, Measure, const std::vector<Scale>&,
                                         double, double);

}  // namespace gaussweep::verifiers
