/// Finds the fastest of several methods that ran in the same rounds, and the interval of its lead.

#include "driver/compare/race.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "driver/base/statistics.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

/// The scatter of the ratio of two methods' times in one round on an idle CPU. It is smaller than
/// `cpu_scatter`, because both methods ran in one process within seconds.
constexpr Scatter round_scatter{0.05, 5e-7};
/// The weight of round_scatter in the variance, in degrees of freedom (see estimate_duet). It is small,
/// because other programs disturb rounds far more.
constexpr double scatter_weight = 2;
/// The scatter of fewer than `least_rounds` rounds is unknown. In these rounds, a method leaves the race only
/// if the interval of its ratio is above `far_behind` and the method took `far_seconds` longer. The seconds
/// are needed because other programs may delay all samples of a round by tens of milliseconds.
constexpr double far_behind = 5, far_seconds = 0.1;
/// The probability that a slower method is reported as the faster one after a given round.
constexpr double clear_tail = 0.005;

/// ln(median) by round.
using Rounds = std::map<std::int64_t, double>;

/// A method that passed.
struct Competitor {
  const Group* group = nullptr;
  Rounds rounds;
  /// The index of the method that this one is compared with; its own index for the fastest method.
  std::size_t ahead = 0;
  /// Returns this method's mean ln(median) in the rounds `other`; infinity if it did not run in all of them.
  double mean_in(const Rounds& other) const {
    double sum = 0;
    for (const auto& [round, log] : other) {
      const auto own = rounds.find(round);
      if (own == rounds.end()) return std::numeric_limits<double>::infinity();
      sum += own->second;
    }
    return sum / static_cast<double>(other.size());
  }
};

Rounds rounds_of(const Group& group) {
  Rounds rounds;
  for (const io::Record* r : group.records) {
    if (r->seconds_median > 0) rounds[r->round] = std::log(r->seconds_median);
  }
  return rounds;
}

/// Returns the competitor's times in those of its rounds that are also in `rounds`.
Timing timing_in(const Rounds& rounds, const Competitor& competitor) {
  std::vector<Statistics> processes;
  Rounds common;
  for (const io::Record* r : competitor.group->records) {
    const auto own = competitor.rounds.find(r->round);
    if (own == competitor.rounds.end() || rounds.count(r->round) == 0) continue;
    processes.push_back(quartiles_of(*r));
    common.insert(*own);
  }
  Timing timing = timing_of(processes, 1);
  timing.rounds = std::move(common);
  return timing;
}

/// Computes the ratio of two methods' times from the rounds that both ran in.
Racer compared(const Competitor& faster, const Competitor& slower) {
  Racer racer;
  racer.group = slower.group;
  const Timing slow = timing_in(faster.rounds, slower), fast = timing_in(slower.rounds, faster);
  racer.rounds = static_cast<std::int64_t>(slow.rounds.size());
  const bool on_gpu = faster.group->first().backend == "cuda" && slower.group->first().backend == "cuda";
  // With one round, the scatter within the round is unknown, so the wider model for CPUs is used.
  const Scatter& scatter_on_cpu = racer.rounds < 2 ? cpu_scatter : round_scatter;
  const Scatter& scatter = on_gpu ? gpu_scatter : scatter_on_cpu;
  racer.slowdown = estimate_duet(fast, slow, scatter, scatter_weight);
  racer.seconds = slow.median - fast.median;
  return racer;
}

/// Sets `ahead` of each method to the fastest method in its rounds, and returns the index of the fastest
/// method of all. Among the methods that are the fastest in their own rounds, this is the one with the fewest
/// rounds.
/// @param all sorted by the number of rounds, most first
std::size_t find_fastest(std::vector<Competitor>& all) {
  std::size_t fastest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].ahead = i;
    double least = all[i].mean_in(all[i].rounds);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double mean = all[k].mean_in(all[i].rounds);
      if (mean < least || (mean == least && k < all[i].ahead)) {
        least = mean;
        all[i].ahead = k;
      }
    }
    if (all[i].ahead == i) fastest = i;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].ahead == i) all[i].ahead = fastest;
  }
  return fastest;
}

/// Returns the ratio of a method's time to that of the fastest method. A method that left the race early is
/// compared with the fastest method of its rounds. That method is compared with the fastest method of its own
/// rounds, and so on up to the fastest method of all. The ratios are multiplied.
Racer behind_fastest(const std::vector<Competitor>& all, std::size_t index, std::size_t fastest) {
  Racer racer = compared(all[all[index].ahead], all[index]);
  for (std::size_t i = all[index].ahead; i != fastest; i = all[i].ahead) {
    const Racer next = compared(all[all[i].ahead], all[i]);
    racer.slowdown.log += next.slowdown.log;
    racer.slowdown.error = std::hypot(racer.slowdown.error, next.slowdown.error);
    racer.slowdown.degrees = std::min(racer.slowdown.degrees, next.slowdown.degrees);
    racer.seconds += next.seconds;
    racer.rounds = std::min(racer.rounds, next.rounds);
  }
  const bool is_far = racer.low() >= far_behind && racer.seconds >= far_seconds;
  racer.is_rival = racer.rounds < least_rounds ? !is_far : racer.low() <= least_lead;
  return racer;
}

}  // namespace

double Racer::low() const {
  return std::exp(slowdown.log - slowdown.error * student_quantile(clear_tail, slowdown.degrees));
}

double Racer::high() const {
  return std::exp(slowdown.log + slowdown.error * student_quantile(clear_tail, slowdown.degrees));
}

bool Race::is_clear() const {
  return !racers.empty() &&
         std::none_of(racers.begin() + 1, racers.end(), [](const Racer& racer) { return racer.is_rival; });
}

bool Race::is_settled() const {
  if (!has_lead() || is_clear()) return true;
  const Estimate& lead = racers[1].slowdown;
  const bool is_tie = lead.high() < least_lead || lead.high() < narrow_interval * lead.low();
  return racers[1].rounds >= least_rounds && is_tie;
}

const Racer& Race::reported() const {
  const auto rival =
      std::find_if(racers.begin() + 1, racers.end(), [](const Racer& racer) { return racer.is_rival; });
  return rival != racers.end() ? *rival : racers[1];
}

Race race_of(const std::vector<const Group*>& task_groups) {
  Race race;
  std::vector<Competitor> all;
  for (const Group* group : competitors(task_groups)) {
    Rounds rounds = rounds_of(*group);
    if (group->has_passed() && !rounds.empty()) all.push_back({group, std::move(rounds)});
  }
  if (all.empty()) return race;
  std::stable_sort(all.begin(), all.end(), [](const Competitor& a, const Competitor& b) {
    return a.rounds.size() > b.rounds.size();
  });
  const std::size_t fastest = find_fastest(all);
  race.racers = {{all[fastest].group, /*slowdown=*/{}, /*rounds=*/0, /*seconds=*/0, /*is_rival=*/true}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != fastest) race.racers.push_back(behind_fastest(all, i, fastest));
  }
  std::stable_sort(race.racers.begin() + 1, race.racers.end(),
                   [](const Racer& a, const Racer& b) { return a.slowdown.log < b.slowdown.log; });
  for (const Competitor& each : all) {
    if (each.group != race.racers[0].group && (!race.has_lead() || each.group != race.racers[1].group))
      continue;
    const Timing timing = timing_in(each.rounds, each);
    race.noise = std::max(race.noise, timing.processes > 1 ? std::sqrt(timing.variance) : timing.sigma);
  }
  return race;
}

}  // namespace gaussweep::driver
