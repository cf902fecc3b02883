/// Finds brackets, two neighbouring orders n at which different methods are the fastest. Adds trials at
/// orders between them. A group has the records of one method at one order.

#include "driver/rule/refine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <set>
#include <sstream>

#include "driver/plan/axes.hpp"
#include "driver/results/identity.hpp"
#include "driver/rule/lattice.hpp"
#include "io/plan/settings.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

/// Begins a line of the plan's text that records an added trial.
constexpr const char* comment_mark = "# refined ";
/// The two new orders are the expected crossover times this factor, and the crossover divided by it. Their
/// ratio is below `known_crossover`, because the exponent is less than 1/2. If they enclose the crossover, it
/// is then known.
const double enclosing_factor = std::pow(known_crossover, 0.4);
/// A bracket whose orders differ by a larger factor is also halved, because the expected crossover may be far
/// off.
constexpr double wide_bracket = 1.2;

/// Returns a text that is equal for records that differ only in the order and the method.
std::string series_of(const io::Record& r, const std::string& device) {
  std::string text = fmt::format("{}\n{} {} {} {} {} {} {} {}", device, r.problem, r.precision, r.nrhs,
                                 r.batch, r.uplo, r.matrix_kind, r.matrix_parameters, r.matrix_seed);
  return text + task_conditions(r);
}

using ByMethod = std::map<std::string, const Group*>;  ///< by method and parameters

std::string method_of(const Group& group) {
  return group.first().method + " " + group.first().parameters;
}

/// Returns the fastest group that passed; null if there is none.
const Group* fastest(const ByMethod& groups) {
  const Group* best = nullptr;
  for (const auto& [method, group] : groups) {
    if (group->has_passed() && (best == nullptr || group->median < best->median)) best = group;
  }
  return best;
}

/// Returns true if the interquartile ranges overlap.
bool is_tie(const Group& a, const Group& b) {
  return a.q1 < b.q3 && b.q1 < a.q3;
}

/// Returns the orders that narrow a bracket. The times of both methods are interpolated linearly, ln(time)
/// over ln(n).
/// @param ratio_low, ratio_high ln(time of the method that is the fastest at `low` / time of the other one),
/// at `low` and at `high`
std::vector<std::int64_t> orders_between(std::int64_t low, std::int64_t high, double ratio_low,
                                         double ratio_high) {
  const double start = std::log(static_cast<double>(low)), end = std::log(static_cast<double>(high));
  const double crossover = std::exp(start + (end - start) * ratio_low / (ratio_low - ratio_high));
  std::set<std::int64_t> orders{std::llround(crossover / enclosing_factor),
                                std::llround(crossover * enclosing_factor)};
  if (static_cast<double>(high) > wide_bracket * static_cast<double>(low))
    orders.insert(std::llround(std::exp((start + end) / 2)));
  std::vector<std::int64_t> inside;
  for (const std::int64_t n : orders) {
    const std::int64_t moved = std::clamp(n, low + 1, high - 1);
    if (inside.empty() || inside.back() != moved) inside.push_back(moved);
  }
  return inside;
}

/// Returns an axis with a single value.
io::Axis one_value(const std::string& text, const io::Location& location) {
  io::Axis axis;
  axis.values = {{text, location}};
  axis.location = location;
  return axis;
}

/// Returns the trial's value of an axis other than n; empty if its method has no such parameter.
std::string value_text(const std::string& axis, const Trial& trial) {
  if (axis == "nrhs") return std::to_string(trial.shape.nrhs);
  if (axis == "batch") return std::to_string(trial.shape.batch);
  if (axis == "uplo") return std::string(to_string(trial.shape.uplo));
  if (axis == "precision") return std::string(to_string(trial.precision));
  if (axis == "seed") return std::to_string(trial.matrix.spec.seed);
  const auto found = trial.parameters.all().find(axis);
  if (found == trial.parameters.all().end()) return {};
  if (const auto* text = std::get_if<std::string>(&found->second)) return *text;
  if (const auto* real = std::get_if<double>(&found->second)) return fmt::format("{}", *real);
  return std::to_string(std::get<std::int64_t>(found->second));
}

/// Returns true if n varies alone: it is an axis outside of zips (axes that vary together), and m and k are
/// no axes.
bool has_free_order(const io::Entry& entry) {
  return entry.axes.count("n") > 0 && entry.axes.count("m") == 0 && entry.axes.count("k") == 0;
}

}  // namespace

