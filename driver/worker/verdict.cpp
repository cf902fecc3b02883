#include "driver/worker/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
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

namespace {

/// "12, 40 (zero pivot); 77 (NaN or Inf)": as many systems as one reads.
class Named {
 public:
  void add(const char* cause, std::int64_t system) {
    if (++count_ > most_named) return;
    std::string& list = lists_[cause];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", system);
  }
  std::string words() const {
    std::string text;
    for (const auto& [cause, list] : lists_)
      text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", list, cause);
    if (count_ > most_named) text += fmt::format("; {} more", count_ - most_named);
    return text;
  }

 private:
  static constexpr std::int64_t most_named = 128;
  std::map<std::string, std::string> lists_;
  std::int64_t count_ = 0;
};

}  // namespace

template <class T>
Judgement judge_systems(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                        const Answer<T>& answer) {
  const std::vector<Findings> found = check_systems(method, inputs, answer, trial.tolerance);
  std::array<std::int64_t, 3> counts{};  // pass, suspect, failed
  std::array<std::int64_t, 3> first{-1, -1, -1};
  std::size_t worst = 0, worst_rank = 0;
  Named named;
  for (std::size_t s = 0; s < found.size(); ++s) {
    const Evidence evidence{trial.problem,   found[s].ratio,    trial.tolerance,
                            answer.infos[s], Convergence::none, found[s].flaw};
    const io::Status status = judge(evidence);
    const std::size_t rank = status == io::Status::pass ? 0 : status == io::Status::suspect ? 1 : 2;
    if (counts[rank]++ == 0) first[rank] = static_cast<std::int64_t>(s);
    if (rank > worst_rank || (rank == worst_rank && found[s].ratio > found[worst].ratio)) worst = s;
    worst_rank = std::max(rank, worst_rank);
    if (rank == 0) continue;
    named.add(is_unfinished(trial.problem, evidence.info) ? "zero or non-positive pivot"
              : !std::isfinite(evidence.ratio)            ? "NaN or Inf"
              : rank == 1                                 ? "suspect"
                                                          : "residual",
              static_cast<std::int64_t>(s));
  }
  Judgement result{found[worst], {}, answer.infos[worst]};
  result.systems = {counts[0], counts[1], counts[2], first[2] >= 0 ? first[2] : first[1], {}};
  if (worst_rank > 0) {
    result.systems.words = fmt::format("the worst of {} systems is {}; {} suspect, {} failed: {}",
                                       found.size(), worst, counts[1], counts[2], named.words());
  }
  return result;
}

void tell(io::Record& record, const Tally& systems) {
  record.systems_pass = systems.pass;
  record.systems_suspect = systems.suspect;
  record.systems_failed = systems.failed;
  record.first_failure = systems.first_failure;
}

template Judgement judge_systems<float>(const Trial&, const Method&, const Inputs<float>&,
                                        const Answer<float>&);
template Judgement judge_systems<double>(const Trial&, const Method&, const Inputs<double>&,
                                         const Answer<double>&);

template Judgement judge_in_place<float>(Context&, const Trial&, const Method&, Staging<float>&, int,
                                         std::uint64_t, const Inputs<float>&, const Answer<float>&);
template Judgement judge_in_place<double>(Context&, const Trial&, const Method&, Staging<double>&, int,
                                          std::uint64_t, const Inputs<double>&, const Answer<double>&);

template Judgement judge_by_upload<float>(Context&, const Trial&, const Method&, const Inputs<float>&,
                                          const Answer<float>&);
template Judgement judge_by_upload<double>(Context&, const Trial&, const Method&, const Inputs<double>&,
                                           const Answer<double>&);

}  // namespace gaussweep::driver
