#include "driver/judge/judge_answer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <vector>

#include "kernels/check/device_reductions.hpp"
#include "kernels/check/system_ratios.hpp"
#include "kernels/core/errors.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/registry/batch.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::int64_t small_order = 128;
constexpr std::uint32_t sample_interval = 100;
/// Limit on the multiplications of a verification on the CPU; one core does about 3e9 per second.
constexpr double max_multiplications = 0x1p38;

/// Returns the FNV-1a hash, which is the same on every machine.
std::uint32_t hash_of(const std::string& text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

double multiplications(const Trial& trial) {
  const Extent a = trial.problem->a(trial.shape), x = trial.problem->x(trial.shape);
  return static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(x.cols);
}

/// Verifies an answer on the GPU with the operands' device copies `copies()`. The CPU verifies it too if
/// `is_judged_twice`, or alone if device memory does not suffice.
template <class T, class Copies>
Judgement judge_with(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                     const Answer<T>& answer, Copies&& copies) {
  std::optional<Findings> found;
  try {
    const auto reductions = small_on_host(device_reductions<T>(context, copies()));
    found = check(method, inputs, answer, trial.tolerance, *reductions);
    found->componentwise_error = componentwise_error(method, inputs, answer, *reductions);
  } catch (const OutOfMemory&) {  // the verification needs memory in addition to the operands
  }
  if (found && !is_judged_twice(trial)) return {*found, {}};
  if (!found) return judge_on_cpu(trial, method, inputs, answer);
  const Findings on_cpu = check(method, inputs, answer, trial.tolerance);
  return {*found, disagreement(trial, *found, on_cpu)};
}

}  // namespace

bool is_small(const Trial& trial) {
  const Extent a = trial.problem->a(trial.shape);
  return std::max({a.rows, a.cols, trial.shape.n}) <= small_order;
}

bool is_judged_twice(const Trial& trial) {
  if (is_small(trial)) return true;
  return hash_of(trial.key) % sample_interval == 0 && multiplications(trial) <= max_multiplications;
}

