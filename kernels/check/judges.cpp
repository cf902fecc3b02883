#include "kernels/check/judges.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace gaussweep::judges {
namespace {

/// A column's ratio lies between `value - bound` and `value + bound`.
struct Estimate {
  double value, bound;
  double lower() const { return value - bound; }
  double upper() const { return std::min(value + bound, beyond_everything); }
};

/// So many terms are added exactly only to make a ratio sharper.
constexpr double terms_for_sharpness = 1 << 22;
constexpr double sharpness = 1e-3;

/// Whether the columns beyond the `most` with the largest bounds leave the ratio less sharp than wanted, were
/// these exact: then none need be.
bool stays_blunt(const std::vector<Estimate>& estimates, double most) {
  if (most >= static_cast<double>(estimates.size())) return false;
  std::vector<double> uppers;
  double value = 0;
  for (const Estimate& estimate : estimates) {
    uppers.push_back(estimate.upper());
    value = std::max(value, estimate.value);
  }
  const auto next = uppers.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(uppers.begin(), next, uppers.end(), std::greater<>());
  return *next - value > sharpness * std::max(1.0, *next);
}

}  // namespace

bool is_open(double lower, double upper, double tolerance) {
  const auto lies_between = [&](double limit) { return lower <= limit && limit < upper; };
  return lies_between(tolerance) || lies_between(suspect_factor * tolerance);
}

template <class T>
Findings judge_columns(Reductions<T>& reductions, const Factors<T>& factors, const Target<T>& target,
                       Measure measure, const std::vector<Scale>& scales, double factor, double tolerance) {
  const auto scale = [&](std::size_t j) -> const Scale& {
    return scales.size() == 1 ? scales[0] : scales[j];
  };
  const Scaled held_factor(factor);
  std::vector<ColumnResidual> columns = reductions.residual_columns(factors, target, measure);
  std::vector<Estimate> estimates;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Scaled whole = scale(j).held * held_factor;
    estimates.push_back({(columns[j].value / whole).value(), (columns[j].bound / whole).value()});
  }
  const double cost = static_cast<double>(factors.rows()) * static_cast<double>(factors.terms());
  const bool is_blunt = stays_blunt(estimates, terms_for_sharpness / cost);
  double spent = 0;
  double upper = 0;
  while (true) {
    const auto worst =
        std::max_element(estimates.begin(), estimates.end(),
                         [](const Estimate& a, const Estimate& b) { return a.upper() < b.upper(); });
    double lower = 0;
    for (const Estimate& estimate : estimates) lower = std::max(lower, estimate.lower());
    upper = worst->upper();
    if (worst->bound == 0) break;
    const bool open = is_open(lower, upper, tolerance);
    const bool sharp = upper - lower <= sharpness * std::max(1.0, upper);
    if (!open && (sharp || is_blunt || spent + cost > terms_for_sharpness)) break;
    const auto j = static_cast<std::size_t>(worst - estimates.begin());
    columns[j].value = exact_column(factors, target, measure, static_cast<std::int64_t>(j));
    *worst = {(columns[j].value / (scale(j).held * held_factor)).value(), 0};
    spent += cost;
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

template Findings judge_columns<float>(Reductions<float>&, const Factors<float>&, const Target<float>&,
                                       Measure, const std::vector<Scale>&, double, double);
template Findings judge_columns<double>(Reductions<double>&, const Factors<double>&, const Target<double>&,
                                        Measure, const std::vector<Scale>&, double, double);

}  // namespace gaussweep::judges
