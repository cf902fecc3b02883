// Starts the kernels of system_ratios.cu, which verify a batch, and downloads their results.

#include "kernels/check/system_ratios.hpp"

#include <cstring>
#include <limits>

#include "kernels/check/device_reductions.hpp"
#include "kernels/check/verifiers.hpp"

namespace gaussweep {
namespace {

/// Returns the kind of ratio that the problem's verifier computes, if a kernel computes it too.
std::optional<RatioKind> ratio_kind_of(const ProblemRow& problem) {
  const Verifier<double> verifier = problem.verifier.float64;
  if (verifier == verifiers::solution<double> || verifier == verifiers::system_solution<double>)
    return RatioKind::solution;
  if (verifier == verifiers::lu_factors<double>) return RatioKind::lu_factors;
  if (verifier == verifiers::cholesky_factor<double>) return RatioKind::cholesky_factor;
  if (verifiers::is_of_inverse(verifier)) return RatioKind::inverse;
  if (verifier == verifiers::product<double>) return RatioKind::product;
  return std::nullopt;
}

}  // namespace

template <class T>
SystemRatios::SystemRatios(Context& context, const BatchToVerify<T>& systems, const Buffer& inputs,
                           std::int64_t count)
    : context_(context),
      batch_(systems.shape.batch),
      count_(count),
      ratios_(scratch_of(context).take(static_cast<std::size_t>(batch_) * sizeof(double))),
      totals_(scratch_of(context).take(sizeof(verification::RatioTotals) +
                                       static_cast<std::size_t>(count) * sizeof(double))) {
  auto* const totals = totals_.as<verification::RatioTotals>();
  context.device.fill(totals, /*byte=*/0, sizeof *totals);
  context.device.fill(&totals->worst, /*byte=*/0xff,
                      sizeof totals->worst);  // the initial value for atomicMin
  const bool on_gpu = context.device.backend() == Backend::cuda;
#ifdef GAUSSWEEP_HAS_CUDA
  if (on_gpu) cuda::start_ratios(context, systems, count, ratios_.as<double>(), totals);
#endif
  if (!on_gpu) emulated::start_ratios(context, systems, count, ratios_.as<double>(), totals);
  start_digest(context, inputs.data(), inputs.bytes(), &totals->digest);
}

std::vector<double> SystemRatios::all() const {
  std::vector<double> ratios(static_cast<std::size_t>(batch_));
  context_.device.to_host(ratios.data(), ratios_.as<double>(), ratios.size() * sizeof(double));
  return ratios;
}

RatioSummary SystemRatios::summary() const {
  constexpr std::size_t header = sizeof(verification::RatioTotals) / sizeof(double);
  std::vector<double> totals_and_sample(header + static_cast<std::size_t>(count_));
  context_.device.to_host(totals_and_sample.data(), totals_.as<void>(),
                          totals_and_sample.size() * sizeof(double));
  verification::RatioTotals totals{};
  std::memcpy(&totals, totals_and_sample.data(), sizeof totals);
  RatioSummary summary{static_cast<std::int64_t>(totals.not_passed),
                       /*worst=*/-1,
                       /*forward_error=*/std::numeric_limits<double>::quiet_NaN(), totals.digest,
                       /*sample=*/{totals_and_sample.begin() + header, totals_and_sample.end()}};
  if (summary.not_passed < batch_) summary.worst = static_cast<std::int64_t>(totals.worst);
  if (totals.max_error > 0) {
    --totals.max_error;
    std::memcpy(&summary.forward_error, &totals.max_error, sizeof summary.forward_error);
  }
  return summary;
}

template <class T>
std::optional<SystemRatios> system_ratios(Context& context, const Method& method, Staging<T>& staging,
                                          int set, const Shape& shape, double tolerance,
                                          std::optional<std::uint64_t> solution_seed, std::int64_t count) {
  const ProblemRow& problem = method.problem.row();
  const auto ratio_kind = ratio_kind_of(problem);
  if (!ratio_kind || method.layout != Layout::column_major) return std::nullopt;
  const Shape single = shape.single();
  const Operands<T> op = staging.operands(set);
  const BatchToVerify<T> systems{
      *ratio_kind,
      shape,
      tolerance,
      /*a=*/staging.pristine_a().data,
      /*b=*/staging.pristine_b().data,
      /*x=*/staging.answer(set).data,
      /*a_shape=*/problem.a(single),
      /*b_shape=*/problem.b != nullptr ? problem.b(single) : Extent{0, 0},
      /*x_shape=*/problem.x(single),
      part_of(problem.used_of_a, shape.uplo),
      part_of(problem.used_of_x, shape.uplo),
      /*other_side_threshold=*/problem.verifier.float64 == verifiers::left_or_right_inverse<double>
          ? other_side_threshold(shape.n)
          : std::numeric_limits<double>::infinity(),
      /*unit_lower=*/method.unit_diagonal == UnitDiagonal::lower,
      op.pivots,
      op.info,
      /*has_solution_seed=*/solution_seed.has_value(),
      solution_seed.value_or(0)};
  return SystemRatios(context, systems, staging.pristine(), count);
}

template std::optional<SystemRatios> system_ratios(Context&, const Method&, Staging<float>&, int,
                                                   const Shape&, double, std::optional<std::uint64_t>,
                                                   std::int64_t);
template std::optional<SystemRatios> system_ratios(Context&, const Method&, Staging<double>&, int,
                                                   const Shape&, double, std::optional<std::uint64_t>,
                                                   std::int64_t);

}  // namespace gaussweep
