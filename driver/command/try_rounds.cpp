/// Decides which methods `gaussweep try` runs in each round. A round is a repetition of the measurements in a
/// new process.

#include "driver/command/try_rounds.hpp"

#include <algorithm>

#include "driver/command/try_answer.hpp"
#include "driver/plan/expand.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

constexpr std::int64_t max_rounds = 40;
/// If emulated kernels (GPU kernels on the CPU) run after the rounds, the rounds may take this fraction of
/// the time.
constexpr double rounds_fraction = 0.8;
/// Estimated seconds that the worker process of a round needs to start and to read the matrix.
constexpr double start_seconds = 0.3;

std::string id_of(const io::Record& r) {
  return r.problem + "/" + r.method;
}

/// Returns the estimated seconds of the next round with these methods, from their records of the first round.
/// Includes the reference (vendor) method, which runs with each of them.
double round_seconds(const std::vector<io::Record>& records, const std::set<std::string>& methods) {
  double seconds = start_seconds;
  for (const io::Record& r : records) {
    if (r.round != 1 || methods.count(id_of(r)) == 0) continue;
    for (const double part : {static_cast<double>(r.samples + 1) * r.seconds_median,
                              static_cast<double>(r.samples + 1) * r.reference_seconds, r.verify_seconds,
                              r.generate_seconds, r.load_seconds}) {
      if (part > 0) seconds += part;
    }
  }
  return seconds;
}

}  // namespace

bool is_solved_without_emulation(const TryPlan& plan, Backend backend,
                                 const std::vector<io::Record>& records) {
  return std::all_of(plan.methods.begin(), plan.methods.end(), [&](const Method* method) {
    return resolve_backend(*method, backend) != Backend::emulated ||
           std::any_of(records.begin(), records.end(), [&](const io::Record& r) {
             return r.problem == method->problem->name && r.status == io::Status::pass &&
                    r.backend != "emulated";
           });
  });
}

TryRounds::TryRounds(const TryPlan& plan, Backend backend, bool emulates, double now, double deadline)
    : plan_(plan), backend_(backend), emulates_(emulates), deadline_(deadline), rounds_until_(deadline) {
  const auto is_emulated = [&](const Method* method) {
    return resolve_backend(*method, backend) == Backend::emulated;
  };
  const bool has_others = !std::all_of(plan.methods.begin(), plan.methods.end(), is_emulated);
  for (const Method* method : plan.methods) {
    const bool is_deferred = has_others && is_emulated(method);
    rounds_[method->id()] = is_deferred ? 0 : 1;
    has_emulated_ = has_emulated_ || is_deferred;
  }
  if (has_emulated_) rounds_until_ = now + rounds_fraction * (deadline - now);
}

std::string TryRounds::plan_text() const {
  return plan_.in_rounds([&](const Method& method) { return rounds_.at(method.id()); });
}

/// Returns the ids of the methods that need a further round: the possible winners of comparisons that are not
/// settled. Methods that missed a round are left out.
std::set<std::string> TryRounds::rivals(const std::vector<io::Record>& records) const {
  std::set<std::string> methods;
  const std::vector<Group> groups = group_records(records);
  for (const TriedTask& task : tried_tasks(groups)) {
    if (task.race.is_settled()) continue;
    std::set<std::string> rival_ids;
    for (const Racer& racer : task.race.racers) {
      const std::string id = id_of(racer.group->first());
      if (racer.is_rival && rounds_.at(id) == round_) rival_ids.insert(id);
    }
    if (rival_ids.size() > 1) methods.insert(rival_ids.begin(), rival_ids.end());
  }
  return methods;
}

std::string TryRounds::next(const std::vector<io::Record>& records, double now) {
  if (is_last_) return {};
  const std::set<std::string> methods = round_ < max_rounds ? rivals(records) : std::set<std::string>();
  if (!methods.empty() && now + round_seconds(records, methods) < rounds_until_) {
    ++round_;
    for (const std::string& id : methods) rounds_[id] = round_;
    return plan_text();
  }
  is_last_ = true;
  if (!has_emulated_ || now > deadline_) return {};
  if (!emulates_ && is_solved_without_emulation(plan_, backend_, records)) return {};
  for (auto& [id, rounds] : rounds_) rounds = std::max<std::int64_t>(rounds, 1);
  return plan_text();
}

}  // namespace gaussweep::driver
