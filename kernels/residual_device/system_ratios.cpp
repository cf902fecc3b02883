#include "kernels/residual_device/system_ratios.hpp"

#include "kernels/check/judges.hpp"

namespace gaussweep {
namespace {

std::optional<Quotient> quotient_of(const ProblemRow& problem) {
  const Judge<double> judge = problem.judge.real;
  if (judge == judges::solution<double> || judge == judges::system_solution<double>)
    return Quotient::solution;
  if (judge == judges::lu_factors<double>) return Quotient::lu_factors;
  if (judge == judges::cholesky_factor<double>) return Quotient::cholesky_factor;
  if (judge == judges::inverse<double>) return Quotient::inverse;
  if (judge == judges::product<double>) return Quotient::product;
  return std::nullopt;
}

}  // namespace

template <class T>
std::optional<std::vector<double>> system_ratios(Context& context, const Method& method, Staging<T>& staging,
                                                 int copy, const Shape& shape, double tolerance) {
  const ProblemRow& problem = method.problem.row();
  const auto quotient = quotient_of(problem);
  if (!quotient || method.layout != Layout::column_major) return std::nullopt;
  const Shape one = shape.single();
  const Operands<T> op = staging.operands(copy);
  const Systems<T> all{*quotient,
                       shape,
                       tolerance,
                       staging.pristine_a().data,
                       staging.pristine_b().data,
                       staging.answer(copy).data,
                       problem.a(one),
                       problem.b != nullptr ? problem.b(one) : Extent{0, 0},
                       problem.x(one),
                       part_of(problem.counts_of_a, shape.uplo),
                       part_of(problem.counts_of_x, shape.uplo),
                       method.unit_diagonal == UnitDiagonal::lower,
                       op.pivots,
                       op.info};
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::ratios_of(context, all);
#endif
  return emulated::ratios_of(context, all);
}

template std::optional<std::vector<double>> system_ratios(Context&, const Method&, Staging<float>&, int,
                                                          const Shape&, double);
template std::optional<std::vector<double>> system_ratios(Context&, const Method&, Staging<double>&, int,
                                                          const Shape&, double);

}  // namespace gaussweep
