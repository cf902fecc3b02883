// Verifies the answers of gesv, posv and trsv by the scaled residual of each right-hand side, as in the HPL
// benchmark.

#include <algorithm>

#include "kernels/check/exact_sum.hpp"
#include "kernels/check/verifiers.hpp"

namespace gaussweep::verifiers {
namespace {

/// Returns the largest 100 |residual of the first row| / |b_0| over all right-hand sides (b_0: the first
/// element of b); NaN for 0 / 0.
template <class T>
double first_row_percent(const Inputs<T>& inputs, const HostMatrix<T>& x) {
  double percent = 0;
  for (std::int64_t r = 0; r < inputs.shape.nrhs; ++r) {
    ExactSum sum;
    const double b_0 = inputs.b(0, r);
    sum.add(b_0, 1);
    for (std::int64_t j = 0; j < inputs.shape.n; ++j) sum.add(-static_cast<double>(inputs.a(0, j)), x(j, r));
    const WideNumber residual = sum.magnitude();
    if (b_0 == 0 && residual.mantissa == 0) return std::numeric_limits<double>::quiet_NaN();
    const double first = b_0 == 0 ? std::numeric_limits<double>::infinity()
                                  : (WideNumber(100) * residual / WideNumber(b_0)).value();
    percent = std::max(percent, first);
  }
  return percent;
}

}  // namespace

template <class T>
Findings solution(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                  const Answer<T>& answer, double tolerance) {
  const MatrixPart part = part_of_a(method, inputs.shape);
  const WideNumber a_norm = reductions.infinity_norm(inputs.a, part);
  std::vector<Scale> scales;
  const std::vector<double> x_maxima = reductions.column_maxima(answer.x);
  const std::vector<double> b_maxima = reductions.column_maxima(inputs.b);
  for (std::size_t r = 0; r < x_maxima.size(); ++r) {
    const WideNumber x_norm(x_maxima[r]), b_norm(b_maxima[r]);
    scales.push_back({a_norm * x_norm + b_norm, a_norm * (x_norm + WideNumber(smallest_normal<T>)) + b_norm});
  }
  Findings findings =
      verify_columns(reductions, ProductOperands<T>{Operand<T>(inputs.a, part), Operand<T>(answer.x)},
                     ResidualTarget<T>{&inputs.b}, Measure::largest, scales,
                     static_cast<double>(inputs.shape.n) * unit_roundoff<T>, tolerance);
  if (!inputs.x_true.empty()) findings.forward_error = largest_difference(answer.x, inputs.x_true);
  return findings;
}

template <class T>
Findings system_solution(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                         const Answer<T>& answer, double tolerance) {
  Findings findings = solution(reductions, method, inputs, answer, tolerance);
  findings.first_row_percent = first_row_percent(inputs, answer.x);
  return findings;
}

template Findings solution<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                  const Answer<float>&, double);
template Findings solution<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                   const Answer<double>&, double);
template Findings system_solution<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                         const Answer<float>&, double);
template Findings system_solution<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                          const Answer<double>&, double);

}  // namespace gaussweep::verifiers
