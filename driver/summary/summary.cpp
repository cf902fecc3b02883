/// Groups records of equal trials, finds the fastest groups and their speedups, and lists failures and
/// doubtful results. A trial is one method on one matrix; a record is its stored result.

#include "driver/summary/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "driver/base/errors.hpp"
#include "driver/base/lookup.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/statistics.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/roofline_fraction.hpp"
#include "driver/plan/trial.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

/// Returns a text that is equal for records of the same group.
std::string group_key(const Record& r) {
  return fmt::format("{}\n{} {}", trial_identity(r), r.gpu_name, r.capability);
}

/// Hash and equality of records by their group. Group keys are recomputed for each call, because storing them
/// would take as much memory as the records.
struct ByGroup {
  std::size_t operator()(const Record* r) const { return std::hash<std::string>{}(group_key(*r)); }
  bool operator()(const Record* a, const Record* b) const { return group_key(*a) == group_key(*b); }
};

/// Returns the median of the known values; NaN if all are unknown.
template <class Item, class Value>
double known_median(const std::vector<const Item*>& items, const Value& value_of) {
  std::vector<double> values;
  for (const Item* item : items) {
    const double value = std::invoke(value_of, item);
    if (!std::isnan(value)) values.push_back(value);
  }
  return median_of(std::move(values));
}

/// Returns the largest known value; NaN if all are unknown.
double largest_of(const std::vector<const Record*>& records, double Record::*member) {
  double largest = Record::unknown;
  for (const Record* record : records) largest = std::fmax(largest, record->*member);
  return largest;
}

/// Computes the times, rates, errors and status of a group from its records.
void summarise_group(Group& group) {
  group.min = group.max = Record::unknown;
  for (const Record* record : group.records) {
    group.min = std::fmin(group.min, record->seconds_min);
    group.max = std::fmax(group.max, record->seconds_max);
    group.throttled += record->throttled;
    if (group.status.empty() || status_severity(record->status) > status_severity(group.status)) {
      group.status = record->status;
    }
  }
  group.q1 = group.records.front()->seconds_q1;
  group.median = known_median(group.records, &Record::seconds_median);
  group.q3 = group.records.front()->seconds_q3;
  if (group.records.size() > 1) {
    std::vector<double> times;
    for (const Record* record : group.records) {
      for (const double time : {record->seconds_q1, record->seconds_median, record->seconds_q3}) {
        if (!std::isnan(time)) times.push_back(time);
      }
    }
    std::sort(times.begin(), times.end());
    group.q1 = quantile(times, 0.25);
    group.q3 = quantile(times, 0.75);
  }
  group.replay = known_median(group.records, &Record::replay_median);
  group.joules = known_median(group.records, &Record::energy_joules);
  // Rates are computed from the median time. For an even number of records, the median of the rates would not
  // match the median of the times.
  group.flops = known_median(group.records, &Record::flops);
  // If a method stopped early, it did fewer operations than `flops`. Its records then have no rate.
  const bool has_rate = !std::isnan(known_median(group.records, &Record::gflops));
  group.gflops = has_rate ? group.flops / group.median * 1e-9 : Record::unknown;
  // The time that the record would have at the device's peak.
  const auto time_at_peak = [](const Record* record) { return record->peak_share * record->seconds_median; };
  // A time of emulated CUDA kernels is compared with no peak.
  group.peak_share = group.first().backend == "emulated"
                         ? Record::unknown
                         : known_median(group.records, time_at_peak) / group.median;
  group.residual_ratio = largest_of(group.records, &Record::residual_ratio);
  group.forward_error = largest_of(group.records, &Record::forward_error);
}

}  // namespace

int status_rank(const std::string& status) {
  const std::optional<io::Status> known = io::status_named(status);
  return known ? static_cast<int>(*known) : static_cast<int>(io::status_names().size());
}

int status_severity(const std::string& status) {
  return status == io::Status::skipped ? -1 : status_rank(status);
}

std::vector<Group> group_records(const std::vector<Record>& records) {
  return group_records(pointers_to(records));
}

std::vector<Group> group_records(const std::vector<const Record*>& records) {
  // Each record's group is found first, because vectors of groups that grow would take twice their memory.
  std::vector<std::size_t> group_of;
  group_of.reserve(records.size());
  std::size_t count = 0;
  {
    std::unordered_map<const Record*, std::size_t, ByGroup, ByGroup> index_of;
    index_of.reserve(records.size());
    for (const Record* record : records)
      group_of.push_back(index_of.try_emplace(record, index_of.size()).first->second);
    count = index_of.size();
  }
  std::vector<Group> groups(count);
  for (std::size_t i = 0; i < records.size(); ++i) groups[group_of[i]].records.push_back(records[i]);
  std::vector<const Record*> all;
  all.reserve(groups.size());
  for (const Group& group : groups) all.push_back(&group.first());
  const MatrixNames matrices(all);
  io::TextPool names;
  for (Group& group : groups) {
    summarise_group(group);
    group.matrix = names.of(matrices.of(group.first()));
  }
  return groups;
}

