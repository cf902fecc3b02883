/// Verifies answers on the GPU of the worker (the process that runs trials) if it has one, otherwise on the
/// CPU. The CPU also verifies a subset of the answers that the GPU has verified. A trial is one method on one
/// matrix, or on a batch of matrices.

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

constexpr std::int64_t small_order = 128;  // up to this order the CPU also verifies every trial
// The CPU verifies one in this number of the larger trials, and of the systems of a batch.
constexpr std::uint32_t sample_interval = 100;
/// Limit on the multiplications of the second verification, by the CPU: about 90 s on one core, which does
/// about 3e9 per second.
constexpr double max_multiplications = 0x1p38;

/// Returns the FNV-1a hash, which is the same on every machine.
std::uint32_t hash_of(const std::string& text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// Returns the number of multiplications of the product A X.
double multiplications(const Trial& trial) {
  const Extent a = trial.problem->a(trial.shape), x = trial.problem->x(trial.shape);
  return static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(x.cols);
}

bool is_small(const Trial& trial) {
  const Extent a = trial.problem->a(trial.shape);
  return std::max({a.rows, a.cols, trial.shape.n}) <= small_order;
}

/// Returns the verdicts of a batch's systems from their residual ratios and infos.
BatchVerdicts verdicts_of(const Trial& trial, const std::vector<double>& ratios,
                          const std::vector<int>& infos) {
  constexpr std::size_t max_listed = 128;  // limits the message, and the work of the second verification
  enum Severity : std::size_t { pass, suspect, failed };
  std::array<std::int64_t, 3> counts{}, first{-1, -1, -1};  // by severity
  BatchVerdicts verdicts;
  std::size_t worst_severity = pass;
  std::map<std::string, std::string> systems_by_cause;
  for (std::size_t s = 0; s < ratios.size(); ++s) {
    const auto system = static_cast<std::int64_t>(s);
    std::size_t severity = pass;
    // Nearly all systems skip this block, and with it the call of `judge`.
    if (infos[s] != 0 || !(ratios[s] <= trial.tolerance)) {
      const io::Status status =
          judge({trial.problem, ratios[s], trial.tolerance, infos[s], Convergence::none, {}});
      const std::size_t unless_passed = status == io::Status::suspect ? suspect : failed;
      severity = status == io::Status::pass ? pass : unless_passed;
    }
    if (counts[severity]++ == 0) first[severity] = system;
    if (severity > worst_severity || (severity == worst_severity && ratios[s] > ratios[verdicts.worst]))
      verdicts.worst = s;
    worst_severity = std::max(severity, worst_severity);
    if (severity == pass || verdicts.not_passed.size() == max_listed) continue;
    std::string cause = severity == suspect ? "suspect" : "residual";
    if (!std::isfinite(ratios[s])) cause = "NaN or Inf";
    if (is_unfinished(trial.problem, infos[s])) cause = pivot_name(trial.problem);
    std::string& list = systems_by_cause[cause];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", system);
    verdicts.not_passed.push_back(system);
  }
  verdicts.counts = {
      counts[pass], counts[suspect], counts[failed], first[failed] >= 0 ? first[failed] : first[suspect], {}};
  if (worst_severity == pass) return verdicts;
  std::string lists;
  for (const auto& [cause, list] : systems_by_cause)
    lists += fmt::format("{}{} ({})", lists.empty() ? "" : "; ", list, cause);
  const std::int64_t unlisted =
      counts[suspect] + counts[failed] - static_cast<std::int64_t>(verdicts.not_passed.size());
  if (unlisted > 0) lists += fmt::format("; {} more", unlisted);
  verdicts.counts.description =
      fmt::format("the worst of {} systems is {}; {} suspect, {} failed: {}", ratios.size(), verdicts.worst,
                  counts[suspect], counts[failed], lists);
  return verdicts;
}

/// Returns the systems of a batch that the CPU always verifies in addition to the device. Returns all systems
/// if they are small, because their verification is cheap.
std::vector<std::int64_t> sample_of(const Trial& trial) {
  constexpr std::int64_t small_elements = 1 << 14, max_sample = 256;
  const Extent a = trial.problem->a(trial.shape);
  const std::int64_t batch = trial.shape.batch;
  const bool are_small = a.rows * a.cols <= small_elements;
  const std::int64_t count =
      are_small ? batch : std::min(max_sample, (batch + sample_interval - 1) / sample_interval);
  std::vector<std::int64_t> systems;
  for (std::int64_t k = 0; k < count; ++k) systems.push_back(batch * k / count);
  return systems;
}

/// Returns the seed of a batch's known solutions if generate_solution made all of them; the device then
/// generates them again. Compares only the solutions of three systems with generated ones. A known solution
/// whose right-hand sides would overflow was scaled, so the generated one is wrong. The device reports such a
/// system as undecided, and the CPU verifies it.
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

}  // namespace