std::string disagreement(const Trial& trial, const Findings& on_gpu, const Findings& on_cpu) {
  const auto verdict = [&](const Findings& found) {
    return judge({trial.problem, found.ratio, trial.tolerance, 0, Convergence::none, found.flaw});
  };
  const auto bound = [](const Findings& found) { return found.ratio_bound > 0 ? found.ratio_bound : 0.0; };
  // The ratios themselves have rounding errors.
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
Judgement judge_on_cpu(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                       const Answer<T>& answer) {
  Findings found = check(method, inputs, answer, trial.tolerance);
  found.componentwise_error = componentwise_error(method, inputs, answer);
  return {found, {}};
}

template <class T>
Judgement judge_in_place(Context& context, const Trial& trial, const Method& method, Staging<T>& staging,
                         int copy, std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer) {
  return judge_with(context, trial, method, inputs, answer, [&]() -> std::vector<DeviceCopy<T>> {
    const Buffer& pristine = staging.pristine();
    const bool is_unmodified = device_digest(context, pristine.data(), pristine.bytes()) == digest;
    if (is_unmodified) return device_copies(staging, inputs, answer, copy);
    return {{&answer.x, staging.answer(copy)}};
  });
}

template <class T>
Judgement judge_by_upload(Context& context, const Trial& trial, const Method& method, const Inputs<T>& inputs,
                          const Answer<T>& answer) {
  return judge_with(context, trial, method, inputs, answer, [] { return std::vector<DeviceCopy<T>>{}; });
}

namespace {

/// A list of failed systems per cause, "12, 40 (zero pivot); 77 (NaN or Inf)", with at most `max_systems`
/// systems.
class FailureList {
 public:
  static constexpr std::size_t max_systems = 128;
  void add(const char* cause, std::int64_t system) {
    if (systems_.size() == max_systems) {
      ++omitted_;
      return;
    }
    systems_.push_back(system);
    std::string& list = lists_[cause];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", system);
  }
  const std::vector<std::int64_t>& systems() const { return systems_; }
  std::string words() const {
    std::string text;
    for (const auto& [cause, list] : lists_)
      text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", list, cause);
    if (omitted_ > 0) text += fmt::format("; {} more", omitted_);
    return text;
  }

 private:
  std::map<std::string, std::string> lists_;
  std::vector<std::int64_t> systems_;
  std::int64_t omitted_ = 0;
};

/// The verdicts of a batch's systems.
struct Verdicts {
  /// Index of the system with the worst verdict; among equal verdicts the largest ratio.
  std::size_t worst = 0;
  Tally tally;
  std::vector<std::int64_t> named;  ///< the first systems that do not pass
};

Verdicts verdicts_of(const Trial& trial, const std::vector<double>& ratios, const std::vector<int>& infos) {
  std::array<std::int64_t, 3> counts{};  // pass, suspect, failed
  std::array<std::int64_t, 3> first{-1, -1, -1};
  Verdicts all;
  std::size_t worst_rank = 0;
  FailureList named;
  for (std::size_t s = 0; s < ratios.size(); ++s) {
    std::size_t rank = 0;
    if (infos[s] != 0 || !(ratios[s] <= trial.tolerance)) {  // otherwise the system passes, as nearly all do
      const io::Status status =
          judge({trial.problem, ratios[s], trial.tolerance, infos[s], Convergence::none, {}});
      rank = status == io::Status::pass ? 0 : status == io::Status::suspect ? 1 : 2;
    }
    if (counts[rank]++ == 0) first[rank] = static_cast<std::int64_t>(s);
    if (rank > worst_rank || (rank == worst_rank && ratios[s] > ratios[all.worst])) all.worst = s;
    worst_rank = std::max(rank, worst_rank);
    if (rank == 0) continue;
    named.add(is_unfinished(trial.problem, infos[s]) ? pivot_words(trial.problem)
              : !std::isfinite(ratios[s])            ? "NaN or Inf"
              : rank == 1                            ? "suspect"
                                                     : "residual",
              static_cast<std::int64_t>(s));
  }
  all.named = named.systems();
  all.tally = {counts[0], counts[1], counts[2], first[2] >= 0 ? first[2] : first[1], {}};
  if (worst_rank > 0) {
    all.tally.words = fmt::format("the worst of {} systems is {}; {} suspect, {} failed: {}", ratios.size(),
                                  all.worst, counts[1], counts[2], named.words());
  }
  return all;
}

/// Returns the systems that the CPU verifies in addition to the device, independent of their verdicts.
std::vector<std::int64_t> sample_of(const Trial& trial) {
  constexpr std::int64_t small_elements = 1 << 14, max_sample = 256;
  const Extent a = trial.problem->a(trial.shape);
  const std::int64_t batch = trial.shape.batch;
  const bool all = a.rows * a.cols <= small_elements;
  const std::int64_t count =
      all ? batch : std::min(max_sample, (batch + sample_interval - 1) / sample_interval);
  std::vector<std::int64_t> systems;
  for (std::int64_t k = 0; k < count; ++k) systems.push_back(batch * k / count);
  return systems;
}

/// Returns a batch's judgement: the findings of its worst system, with the largest forward error of all
/// systems.
template <class T>
Judgement judgement_of(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                       const Answer<T>& answer, const Verdicts& verdicts, double forward_error,
                       const std::string& disagreement) {
  const auto system = static_cast<std::int64_t>(verdicts.worst);
  Findings worst =
      judge_on_cpu(trial, method, system_of(inputs, system), system_of(answer, inputs.shape, system))
          .findings;
  worst.forward_error = forward_error;
  return {worst, disagreement, answer.infos[verdicts.worst], verdicts.tally};
}

/// Returns the seed of the known solutions if generate_solution made them, which three systems are compared
/// for. Other systems may have scaled solutions; the device reports those as undecided.
template <class T>
std::optional<std::uint64_t> solution_seed(const Trial& trial, const Inputs<T>& inputs) {
  if (inputs.x_true.empty()) return std::nullopt;
  const std::int64_t batch = trial.shape.batch;
  const std::uint64_t seed = trial.matrix.spec.seed;
  for (const std::int64_t s : {std::int64_t{0}, batch / 2, batch - 1}) {
    const HostMatrix<T> one = system_of(inputs.x_true, batch, s);
    if (!(generate_solution<T>(one.rows, one.cols, seed_of_system(seed, s)).data == one.data))
      return std::nullopt;
  }
  return seed;
}

/// The device's result, valid if the inputs on the device equal the host's.
struct ByDevice {
  RatioSummary summary;
  std::vector<double> ratios;  ///< of all systems; empty if all pass
  bool knows_error;
};

}  // namespace

template <class T>
Judgement judge_systems(const Trial& trial, const Method& method, const Inputs<T>& inputs,
                        const Answer<T>& answer) {
  const std::vector<Findings> found = check_systems(method, inputs, answer, trial.tolerance);
  std::vector<double> ratios;
  for (const Findings& one : found) ratios.push_back(one.ratio);
  const Verdicts verdicts = verdicts_of(trial, ratios, answer.infos);
  return judgement_of(trial, method, inputs, answer, verdicts, largest_forward_error(inputs, answer), {});
}

template <class T>
Judgement judge_systems_in_place(Context& context, const Trial& trial, const Method& method,
                                 Staging<T>& staging, int copy, std::uint64_t digest, const Inputs<T>& inputs,
                                 const Answer<T>& answer) {
  const std::vector<std::int64_t> sample = sample_of(trial);
  std::vector<Findings> by_cpu;
  std::optional<ByDevice> by_device;
  try {
    const auto seed = solution_seed(trial, inputs);
    const auto ratios = system_ratios(context, method, staging, copy, trial.shape, trial.tolerance, seed,
                                      static_cast<std::int64_t>(sample.size()));
    if (ratios) {
      by_cpu = check_systems(method, inputs, answer, trial.tolerance, sample);  // while the device computes
      by_device = {ratios->summary(), {}, seed.has_value()};
      if (by_device->summary.not_passed > 0) by_device->ratios = ratios->all();
      if (by_device->summary.digest != digest) by_device.reset();
    }
  } catch (const OutOfMemory&) {
  }
  if (!by_device) return judge_systems(trial, method, inputs, answer);

  const auto& [summary, on_device, knows_error] = *by_device;
  std::string difference;
  const auto compare = [&](std::int64_t system, double ratio, const Findings& on_cpu) {
    Findings on_gpu = on_cpu;
    on_gpu.ratio = ratio;
    on_gpu.ratio_bound = 1e-3 * std::max(1.0, ratio);
    if (!difference.empty() || std::isnan(ratio)) return;
    difference = disagreement(trial, on_gpu, on_cpu);
    if (!difference.empty()) difference = fmt::format("system {}: {}", system, difference);
  };
  for (std::size_t k = 0; k < sample.size(); ++k) compare(sample[k], summary.sample[k], by_cpu[k]);
  double error = knows_error ? summary.forward_error : largest_forward_error(inputs, answer);
  Verdicts verdicts;
  verdicts.tally = {trial.shape.batch, 0, 0, -1, {}};
  if (summary.not_passed == 0) {
    verdicts.worst = static_cast<std::size_t>(summary.worst);
  } else {
    std::vector<double> ratios = on_device;
    std::vector<std::int64_t> undecided;
    for (std::size_t s = 0; s < ratios.size(); ++s) {
      if (std::isnan(ratios[s])) undecided.push_back(static_cast<std::int64_t>(s));
    }
    const std::vector<Findings> found = check_systems(method, inputs, answer, trial.tolerance, undecided);
    for (std::size_t k = 0; k < undecided.size(); ++k) {
      ratios[static_cast<std::size_t>(undecided[k])] = found[k].ratio;
      error = std::fmax(error, found[k].forward_error);  // fmax ignores NaN
    }
    verdicts = verdicts_of(trial, ratios, answer.infos);
    const std::vector<Findings> named =
        check_systems(method, inputs, answer, trial.tolerance, verdicts.named);
    for (std::size_t k = 0; k < named.size(); ++k)
      compare(verdicts.named[k], ratios[static_cast<std::size_t>(verdicts.named[k])], named[k]);
  }
  return judgement_of(trial, method, inputs, answer, verdicts, error, difference);
}

void record_tally(io::Record& record, const Tally& systems) {
  record.systems_pass = systems.pass;
  record.systems_suspect = systems.suspect;
  record.systems_failed = systems.failed;
  record.first_failure = systems.first_failure;
}

Evidence evidence_of(const Trial& trial, const Judgement& judgement) {
  return {trial.problem,  judgement.findings.ratio, trial.tolerance,
          judgement.info, judgement.convergence,    judgement.findings.flaw};
}

template <class T>
Judgement judge_answer(Context& context, const Trial& trial, const Method& method, Staging<T>* staging,
                       int copy, std::uint64_t digest, const Inputs<T>& inputs, const Answer<T>& answer) {
  const bool in_place = trial.backend == Backend::cuda && staging != nullptr;
  if (trial.shape.batch > 1) {
    return in_place ? judge_systems_in_place(context, trial, method, *staging, copy, digest, inputs, answer)
                    : judge_systems(trial, method, inputs, answer);
  }
  const bool uploads =
      trial.backend == Backend::cuda || (context.device.backend() == Backend::cuda && !is_small(trial));
  Judgement judgement = in_place
                            ? judge_in_place(context, trial, method, *staging, copy, digest, inputs, answer)
                        : uploads ? judge_by_upload(context, trial, method, inputs, answer)
                                  : judge_on_cpu(trial, method, inputs, answer);
  judgement.info = answer.info;
  return judgement;
}

#define GAUSSWEEP_JUDGE(T)                                                                                  \
  template Judgement judge_answer(Context&, const Trial&, const Method&, Staging<T>*, int, std::uint64_t,   \
                                  const Inputs<T>&, const Answer<T>&);                                      \
  template Judgement judge_systems(const Trial&, const Method&, const Inputs<T>&, const Answer<T>&);        \
  template Judgement judge_systems_in_place(Context&, const Trial&, const Method&, Staging<T>&, int,        \
                                            std::uint64_t, const Inputs<T>&, const Answer<T>&);             \
  template Judgement judge_on_cpu(const Trial&, const Method&, const Inputs<T>&, const Answer<T>&);         \
  template Judgement judge_in_place(Context&, const Trial&, const Method&, Staging<T>&, int, std::uint64_t, \
                                    const Inputs<T>&, const Answer<T>&);                                    \
  template Judgement judge_by_upload(Context&, const Trial&, const Method&, const Inputs<T>&,               \
                                     const Answer<T>&);
GAUSSWEEP_JUDGE(float)
GAUSSWEEP_JUDGE(double)
#undef GAUSSWEEP_JUDGE

}  // namespace gaussweep::driver
