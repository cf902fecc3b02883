/// Estimates the time left of a sweep from its finished trials.

#include "driver/plan/time_left.hpp"

#include <algorithm>
#include <tuple>

#include "driver/plan/trial.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {
constexpr double max_bounds_ratio = 10;  // an estimate with a larger ratio of its bounds is not shown
}  // namespace

TimeLeft::TimeLeft(const CostModel& model, const Registry& registry, const std::vector<Trial>& trials)
    : model_(model), trials_(trials), done_(trials.size(), false) {
  std::map<std::tuple<const Method*, Precision, Backend, double, double, std::int64_t, bool>, std::size_t>
      indices;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& t = trials[i];
    const Method* method = registry.find(t.problem, t.method);
    const double flops = method == nullptr ? 0 : trial_flops(*method, t.shape, t.parameters);
    const auto runs = (t.sampling.warmup + t.sampling.min_samples) * t.inner_repeats;
    // Trials that agree in all of these have the same expected time.
    const auto [index, is_new] = indices.try_emplace(
        {method, t.precision, t.backend, flops, t.sampling.noise, runs, measures_energy(t)}, classes_.size());
    if (is_new) classes_.push_back({i});
    class_of_.push_back(index->second);
    if (t.skip_reason.empty()) classes_[index->second].left += 1;
  }
}

void TimeLeft::done(std::size_t trial, const io::Record& record) {
  if (!done_[trial]) classes_[class_of_[trial]].left -= 1;
  done_[trial] = true;
  const double end = parse_time(record.end_time), began = record.prepare_began;
  if (!(end >= began)) return;  // the times are NaN, because the worker died
  Rank& rank = ranks_.try_emplace(record.rank, Rank{began, end}).first->second;
  rank.began = std::min(rank.began, began);
  rank.ended = std::max(rank.ended, end);
  rank.busy += end - began;
}

std::optional<TimeRange> TimeLeft::seconds(double ranks, double spent) const {
  TimeRange sum, longest;
  for (const TrialClass& trial_class : classes_) {
    if (trial_class.left <= 0) continue;
    const Trial& first = trials_[trial_class.first];
    const std::optional<TimeRange> one = model_.expected(first);
    // No estimate is made from the times of other methods, which may be hundreds of times faster or slower.
    if (!one || !model_.has_seen_method_of(first)) return std::nullopt;
    sum += *one * trial_class.left;
    if (one->likely > longest.likely) longest = *one;
  }
  double busy = 0, elapsed = 0;
  for (const auto& [number, rank] : ranks_) {
    busy += rank.busy;
    elapsed += rank.ended - rank.began;
  }
  // Ranks also wait (for trials, a CPU, matrices that other ranks store). The sum is therefore scaled by
  // elapsed / busy time.
  sum = sum * (busy > 0 ? std::max(1.0, elapsed / busy) : 1);
  // The ranks share the work (`all`), but the sweep takes at least as long as its longest trial (`one`).
  const auto rest = [&](double all, double one) {
    return std::max({all - spent, ranks * one - spent, 0.0}) / ranks;
  };
  const TimeRange left{rest(sum.low, longest.low), rest(sum.likely, longest.likely),
                       rest(sum.high, longest.high)};
  if (!(left.high <= max_bounds_ratio * std::max(left.low, 1.0))) return std::nullopt;
  return left;
}

}  // namespace gaussweep::driver
