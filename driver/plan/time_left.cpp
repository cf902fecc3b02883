#include "driver/plan/time_left.hpp"

#include <algorithm>
#include <tuple>

#include "driver/plan/demand.hpp"
#include "driver/system/clock.hpp"

namespace gaussweep::driver {
namespace {
constexpr double widest_range = 10;  // ratio of the bounds above which nothing is shown
}  // namespace

TimeLeft::TimeLeft(const CostModel& model, const Registry& registry, const std::vector<Trial>& trials)
    : model_(model), trials_(trials), done_(trials.size(), false) {
  std::map<std::tuple<const Method*, Precision, Backend, double, double, std::int64_t, bool>, std::size_t>
      places;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& t = trials[i];
    const Method* method = registry.find(t.problem, t.method);
    const double flops = method == nullptr ? 0 : trial_flops(*method, t.shape, t.parameters);
    const auto runs = (t.sampling.warmup + t.sampling.min_samples) * t.inner_repeats;
    const auto [place, fresh] = places.try_emplace(
        {method, t.precision, t.backend, flops, t.sampling.noise, runs, measures_energy(t)}, alike_.size());
    if (fresh) alike_.push_back({i});
    alike_of_.push_back(place->second);
    if (t.skip_reason.empty()) alike_[place->second].left += 1;
  }
}

void TimeLeft::done(std::size_t trial, const io::Record& record) {
  if (!done_[trial]) alike_[alike_of_[trial]].left -= 1;
  done_[trial] = true;
  const double end = parse_time(record.end_time), began = record.prepare_began;
  if (!(end >= began)) return;  // the worker died
  Rank& rank = ranks_.try_emplace(record.rank, Rank{began, end}).first->second;
  rank.began = std::min(rank.began, began);
  rank.ended = std::max(rank.ended, end);
  rank.busy += end - began;
}

std::optional<TimeRange> TimeLeft::seconds(double ranks, double spent) const {
  TimeRange sum, longest;
  for (const Alike& alike : alike_) {
    if (alike.left <= 0) continue;
    const std::optional<TimeRange> one = model_.expected(trials_[alike.first]);
    if (!one) return std::nullopt;
    sum += *one * alike.left;
    if (one->likely > longest.likely) longest = *one;
  }
  double busy = 0, taken = 0;
  for (const auto& [number, rank] : ranks_) {
    busy += rank.busy;
    taken += rank.ended - rank.began;
  }
  // Ranks also wait: for trials, for a CPU, for matrices that other ranks store.
  sum = sum * (busy > 0 ? std::max(1.0, taken / busy) : 1);
  const auto rest = [&](double all, double one) {
    return std::max({all - spent, ranks * one - spent, 0.0}) / ranks;
  };
  const TimeRange left{rest(sum.low, longest.low), rest(sum.likely, longest.likely),
                       rest(sum.high, longest.high)};
  if (!(left.high <= widest_range * std::max(left.low, 1.0))) return std::nullopt;
  return left;
}

}  // namespace gaussweep::driver
