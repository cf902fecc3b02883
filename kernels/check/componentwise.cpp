// Computes the componentwise backward error (check.hpp).

#include <cmath>
#include <limits>

#include "kernels/check/verifiers.hpp"

namespace gaussweep {
namespace {

constexpr double max_multiplications = 0x1p27;  ///< the largest m n k for which |A| |B| is computed
constexpr double max_exact_terms = 0x1p22;      ///< exact sums of this many terms take milliseconds

}  // namespace

template <class T>
double componentwise_error(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer,
                           Reductions<T>& reductions) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  constexpr double roundoff = verifiers::unit_roundoff<T>;
  const ProblemRow& problem = method.problem.row();
  if (problem.second == SecondOperand::none) return unknown;
  const bool is_product = problem.second == SecondOperand::matrix;
  const HostMatrix<T>&right = is_product ? inputs.b : answer.x, &target = is_product ? answer.x : inputs.b;
  const ProductOperands<T> operands{Operand<T>(inputs.a, verifiers::part_of_a(method, inputs.shape)),
                                    Operand<T>(right)};
  const double multiplications = static_cast<double>(operands.rows()) * static_cast<double>(operands.cols()) *
                                 static_cast<double>(operands.terms());
  if (is_product && multiplications > max_multiplications) return unknown;
  for (const auto& [matrix, part] :
       {std::pair{&inputs.a, operands.left.part}, std::pair{&inputs.b, MatrixPart::all},
        std::pair{&answer.x, MatrixPart::all}}) {
    if (!std::isfinite(reductions.max_norm(*matrix, part))) return std::numeric_limits<double>::infinity();
  }
  // The allowed residual (Allowance in residual.hpp) is u times the denominator of check.hpp.
  Allowance allowance;
  allowance.product_factor = allowance.target_factor = roundoff;
  allowance.absolute_term = WideNumber(static_cast<double>(std::numeric_limits<T>::denorm_min())) *
                            WideNumber(static_cast<double>(operands.terms()) + 2);
  allowance.negligible = 0.25;  // the error bound of check.hpp: u / 4
  allowance.max_exact_terms = max_exact_terms;
  return roundoff * reductions.largest_allowance_ratio(operands, ResidualTarget<T>{&target}, allowance);
}

template <class T>
double componentwise_error(const Method& method, const Inputs<T>& inputs, const Answer<T>& answer) {
  HostReductions<T> on_host;
  return componentwise_error(method, inputs, answer, on_host);
}

#define GAUSSWEEP_COMPONENTWISE(T)                                                                        \
  template double componentwise_error(const Method&, const Inputs<T>&, const Answer<T>&, Reductions<T>&); \
  template double componentwise_error(const Method&, const Inputs<T>&, const Answer<T>&);
GAUSSWEEP_COMPONENTWISE(float)
GAUSSWEEP_COMPONENTWISE(double)
#undef GAUSSWEEP_COMPONENTWISE

}  // namespace gaussweep
