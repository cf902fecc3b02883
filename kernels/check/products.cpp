// gemm, trtri, geinv and poinv: the residual of one product.

#include <algorithm>

#include "kernels/check/judges.hpp"

namespace gaussweep::judges {
namespace {

/// ||C - A B||_F, its quotient by `divisor`, and the quotient's error bound.
struct FrobeniusRatio {
  Scaled residual;
  double ratio, bound;
};

template <class T>
FrobeniusRatio normwise(Reductions<T>& reductions, const Factors<T>& factors, const Target<T>& target,
                        const Scaled& divisor, double tolerance) {
  Scaled squares, bounds;
  for (const ColumnResidual& column : reductions.residual_columns(factors, target, Measure::squares)) {
    squares = squares + column.value;
    bounds = bounds + column.bound;
  }
  FrobeniusRatio found{square_root(squares), 0, (square_root(bounds) / divisor).value()};
  found.ratio = (found.residual / divisor).value();
  if (!is_open(found.ratio - found.bound, found.ratio + found.bound, tolerance)) return found;
  squares = Scaled();
  for (std::int64_t j = 0; j < factors.cols(); ++j) {
    squares = squares + exact_column(factors, target, Measure::squares, j);
  }
  found.residual = square_root(squares);
  return {found.residual, (found.residual / divisor).value(), 0};
}

/// Verifies I = left right, with `part` of both factors.
template <class T>
Findings identity(Reductions<T>& reductions, const HostMatrix<T>& left, const HostMatrix<T>& right, Part part,
                  const Scale& scale, double tolerance) {
  return judge_columns(reductions, Factors<T>{Operand<T>(left, part), Operand<T>(right, part)}, Target<T>{},
                       Measure::sum, {scale}, static_cast<double>(left.rows) * unit_roundoff<T>, tolerance);
}

/// Returns ||A|| ||X||.
template <class T>
Scale scale_of_inverse(Reductions<T>& reductions, const HostMatrix<T>& a, const HostMatrix<T>& x, Part part) {
  const Scaled a_norm = reductions.one_norm(a, part);
  const Scaled x_norm = reductions.one_norm(x, part);
  return {a_norm * x_norm, a_norm * (x_norm + Scaled(smallest_normal<T>))};
}

}  // namespace

template <class T>
Findings inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance) {
  const Part part = part_of_x(method, inputs.shape);
  const Scale scale = scale_of_inverse(reductions, inputs.a, answer.x, part);
  return identity(reductions, inputs.a, answer.x, part, scale, tolerance);
}

template <class T>
Findings either_inverse(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                        const Answer<T>& answer, double tolerance) {
  const Part part = part_of_x(method, inputs.shape);
  const Scale scale = scale_of_inverse(reductions, inputs.a, answer.x, part);
  const Findings right = identity(reductions, inputs.a, answer.x, part, scale, tolerance);
  if (right.ratio <= second_look(inputs.shape.n)) return right;
  const Findings left = identity(reductions, answer.x, inputs.a, part, scale, tolerance);
  return left.ratio < right.ratio ? left : right;
}

template <class T>
Findings product(Reductions<T>& reductions, const Method& method, const Inputs<T>& inputs,
                 const Answer<T>& answer, double tolerance) {
  const double k_and_two = static_cast<double>(inputs.shape.k) + 2;
  const Factors<T> factors{Operand<T>(inputs.a), Operand<T>(inputs.b)};
  const Target<T> target{&answer.x};
  const Scaled norms = reductions.frobenius_norm(inputs.a) * reductions.frobenius_norm(inputs.b);
  const Scaled divisor = norms * Scaled(std::sqrt(k_and_two) * unit_roundoff<T>);
  const FrobeniusRatio found = normwise(reductions, factors, target, divisor, tolerance);
  Findings findings = unknown();
  findings.backward_error = (found.residual / norms).value();
  findings.ratio = found.ratio;
  findings.ratio_bound = found.bound;
  // Any order of summation has an error of at most gamma_(k+2) |A||B|, plus half the smallest number for each
  // product that underflows.
  if (found.ratio + found.bound > 1) {
    const Scaled smallest(static_cast<double>(std::numeric_limits<T>::denorm_min()));
    const double roundings = k_and_two * unit_roundoff<T>;
    const double gamma = roundings / (1 - std::min(roundings, 0.5));
    const double largest_share =
        reductions.largest_share(factors, target, {gamma, smallest * Scaled(k_and_two)});
    const double as_ratio = largest_share * method.problem->tolerance;
    if (as_ratio < findings.ratio) {
      findings.ratio = as_ratio;
      findings.ratio_bound = as_ratio * 0x1p-9;
    }
  }
  return findings;
}

template Findings inverse<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                 const Answer<float>&, double);
template Findings inverse<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                  const Answer<double>&, double);
template Findings either_inverse<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                        const Answer<float>&, double);
template Findings either_inverse<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                         const Answer<double>&, double);
template Findings product<float>(Reductions<float>&, const Method&, const Inputs<float>&,
                                 const Answer<float>&, double);
template Findings product<double>(Reductions<double>&, const Method&, const Inputs<double>&,
                                  const Answer<double>&, double);

}  // namespace gaussweep::judges