bool is_doubtful(const Group& group) {
  return std::any_of(group.records.begin(), group.records.end(),
                     [](const io::Record* record) { return record->timing == "suspect"; });
}

Group joined_group(const std::vector<const Group*>& groups) {
  Group joined;
  joined.matrix = groups.front()->matrix;
  for (const Group* group : groups)
    joined.records.insert(joined.records.end(), group->records.begin(), group->records.end());
  summarise_group(joined);
  // The group's time is the median over the trials' medians. `summarise_group` took the median over all
  // records.
  const double median = known_median(groups, &Group::median);
  joined.gflops *= joined.median / median;
  joined.peak_share *= joined.median / median;
  joined.median = median;
  joined.q1 = known_median(groups, &Group::q1);
  joined.q3 = known_median(groups, &Group::q3);
  joined.replay = known_median(groups, &Group::replay);
  joined.joules = known_median(groups, &Group::joules);
  return joined;
}

std::vector<const Group*> competitors(const std::vector<const Group*>& task_groups) {
  std::vector<const Group*> chosen;
  for (const Group* group : task_groups) {
    if (group->status != io::Status::skipped && group->first().backend != "emulated") chosen.push_back(group);
  }
  return chosen.empty() ? task_groups : chosen;
}

std::vector<Group> best_groups(const std::vector<Group>& groups) {
  std::map<std::tuple<std::string, std::string, std::int64_t, std::string>, std::vector<const Group*>> tasks;
  for (const Group& group : groups) {
    const Record& r = group.first();
    tasks[{r.problem, r.precision, r.n, task_identity(r)}].push_back(&group);
  }
  std::vector<Group> result;
  for (const auto& [task, task_groups] : tasks) {
    const Group* best = nullptr;
    for (const Group* group : competitors(task_groups)) {
      if (group->status != io::Status::pass || std::isnan(group->median)) continue;
      if (best == nullptr || group->median < best->median) best = group;
    }
    if (best != nullptr) result.push_back(*best);
  }
  return result;
}

void require_method(const std::vector<Group>& groups, const std::string& method, const char* cause) {
  std::set<std::string> known;
  for (const Group& group : groups) {
    const Record& r = group.first();
    if (method == r.method || method == r.problem + "/" + r.method) return;
    known.insert(r.problem + "/" + r.method);
  }
  throw UsageError(fmt::format("--baseline {}: {}; there are {}", method, cause, fmt::join(known, ", ")));
}

void set_speedups(std::vector<Group>& groups, const std::vector<Group>& baselines,
                  const std::string& method) {
  if (!method.empty()) require_method(baselines, method);
  const auto task_of = [](const Record& r, const std::string& baseline) {
    return task_identity(r) + " " + baseline;
  };
  const auto device_of = [](const Record& r) { return " " + r.backend + " " + r.gpu_name; };
  const auto emulation_of = [](const Record& r) { return r.backend == "emulated" ? " emulated" : ""; };
  std::set<std::string_view> vendors;
  for (const Group& group : groups) vendors.insert(group.first().reference_method);
  const auto has_answer = [](const Group& group) {
    const bool is_correct = group.status == io::Status::pass || group.status == io::Status::suspect;
    return is_correct && !std::isnan(group.median);
  };
  const auto is_baseline = [&](const Record& r) {
    if (method.empty()) return vendors.count(r.method) > 0;
    return method == r.method || method == r.problem + "/" + r.method;
  };
  std::unordered_map<std::string, const Group*> by_device, by_task;
  for (const Group& group : baselines) {
    const Record& r = group.first();
    if (!has_answer(group) || !is_baseline(r)) continue;
    const std::string task = task_of(r, method.empty() ? std::string(r.method) : method);
    for (const Group** best : {&by_device[task + device_of(r)], &by_task[task + emulation_of(r)]}) {
      if (*best == nullptr || group.median < (*best)->median) *best = &group;
    }
  }
  io::TextPool names;
  for (Group& group : groups) {
    const Record& r = group.first();
    // Without `method` the baseline must be of the same device, because an emulated time must not be compared
    // with the vendor's.
    const std::string task = task_of(r, method.empty() ? std::string(r.reference_method) : method);
    const Group* const* baseline = find_in(by_device, task + device_of(r));
    if (baseline == nullptr && !method.empty()) baseline = find_in(by_task, task + emulation_of(r));
    if (baseline == nullptr || !has_answer(group)) continue;
    group.speedup = (*baseline)->median / group.median;
    const Record& over = (*baseline)->first();
    group.speedup_over =
        names.of(fmt::format("{}/{} {} {}", over.problem, over.method, over.backend, over.parameters));
  }
}

