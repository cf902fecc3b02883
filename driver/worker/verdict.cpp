#include "driver/worker/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "driver/judge/judge.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/residual_device/device_reductions.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::int64_t small_order = 128;
constexpr std::uint32_t one_in = 100;
/// Multiplications of a product: a core of the CPU judges some 3e9 a second.
constexpr double most_multiplications = 0x1p38;

/// FNV-1a: the same on every machine.
std::uint32_t mixed(const std::string& text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

double multiplications(const Trial& trial) {
  const Extent a = trial.problem->a(trial.shape), x = trial.problem->x(trial.shape);
  return static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(x.cols);
}

/// By the GPU, with `copies()` of the operands that lie there, and by the CPU where it must or can not.
template <class T, class Copies>
Judgement judge_with(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                     const Answer<T>& answer, Copies&& copies) {
  std::optional<Findings> found;
  try {
    const auto reductions = little_on_host(device_reductions<T>(context, copies()));
    found = check(method, inputs, answer, trial.tolerance, *reductions);
  } catch (const OutOfMemory&) {  // beside the operands there is no room for the judge's
  }
  if (found && !is_judged_twice(trial)) return {*found, {}};
  const Findings on_cpu = check(method, inputs, answer, trial.tolerance);
  if (!found) return {on_cpu, {}};
  return {*found, disagreement(trial, *found, on_cpu)};
}

}  // namespace

bool is_small(const Trial& trial) {
  const Extent a = trial.problem->a(trial.shape);
  return std::max({a.rows, a.cols, trial.shape.n}) <= small_order;
}

bool is_judged_twice(const Trial& trial) {
  if (is_small(trial)) return true;
  return mixed(trial.key) % one_in == 0 && multiplications(trial) <= most_multiplications;
}

std::string disagreement(const Trial& trial, const Findings& on_gpu, const Findings& on_cpu) {
  const auto verdict = [&](const Findings& found) {
    return judge({trial.problem, found.ratio, trial.tolerance, 0, Convergence::none, found.flaw});
  };
  const auto bound = [](const Findings& found) { return found.ratio_bound > 0 ? found.ratio_bound : 0.0; };
  // The ratios themselves are rounded.
  const double allowed =
      bound(on_gpu) + bound(on_cpu) + 0x1p-40 * std::min(std::fabs(on_gpu.ratio), std::fabs(on_cpu.ratio));
  const bool equal = on_gpu.ratio == on_cpu.ratio || std::fabs(on_gpu.ratio - on_cpu.ratio) <= allowed;
  if (equal && verdict(on_gpu) == verdict(on_cpu) && on_gpu.flaw == on_cpu.flaw) return {};
  const auto words = [&](const Findings& found) {
    return fmt::format("residual ratio {:.17g}{}{}", found.ratio, found.flaw.empty() ? "" : ", ", found.flaw);
  };
  return fmt::format("two judges of one answer disagree: {} on the GPU, {} on the CPU (tolerance {:g})",
                     words(on_gpu), words(on_cpu), trial.tolerance);
}

template <class T>
Judgement judge_in_place(Context& context, const Trial& trial, const Method& method, Staging<T>& staging,
                         int copy, std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer) {
  return judge_with(context, trial, method, inputs, answer, [&]() -> std::vector<DeviceCopy<T>> {
    const Buffer& pristine = staging.pristine();
    const bool untouched = device_digest(context, pristine.data(), pristine.bytes()) == digest;
    if (untouched) return device_copies(staging, inputs, answer, copy);
    return {{&answer.x, staging.answer(copy)}};
  });
}

template <class T>
Judgement judge_by_upload(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                          const Answer<T>& answer) {
  return judge_with(context, trial, method, inputs, answer, [] { return std::vector<DeviceCopy<T>>{}; });
}

template Judgement judge_in_place<float>(Context&, const Trial&, const Method&, Staging<float>&, int,
                                         std::uint64_t, const Inputs<float>&, const Answer<float>&);
template Judgement judge_in_place<double>(Context&, const Trial&, const Method&, Staging<double>&, int,
                                          std::uint64_t, const Inputs<double>&, const Answer<double>&);

template Judgement judge_by_upload<float>(Context&, const Trial&, const Method&, const Inputs<float>&,
                                          const Answer<float>&);
template Judgement judge_by_upload<double>(Context&, const Trial&, const Method&, const Inputs<double>&,
                                           const Answer<double>&);

}  // namespace gaussweep::driver
