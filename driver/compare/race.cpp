#include "driver/compare/race.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "driver/base/statistics.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

/// The scatter of the ratio of two methods in one round on an idle CPU. Both ran in one process within
/// seconds, so it is smaller than `cpu_scatter`.
constexpr Scatter round_scatter{0.05, 5e-7};
/// The weight of round_scatter, in degrees of freedom. It is small, because other programs disturb rounds far
/// more.
constexpr double scatter_weight = 2;
/// Fewer rounds do not show their scatter. Until then a method leaves the race only if the interval of its
/// ratio is above `far_behind`.
constexpr std::int64_t least_rounds = 3;
constexpr double far_behind = 5;
/// The probability that a slower method is reported as the faster one after a given round.
constexpr double clear_tail = 0.005;

Timing timing_in_rounds(const Group& group) {
  std::vector<Statistics> processes;
  std::map<std::int64_t, double> rounds;
  for (const io::Record* r : group.records) {
    processes.push_back(quartiles_of(*r));
    if (r->seconds_median > 0) rounds[r->round] = std::log(r->seconds_median);
  }
  Timing timing = timing_of(processes, 1);
  timing.rounds = std::move(rounds);
  return timing;
}

/// Computes the ratio of two methods' times from the rounds that both ran in.
Racer compared(const Timing& fastest, const Timing& other, const Group* group, bool on_gpu) {
  Racer racer;
  racer.group = group;
  racer.rounds = std::count_if(fastest.rounds.begin(), fastest.rounds.end(),
                               [&](const auto& each) { return other.rounds.count(each.first) > 0; });
  const Scatter& scatter = on_gpu ? gpu_scatter : racer.rounds < 2 ? cpu_scatter : round_scatter;
  racer.behind = estimate_duet(fastest, other, scatter, scatter_weight);
  const double clear =
      racer.behind.log - racer.behind.error * student_quantile(clear_tail, racer.behind.degrees);
  racer.is_rival =
      racer.rounds < least_rounds ? racer.behind.low() < far_behind : clear <= std::log(least_lead);
  return racer;
}

}  // namespace

bool Race::is_clear() const {
  return !racers.empty() &&
         std::none_of(racers.begin() + 1, racers.end(), [](const Racer& racer) { return racer.is_rival; });
}

bool Race::is_settled() const {
  if (!has_lead() || is_clear()) return true;
  const bool is_level = lead().high() < least_lead || lead().high() < narrow_interval * lead().low();
  return racers[1].rounds >= least_rounds && is_level;
}

Race race_of(const std::vector<const Group*>& task_groups) {
  Race race;
  std::vector<std::pair<const Group*, Timing>> all;
  for (const Group* group : competitors(task_groups)) {
    if (group->has_passed()) all.emplace_back(group, timing_in_rounds(*group));
  }
  if (all.empty()) return race;
  const auto race_against = [&](std::size_t fastest) {
    race.racers = {{all[fastest].first, {}, 0, true}};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& [group, timing] = all[i];
      const bool on_gpu = group->first().backend == "cuda" && all[fastest].first->first().backend == "cuda";
      if (i != fastest) race.racers.push_back(compared(all[fastest].second, timing, group, on_gpu));
    }
    std::stable_sort(race.racers.begin() + 1, race.racers.end(),
                     [](const Racer& a, const Racer& b) { return a.behind.log < b.behind.log; });
  };
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.median < b.second.median; });
  race_against(0);
  if (race.has_lead() && race.lead().log < 0) {  // another method is faster round by round
    const Group* const faster = race.racers[1].group;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == faster; });
    race_against(static_cast<std::size_t>(found - all.begin()));
  }
  for (const auto& [group, timing] : all) {
    if (group == race.racers[0].group || (race.has_lead() && group == race.racers[1].group))
      race.noise = std::max(race.noise, timing.processes > 1 ? std::sqrt(timing.variance) : timing.sigma);
  }
  return race;
}

}  // namespace gaussweep::driver
