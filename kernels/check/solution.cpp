// gesv and trsv: the residual of HPL, a right-hand side at a time.

#include <algorithm>

#include "kernels/check/exact_sum.hpp"
#include "kernels/check/judges.hpp"

namespace gaussweep::judges {
namespace {

/// max |x_i| of column r.
template <class T>
Scaled column_max(const HostMatrix<T>& x, std::int64_t r) {
  double largest = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(x(i, r))));
  }
  return Scaled(largest);
}

/// The first row's residual beside b_0, of the worst right-hand side; 0 / 0, a share of nothing, is unknown.
template <class T>
double first_row_percent(const Inputs<T>& inputs, const HostMatrix<T>& x) {
  double percent = 0;
  for (std::int64_t r = 0; r < inputs.shape.nrhs; ++r) {
    ExactSum sum;
    const double b_0 = inputs.b(0, r);
    sum.add(b_0, 1);
    for (std::int64_t j = 0; j < inputs.shape.n; ++j) sum.add(-static_cast<double>(inputs.a(0, j)), x(j, r));
    const Scaled residual = sum.size();
    if (b_0 == 0 && residual.mantissa == 0) return std::numeric_limits<double>::quiet_NaN();
    const double first =
        b_0 == 0 ? std::numeric_limits<double>::infinity() : (Scaled(100) * residual / Scaled(b_0)).value();
    percent = std::max(percent, first);
  }
  return percent;
}

}  // namespace

template <class T>
Findings solution(Problem problem, const Inputs<T>& inputs, const Answer<T>& answer, double tolerance) {
  const Part part = problem == Problem::trsv ? part_of(inputs.shape.uplo) : Part::all;
  const Scaled a_norm = infinity_norm(inputs.a, part);
  std::vector<Scale> scales;
  for (std::int64_t r = 0; r < inputs.shape.nrhs; ++r) {
    const Scaled x_norm = column_max(answer.x, r), b_norm = column_max(inputs.b, r);
    scales.push_back({a_norm * x_norm + b_norm, a_norm * (x_norm + Scaled(smallest_normal<T>)) + b_norm});
  }
  const auto target = [&](std::int64_t i, std::int64_t r) { return static_cast<double>(inputs.b(i, r)); };
  Findings findings =
      judge_columns(Factors<T>{Operand<T>(inputs.a, part), Operand<T>(answer.x)}, target, Measure::largest,
                    scales, static_cast<double>(inputs.shape.n) * unit_roundoff<T>, tolerance);
  if (problem == Problem::gesv) findings.first_row_percent = first_row_percent(inputs, answer.x);
  if (!inputs.x_true.empty()) findings.forward_error = largest_difference(answer.x, inputs.x_true);
  return findings;
}

template Findings solution<float>(Problem, const Inputs<float>&, const Answer<float>&, double);
template Findings solution<double>(Problem, const Inputs<double>&, const Answer<double>&, double);

}  // namespace gaussweep::judges