bool is_verified_twice(const Trial& trial) {
  if (is_small(trial)) return true;
  return hash_of(trial.key) % sample_interval == 0 && multiplications(trial) <= max_multiplications;
}

std::string disagreement(const Trial& trial, const Findings& on_gpu, const Findings& on_cpu) {
  const auto verdict = [&](const Findings& found) {
    return judge({trial.problem, found.ratio, trial.tolerance, 0, Convergence::none, found.flaw});
  };
  const auto bound = [](const Findings& found) { return found.ratio_bound > 0 ? found.ratio_bound : 0.0; };
  // The last term allows for rounding errors of the ratios themselves.
  const double allowed =
      bound(on_gpu) + bound(on_cpu) + 0x1p-40 * std::min(std::fabs(on_gpu.ratio), std::fabs(on_cpu.ratio));
  const bool equal = on_gpu.ratio == on_cpu.ratio || std::fabs(on_gpu.ratio - on_cpu.ratio) <= allowed;
  if (equal && verdict(on_gpu) == verdict(on_cpu) && on_gpu.flaw == on_cpu.flaw) return {};
  const auto description_of = [&](const Findings& found) {
    return fmt::format("residual ratio {:.17g}{}{}", found.ratio, found.flaw.empty() ? "" : ", ", found.flaw);
  };
  return fmt::format(
      "two verifications of one answer disagree: {} on the GPU, {} on the CPU (tolerance {:g})",
      description_of(on_gpu), description_of(on_cpu), trial.tolerance);
}

Evidence evidence_of(const Trial& trial, const VerifiedAnswer& answer) {
  return {trial.problem, answer.findings.ratio, trial.tolerance,
          answer.info,   answer.convergence,    answer.findings.flaw};
}

template <class T>
VerifiedAnswer AnswerVerifier<T>::verify(const Answer<T>& answer, Staging<T>* staging, int set) const {
  const bool ran_on_gpu = trial_.backend == Backend::cuda, is_in_place = ran_on_gpu && staging != nullptr;
  if (trial_.shape.batch > 1) return is_in_place ? systems_in_place(answer, *staging, set) : systems(answer);
  const bool uploads = ran_on_gpu || (context_.device.backend() == Backend::cuda && !is_small(trial_));
  const auto verified = [&] {
    if (is_in_place) return in_place(answer, *staging, set);
    return uploads ? by_upload(answer) : on_cpu(answer);
  };
  VerifiedAnswer result = verified();
  result.info = answer.info;
  return result;
}

template <class T>
VerifiedAnswer AnswerVerifier<T>::on_cpu(const Answer<T>& answer) const {
  Findings found = check(method_, inputs_, answer, trial_.tolerance);
  found.componentwise_error = componentwise_error(method_, inputs_, answer);
  return {found, /*disagreement=*/{}};
}

/// Verifies an answer on the GPU with device copies of its operands. If `is_verified_twice`, also verifies it
/// on the CPU.
template <class T>
template <class Copies>
VerifiedAnswer AnswerVerifier<T>::on_device(const Answer<T>& answer, Copies&& copies) const {
  Findings found;
  try {
    const auto reductions = small_on_host(device_reductions<T>(context_, copies()));
    found = check(method_, inputs_, answer, trial_.tolerance, *reductions);
    found.componentwise_error = componentwise_error(method_, inputs_, answer, *reductions);
  } catch (const OutOfMemory&) {  // the verification needs memory in addition to the operands
    return on_cpu(answer);
  }
  if (!is_verified_twice(trial_)) return {found, /*disagreement=*/{}};
  return {found, disagreement(trial_, found, check(method_, inputs_, answer, trial_.tolerance))};
}

template <class T>
VerifiedAnswer AnswerVerifier<T>::in_place(const Answer<T>& answer, Staging<T>& staging, int set) const {
  return on_device(answer, [&]() -> std::vector<DeviceCopy<T>> {
    const Buffer& pristine = staging.pristine();
    const bool is_unmodified = device_digest(context_, pristine.data(), pristine.bytes()) == digest_;
    if (is_unmodified) return device_copies(staging, inputs_, answer, set);
    return {{&answer.x, staging.answer(set)}};  // the answer alone, so that the inputs are uploaded again
  });
}

template <class T>
VerifiedAnswer AnswerVerifier<T>::by_upload(const Answer<T>& answer) const {
  return on_device(answer, [] { return std::vector<DeviceCopy<T>>{}; });
}

