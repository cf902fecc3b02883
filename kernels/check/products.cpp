// Verifies the answers of gemm (residual C - A B) and of trtri, geinv and poinv (I - A X or I - X A).

#include <algorithm>

#include "kernels/check/verifiers.hpp"

namespace gaussweep::verifiers {
namespace {

/// The normwise ratio of a product.
struct FrobeniusRatio {
  WideNumber residual;  ///< ||C - A B||_F
  double ratio;         ///< ||C - A B||_F / divisor
  double bound;         ///< an error bound of `ratio`
};

/// Computes the normwise ratio of a product. Sums exactly if the interval ratio ± bound contains the
/// tolerance or ten times the tolerance (error_interval_contains).
template <class T>
FrobeniusRatio normwise(Reductions<T>& reductions, const ProductOperands<T>& operands,
                        const ResidualTarget<T>& target, const WideNumber& divisor, double tolerance) {
  WideNumber squares, bounds;
  for (const ColumnResidual& column : reductions.residual_columns(operands, target, Measure::squares)) {
    squares = squares + column.value;
    bounds = bounds + column.bound;
  }
  // sqrt(squares + bounds) - sqrt(squares) <= sqrt(bounds)
  FrobeniusRatio normwise_ratio{square_root(squares), /*ratio=*/0, (square_root(bounds) / divisor).value()};
  normwise_ratio.ratio = (normwise_ratio.residual / divisor).value();
  if (!error_interval_contains(normwise_ratio.ratio - normwise_ratio.bound,
                               normwise_ratio.ratio + normwise_ratio.bound, tolerance))
    return normwise_ratio;
  squares = WideNumber();
  for (std::int64_t j = 0; j < operands.cols(); ++j) {
    squares = squares + exact_column(operands, target, Measure::squares, j);
  }
  normwise_ratio.residual = square_root(squares);
  return {normwise_ratio.residual, (normwise_ratio.residual / divisor).value(), /*bound=*/0};
}

/// Verifies I = left * right, where `part` of both matrices is used. A ResidualTarget without a matrix is I.
template <class T>
Findings identity(Reductions<T>& reductions, const HostMatrix<T>& left, const HostMatrix<T>& right,
                  MatrixPart part, const Scale& scale, double tolerance) {
  return verify_columns(reductions, ProductOperands<T>{Operand<T>(left, part), Operand<T>(right, part)},
                        ResidualTarget<T>{}, Measure::sum, {scale},
                        static_cast<double>(left.rows) * unit_roundoff<T>, tolerance);
}

/// Returns the scale ||A||_1 ||X||_1 (plain) and ||A||_1 (||X||_1 + v). Elements of X may underflow, which
/// causes an error of up to v, the smallest normal number.
template <class T>
Scale scale_of_inverse(Reductions<T>& reductions, const HostMatrix<T>& a, const HostMatrix<T>& x,
                       MatrixPart part) {
  const WideNumber a_norm = reductions.one_norm(a, part);
  const WideNumber x_norm = reductions.one_norm(x, part);
  return {a_norm * x_norm, a_norm * (x_norm + WideNumber(smallest_normal<T>))};
}

}  // namespace

template <class T>
Findings inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance) {
  const MatrixPart part = part_of_x(method, inputs.shape);
  const Scale scale = scale_of_inverse(reductions, inputs.a, answer.x, part);
  return identity(reductions, inputs.a, answer.x, part, scale, tolerance);
}

template <class T>
Findings left_or_right_inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                               const Answer<T>& answer, double tolerance) {
  const MatrixPart part = part_of_x(method, inputs.shape);
  const Scale scale = scale_of_inverse(reductions, inputs.a, answer.x, part);
  const Findings right = identity(reductions, inputs.a, answer.x, part, scale, tolerance);
  // No method, LAPACK's included, makes both A X - I and X A - I small. Therefore the smaller ratio counts.
  if (right.ratio <= other_side_threshold(inputs.shape.n)) return right;
  const Findings left = identity(reductions, answer.x, inputs.a, part, scale, tolerance);
  return left.ratio < right.ratio ? left : right;
}

template <class T>
Findings product(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance) {
  const double k_and_two = static_cast<double>(inputs.shape.k) + 2;
  const ProductOperands<T> operands{Operand<T>(inputs.a), Operand<T>(inputs.b)};
  const ResidualTarget<T> target{&answer.x};
  const WideNumber norms = reductions.frobenius_norm(inputs.a) * reductions.frobenius_norm(inputs.b);
  const WideNumber divisor = norms * WideNumber(std::sqrt(k_and_two) * unit_roundoff<T>);
  const FrobeniusRatio normwise_ratio = normwise(reductions, operands, target, divisor, tolerance);
  Findings findings = unknown();
  findings.backward_error = (normwise_ratio.residual / norms).value();
  findings.ratio = normwise_ratio.ratio;
  findings.ratio_bound = normwise_ratio.bound;
  // A product within its componentwise error bound passes, even if its normwise ratio is large. Let gamma =
  // (k + 2) u / (1 - (k + 2) u). In any order of summation the error is at most gamma |A||B|, plus `smallest`
  // for each product that underflows.
  if (normwise_ratio.ratio + normwise_ratio.bound > 1) {
    const WideNumber smallest(static_cast<double>(std::numeric_limits<T>::denorm_min()));
    const double roundings = k_and_two * unit_roundoff<T>;
    const double gamma = roundings / (1 - std::min(roundings, 0.5));
    const double allowance_ratio =
        reductions.largest_allowance_ratio(operands, target, {gamma, smallest * WideNumber(k_and_two)});
    // Scaled so that an error equal to the bound has a ratio equal to the default tolerance.
    const double componentwise_ratio = allowance_ratio * method.problem->tolerance;
    if (componentwise_ratio < findings.ratio) {
      findings.ratio = componentwise_ratio;
      findings.ratio_bound = componentwise_ratio * 0x1p-9;  // twice Allowance::negligible
    }
  }
  return findings;
}

template Findings inverse<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                 const Answer<float>&, double);
template Findings inverse<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                  const Answer<double>&, double);
template Findings left_or_right_inverse<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                               const Answer<float>&, double);
template Findings left_or_right_inverse<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                                const Answer<double>&, double);
template Findings product<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                 const Answer<float>&, double);
template Findings product<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                  const Answer<double>&, double);

}  // namespace gaussweep::verifiers