std::string status_counts_text(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::pair(status_rank(a.first), a.first) < std::pair(status_rank(b.first), b.first);
  });
  std::string text;
  for (const auto& [status, count] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, one_line_printable(status));
  return text;
}

std::string status_counts_text(const std::vector<Record>& records) {
  std::map<std::string, std::int64_t> counts;
  for (const Record& record : records) ++counts[record.status];
  return counts.empty() ? "no records" : status_counts_text(counts);
}

namespace {

constexpr std::size_t max_named_flaws = 3;  // maximum number of different messages that a row lists

/// Failed trials with equal properties.
struct FailureEntry {
  std::int64_t count = 0, largest_n = 0, smallest_n = std::numeric_limits<std::int64_t>::max();
  std::int64_t not_finite = 0;                ///< answers with NaN or Inf
  std::map<std::string, std::int64_t> flaws;  ///< answers with another fault, by message
  std::int64_t unfinished = 0;  ///< factorisations that stopped at a pivot and have no other fault
  double low = std::numeric_limits<double>::infinity(), high = 0;  ///< smallest and largest residual ratio
  double tolerance = Record::unknown;
  const char* pivot = "";
  std::set<std::string> parameters;  ///< those that vary among the records

  void add(const Record& r) {
    ++count;
    smallest_n = std::min(smallest_n, r.n);
    largest_n = std::max(largest_n, r.n);
    tolerance = r.tolerance;
    const std::string message(r.message);
    const auto mentions = [&](const char* word) { return message.find(word) != std::string::npos; };
    // A ratio that overflows is recorded as the largest double; the message has the cause.
    if (r.residual_ratio < std::numeric_limits<double>::max()) {
      low = std::min(low, r.residual_ratio);
      high = std::max(high, r.residual_ratio);
    } else if (message.empty() || mentions("NaN") || mentions("Inf")) {
      ++not_finite;
    } else {
      ++flaws[message];
      return;  // the message names the pivot, too
    }
    const auto evidence = evidence_of(r);
    if (evidence && is_unfinished(evidence->problem, evidence->info)) {
      ++unfinished;
      pivot = pivot_name(evidence->problem);
    }
  }
  /// Describes the residual ratios and flaws that caused the status of the verified answers.
  std::string cause(const std::string& status) const {
    std::string text;
    if (low <= high) {
      text = low == high ? fmt::format("residual ratio {:.3g}", high)
                         : fmt::format("residual ratio {:.3g} to {:.3g}", low, high);
      text += fmt::format(", tolerance {:g}", tolerance);
    }
    if (not_finite > 0) append_text(text, "NaN or Inf in " + counted(not_finite, "answer"));
    std::size_t named = 0;
    for (const auto& [message, answers] : flaws) {
      if (++named > max_named_flaws) break;
      append_text(text, fmt::format("{} in {}", message, counted(answers, "answer")));
    }
    if (flaws.size() > max_named_flaws)
      append_text(text, counted(flaws.size() - max_named_flaws, "more message"));
    if (unfinished > 0) text += fmt::format("; {} in {}", pivot, counted(unfinished, "trial"));
    if (status == io::Status::pass) text += "; the plan does not expect it to pass";
    return text;
  }
  /// Returns "blocks=2; blocks=4; and 3 more".
  std::string parameter_text() const {
    constexpr std::size_t max_named = 3;
    const auto end = std::next(parameters.begin(), std::min(parameters.size(), max_named));
    std::string text = fmt::format("{}", fmt::join(parameters.begin(), end, "; "));
    if (parameters.size() > max_named) text += fmt::format("; and {} more", parameters.size() - max_named);
    return text;
  }
};

}  // namespace