/// Returns a batch's verification: the findings of its worst system, and all systems' largest forward error.
template <class T>
VerifiedAnswer AnswerVerifier<T>::of_batch(const Answer<T>& answer, const BatchVerdicts& verdicts,
                                           double forward_error, const std::string& disagreement) const {
  const auto system = static_cast<std::int64_t>(verdicts.worst);
  const Inputs<T> inputs = system_of(inputs_, system);
  Findings worst = AnswerVerifier(context_, trial_, method_, inputs)
                       .on_cpu(system_of(answer, inputs_.shape, system))
                       .findings;
  worst.forward_error = forward_error;
  return {worst, disagreement, answer.infos[verdicts.worst], verdicts.counts};
}

template <class T>
VerifiedAnswer AnswerVerifier<T>::systems(const Answer<T>& answer) const {
  std::vector<double> ratios;
  for (const Findings& found : check_systems(method_, inputs_, answer, trial_.tolerance))
    ratios.push_back(found.ratio);
  return of_batch(answer, verdicts_of(trial_, ratios, answer.infos), largest_forward_error(inputs_, answer),
                  {});
}

template <class T>
VerifiedAnswer AnswerVerifier<T>::systems_in_place(const Answer<T>& answer, Staging<T>& staging,
                                                   int set) const {
  const std::vector<std::int64_t> sample = sample_of(trial_);
  const auto seed = solution_seed(trial_, inputs_);
  std::vector<Findings> sample_by_cpu;
  std::optional<RatioSummary> summary;
  std::vector<double> ratios;  // per system, NaN if the CPU has to decide; empty if all pass
  try {
    const auto on_gpu = system_ratios(context_, method_, staging, set, trial_.shape, trial_.tolerance, seed,
                                      static_cast<std::int64_t>(sample.size()));
    if (on_gpu) {
      sample_by_cpu =
          check_systems(method_, inputs_, answer, trial_.tolerance, sample);  // while the GPU works
      const RatioSummary found = on_gpu->summary();
      if (found.not_passed > 0) ratios = on_gpu->all();
      summary = found;
    }
  } catch (const OutOfMemory&) {  // then the CPU verifies all systems
  }
  if (!summary || summary->digest != digest_) return systems(answer);

  std::string difference;  // describes the first system for which GPU and CPU disagree
  const auto compare = [&](std::int64_t system, double ratio, const Findings& on_cpu) {
    Findings on_gpu = on_cpu;
    on_gpu.ratio = ratio;
    on_gpu.ratio_bound = 1e-3 * std::max(1.0, ratio);  // the GPU's sums are not exact
    // NaN: the GPU could not decide this system; the CPU verifies it below.
    if (!difference.empty() || std::isnan(ratio)) return;
    difference = disagreement(trial_, on_gpu, on_cpu);
    if (!difference.empty()) difference = fmt::format("system {}: {}", system, difference);
  };
  for (std::size_t k = 0; k < sample.size(); ++k) compare(sample[k], summary->sample[k], sample_by_cpu[k]);
  double error = seed ? summary->forward_error : largest_forward_error(inputs_, answer);
  if (summary->not_passed == 0) {
    const BatchVerdicts all_pass{
        static_cast<std::size_t>(summary->worst), {trial_.shape.batch, 0, 0, -1, {}}, {}};
    return of_batch(answer, all_pass, error, difference);
  }
  std::vector<std::int64_t> undecided;
  for (std::size_t s = 0; s < ratios.size(); ++s) {
    if (std::isnan(ratios[s])) undecided.push_back(static_cast<std::int64_t>(s));
  }
  const std::vector<Findings> found = check_systems(method_, inputs_, answer, trial_.tolerance, undecided);
  for (std::size_t k = 0; k < undecided.size(); ++k) {
    ratios[static_cast<std::size_t>(undecided[k])] = found[k].ratio;
    error = std::fmax(error, found[k].forward_error);  // fmax ignores NaN
  }
  const BatchVerdicts verdicts = verdicts_of(trial_, ratios, answer.infos);
  const std::vector<std::int64_t>& not_passed = verdicts.not_passed;
  const std::vector<Findings> by_cpu = check_systems(method_, inputs_, answer, trial_.tolerance, not_passed);
  for (std::size_t k = 0; k < by_cpu.size(); ++k)
    compare(not_passed[k], ratios[static_cast<std::size_t>(not_passed[k])], by_cpu[k]);
  return of_batch(answer, verdicts, error, difference);
}

template class AnswerVerifier<float>;
template class AnswerVerifier<double>;

}  // namespace gaussweep::driver