std::vector<Bracket> brackets_of(const io::Results& results) {
  std::vector<Bracket> brackets;
  for (const auto& [device, records] : records_by_device(results)) {
    const std::vector<Group> groups = group_records(records);
    std::map<std::string, std::map<std::int64_t, ByMethod>> all;
    for (const Group& group : groups)
      all[series_of(group.first(), device)][group.first().n][method_of(group)] = &group;
    for (const auto& [name, series] : all) {
      for (auto low = series.begin(), high = std::next(low); high != series.end(); ++low, ++high) {
        const Group *first = fastest(low->second), *second = fastest(high->second);
        if (first == nullptr || second == nullptr || method_of(*first) == method_of(*second)) continue;
        const auto first_at_high = high->second.find(method_of(*first));
        const auto second_at_low = low->second.find(method_of(*second));
        if (first_at_high == high->second.end() || second_at_low == low->second.end()) continue;
        const Group &first_high = *first_at_high->second, &second_low = *second_at_low->second;
        if (!first_high.has_passed() || !second_low.has_passed()) continue;
        Bracket bracket{low->first, high->first, first->first().key, second->first().key, {}};
        if (!bracket.is_known() && !(is_tie(*first, second_low) && is_tie(first_high, *second)))
          bracket.next = orders_between(low->first, high->first, std::log(first->median / second_low.median),
                                        std::log(first_high.median / second->median));
        brackets.push_back(std::move(bracket));
      }
    }
  }
  return brackets;
}

Refinement::Refinement(io::Plan plan, std::string path, const Registry& registry)
    : plan_(std::move(plan)), path_(std::move(path)), registry_(registry) {
  restore(plan_.text);
  std::istringstream lines(plan_.text);
  plan_.text.clear();
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(comment_mark, 0) != 0) plan_.text += line + "\n";
  }
}

void Refinement::restore(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(comment_mark, 0) != 0) continue;
    std::istringstream words(line.substr(std::strlen(comment_mark)));
    Addition addition;
    if (words >> addition.first >> addition.second && known_additions_.insert(addition).second)
      additions_.push_back(addition);
  }
}

std::vector<Trial> Refinement::trials_of(io::Entry entry, Backend backend) {
  io::Plan one = plan_;
  one.sweep = {std::move(entry)};
  try {
    return expand_plan(one, path_, registry_, backend, /*capability=*/0, files_).trials;
  } catch (const io::InputError&) {
    // The entry excludes all of its trials. Other mistakes were found when the whole plan was read.
    return {};
  }
}

/// Finds the entry and the matrix that make each trial of the plan.
void Refinement::index(Backend backend, const std::vector<io::DeviceRow>& devices) {
  if (!own_trials_.empty()) return;
  std::vector<std::string> gpus;
  for (const io::DeviceRow& device : devices) {
    if (!device.gpu_name.empty()) gpus.push_back(device.gpu_name);
  }
  plan_ = for_gpus(std::move(plan_), gpus);
  for (std::size_t i = 0; i < plan_.sweep.size(); ++i) {
    if (!has_free_order(plan_.sweep[i])) continue;
    for (std::size_t matrix = 0; matrix < plan_.sweep[i].matrices.size(); ++matrix) {
      io::Entry entry = plan_.sweep[i];
      entry.matrices = {entry.matrices[matrix]};
      for (Trial& trial : trials_of(std::move(entry), backend)) {
        std::string key = trial.key;
        own_trials_.try_emplace(std::move(key), EntryTrial{i, matrix, std::move(trial)});
      }
    }
  }
}

/// Returns an entry that makes the trial at another order.
io::Entry Refinement::entry_for(const EntryTrial& made, std::int64_t n) const {
  io::Entry entry = plan_.sweep[made.entry];
  entry.methods = {{made.trial.method, entry.methods.front().location}};
  entry.matrices = {entry.matrices[made.matrix]};
  std::set<std::string> names{"precision"};
  for (const auto& [name, axis] : entry.axes) names.insert(name);
  for (const auto& zip : entry.zips) {
    for (const auto& [name, axis] : zip) names.insert(name);
  }
  entry.zips.clear();
  for (const std::string& name : names) {
    const std::string text = name == "n" ? std::to_string(n) : value_text(name, made.trial);
    if (text.empty()) {
      entry.axes.erase(name);  // a parameter that the method does not have
    } else {
      entry.axes[name] = one_value(text, entry.location);
    }
  }
  return entry;
}

io::Plan Refinement::plan(Backend backend, const std::vector<io::DeviceRow>& devices) {
  index(backend, devices);
  planned_ = additions_.size();
  io::Plan plan = plan_;
  for (const auto& [key, n] : additions_) {
    const auto made = own_trials_.find(key);
    if (made == own_trials_.end()) continue;  // the user has changed the plan
    plan.sweep.push_back(entry_for(made->second, n));
    plan.text += fmt::format("{}{} {}\n", comment_mark, key, n);
    for (const Trial& trial : trials_of(plan.sweep.back(), backend)) planned_key_[trial.key] = key;
  }
  return plan;
}

std::optional<io::Plan> Refinement::next(const io::Results& results, Backend backend) {
  if (planned_ < additions_.size()) return plan(backend, results.devices);  // restore() added these
  index(backend, results.devices);
  for (const Bracket& bracket : brackets_of(results)) {
    for (std::string key : {bracket.low_key, bracket.high_key}) {
      if (const auto added = planned_key_.find(key); added != planned_key_.end()) key = added->second;
      if (own_trials_.count(key) == 0) continue;
      for (const std::int64_t n : bracket.next) {
        if (known_additions_.emplace(key, n).second) additions_.emplace_back(key, n);
      }
    }
  }
  if (planned_ == additions_.size()) return std::nullopt;
  return plan(backend, results.devices);
}

}  // namespace gaussweep::driver