Table failure_table(const std::vector<Record>& records, Failures which) {
  enum Section { unexpected, finding, skipped };
  const auto section_of = [](const Record& r) {
    if (is_unexpected(r)) return unexpected;
    return r.status == io::Status::skipped ? skipped : finding;
  };
  const MatrixNames matrices(pointers_to(records));
  const ParameterNames settings(pointers_to(records));
  // By section, method, matrix, status and cause.
  std::map<std::tuple<Section, std::string, std::string, std::string, std::string>, FailureEntry> entries;
  for (const Record& r : records) {
    const Section section = section_of(r);
    const bool is_listed =
        which == Failures::all || (section == unexpected) == (which == Failures::unexpected);
    if (!is_listed || (r.status == io::Status::pass && section != unexpected)) continue;
    // The messages of verified answers differ in their numbers, which are shown as ranges.
    const std::string cause = is_judged(r.status) ? std::string() : std::string(r.message);
    const std::string matrix = r.status == io::Status::skipped ? std::string() : matrices.of(r);
    FailureEntry& entry = entries[{section, r.problem + "/" + r.method, matrix, r.status, cause}];
    entry.add(r);
    if (section != skipped) entry.parameters.insert(settings.of(r.parameters));
  }
  Table table;
  table.columns = {{"method", "METHOD"},        {"matrix", "MATRIX"}, {"status", "STATUS"},
                   {"trials", "TRIALS"},        {"n", "N"},           {"cause", "CAUSE"},
                   {"parameters", "PARAMETERS"}};
  if (which == Failures::all) table.columns.push_back({"expected", "EXPECTED"});
  for (const auto& [key, entry] : entries) {
    const auto& [section, method, matrix, status, message] = key;
    const std::string recorded_cause = message.empty() ? "no cause was recorded" : message;
    const std::string cause = is_judged(status) ? entry.cause(status) : recorded_cause;
    table.rows.push_back({method, matrix, status, entry.count, range_text(entry.smallest_n, entry.largest_n),
                          cause, entry.parameter_text()});
    if (which == Failures::all) table.rows.back().emplace_back(std::int64_t{section != unexpected});
  }
  table.key_columns = 3;
  return table;
}

Table change_table(const Verification& verification, Reader reader) {
  // The names of the changed trials must be unique among all records.
  const TrialColumns trial(pointers_to(verification.records), reader);
  std::vector<const Record*> changed;
  for (const std::size_t i : verification.changed) changed.push_back(&verification.records[i]);
  Table table = trial.table(changed);
  // RATIO has the digits of TOLERANCE, because the status depends on which one is larger.
  extend(table.columns,
         {{"residual_ratio", "RATIO"}, {"tolerance", "TOLERANCE"}, {"old_status", "WAS"}, {"status", "IS"}});
  // For programs, `trial` has the key among its columns.
  const bool with_key = reader == Reader::person;
  if (with_key) table.columns.push_back({"key", "KEY"});
  for (const std::size_t i : verification.changed) {
    const io::Record& r = verification.records[i];
    std::vector<Cell>& row = table.rows.emplace_back(trial.cells(r));
    extend(row, {r.residual_ratio, r.tolerance, verification.old_statuses[i], r.status});
    if (with_key) row.emplace_back(r.key);
  }
  table.droppable = {"key"};
  return table;
}

namespace {

/// If the vendor's methods exceed the device's peaks, the peaks were measured too low. This also explains the
/// excess of another method if it is at most this multiple of the vendor's excess.
constexpr double explained_excess = 1.25;

/// The records of one method that are doubtful for the same reason.
struct DoubtEntry {
  std::int64_t trials = 0, smallest_n = std::numeric_limits<std::int64_t>::max(), largest_n = 0;
  double worst = 0;         ///< the largest figure: fraction of a peak, error, or lost digits
  double vendor_share = 0;  ///< the vendor's largest fraction of a peak on the same device
  std::string reference;
  const Record* accurate = nullptr;  ///< another method's answer to the task with correct digits
};

bool passes_without_digit(const Record& r) {
  return r.status == io::Status::pass && r.forward_error > doubted_error;
}

/// A method without a correct digit is called unstable if another method's error is smaller by this factor.
/// On an ill-conditioned matrix, the errors of two stable methods differ by chance.
constexpr double stable_factor = 100;

/// The most accurate answers to the tasks on which some method passed without a correct digit. They show
/// whether the matrix or the method loses the digits.
class AccurateAnswers {
 public:
  explicit AccurateAnswers(const std::vector<Record>& records) {
    for (const Record& r : records) {
      if (passes_without_digit(r)) by_task_[task_identity(r)];
    }
    if (by_task_.empty()) return;
    for (const Record& r : records) {
      if (r.status != io::Status::pass || !(r.forward_error <= doubted_error)) continue;
      const auto task = by_task_.find(task_identity(r));
      if (task == by_task_.end()) continue;
      const Record*& best = task->second[r.method];
      if (best == nullptr || r.forward_error < best->forward_error) best = &r;
    }
  }
  /// Returns the most accurate answer of another method, if its error is so much smaller that chance cannot
  /// explain it (stable_factor); else null.
  const Record* of_others(const Record& r) const {
    const Record* best = nullptr;
    for (const auto& [method, record] : by_task_.at(task_identity(r))) {
      if (method == r.method) continue;
      if (best == nullptr || record->forward_error < best->forward_error) best = record;
    }
    return best != nullptr && best->forward_error * stable_factor <= r.forward_error ? best : nullptr;
  }

 private:
  std::unordered_map<std::string, std::map<io::Text, const Record*>> by_task_;  // by method
};

/// Returns a remark on a method that is faster than the device's peaks allow: a comparison with the vendor's
/// methods. If these exceed the peaks nearly as far, the peaks were measured too low. Empty if the vendor's
/// methods do not exceed the peaks.
/// @param worst, vendor the method's and the vendor's largest fraction of a peak
std::string excess_text(double worst, double vendor) {
  if (!(vendor > max_roofline_excess)) return {};
  return fmt::format("; the vendor's methods reach {:.3g} times: {}", vendor,
                     worst <= explained_excess * vendor
                         ? "the peaks were measured too low"
                         : fmt::format("still {:.2g} times too fast", worst / vendor));
}

}  // namespace

Table doubt_table(const std::vector<io::Record>& records) {
  const auto device_of = [](const io::Record& r) { return std::pair(r.host, r.gpu_uuid); };
  std::map<std::pair<io::Text, io::Text>, double> vendor_shares;  // largest fraction of a peak, per device
  for (const io::Record& r : records) {
    if (r.method != r.reference_method || r.backend == "emulated") continue;
    double& fraction = vendor_shares[device_of(r)];
    fraction = std::fmax(fraction, r.peak_share);
  }
  const AccurateAnswers accurate_answers(records);
  std::map<std::pair<std::string, std::string>, DoubtEntry> entries;
  const auto doubt = [&](const io::Record& r, const char* kind, double figure,
                         const Record* accurate = nullptr) {
    DoubtEntry& entry = entries[{r.problem + "/" + r.method, kind}];
    ++entry.trials;
    entry.smallest_n = std::min(entry.smallest_n, r.n);
    entry.largest_n = std::max(entry.largest_n, r.n);
    if (figure >= entry.worst) {
      const double* fraction = find_in(vendor_shares, device_of(r));
      entry.vendor_share = fraction == nullptr ? 0 : *fraction;
      entry.worst = figure;
      entry.reference = r.reference_method;
      entry.accurate = accurate;
    }
  };
  const auto has_wrong_components = [](const io::Record& r) {
    const double unit = r.precision == "float" ? 0x1p-24 : 0x1p-53;
    return r.componentwise_error >= doubted_componentwise * std::max(r.backward_error, unit);
  };
  for (const io::Record& r : records) {
    if (r.status != io::Status::pass && r.status != io::Status::suspect) continue;
    if (r.timing == "suspect") doubt(r, "timing", r.peak_share);
    if (passes_without_digit(r)) {
      const Record* accurate = accurate_answers.of_others(r);
      doubt(r, accurate == nullptr ? "condition" : "stability", r.forward_error, accurate);
    }
    if (r.digits_lost >= doubted_digits) doubt(r, "accuracy", r.digits_lost);
    if (has_wrong_components(r)) doubt(r, "components", r.componentwise_error);
  }
  Table table;
  table.columns = {
      {"method", "METHOD"}, {"doubt", "DOUBT"}, {"trials", "TRIALS"}, {"n", "N"}, {"cause", "CAUSE"}};
  const auto cause_of = [](const std::string& kind, const DoubtEntry& entry) {
    if (kind == "timing")
      return fmt::format("{:.3g} times as fast as the device's measured peaks allow{}", entry.worst,
                         excess_text(entry.worst, entry.vendor_share));
    if (kind == "condition")
      return fmt::format("no correct digit: forward error {:.2g}; no other method is more accurate by far",
                         entry.worst);
    if (kind == "stability")
      return fmt::format("no correct digit: forward error {:.2g}; {} has {:.2g} on the same task",
                         entry.worst, entry.accurate->method, entry.accurate->forward_error);
    if (kind == "components")
      return fmt::format("small rows or components are off: componentwise error {:.2g}", entry.worst);
    return fmt::format("up to {:.1f} decimal digits less accurate than {}", entry.worst, entry.reference);
  };
  for (const auto& [key, entry] : entries) {
    const auto& [method, kind] = key;
    table.rows.push_back(
        {method, kind, entry.trials, range_text(entry.smallest_n, entry.largest_n), cause_of(kind, entry)});
  }
  table.key_columns = 2;
  return table;
}

}  // namespace gaussweep::driver
