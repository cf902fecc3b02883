#include "driver/summary/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/base/statistics.hpp"
#include "driver/base/words.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/trial.hpp"
#include "driver/results/identity.hpp"
#include "driver/summary/trial_columns.hpp"
#include "io/records/status.hpp"

namespace gaussweep::driver {

namespace {

using io::Record;

std::string group_key(const Record& r) {
  return fmt::format("{}\n{} {}", trial_identity(r), r.gpu_name, r.capability);
}

/// Hash and equality of records by their group. The keys are recomputed, because storing them would take as
/// much memory as the records.
struct ByGroup {
  std::size_t operator()(const Record* r) const { return std::hash<std::string>{}(group_key(*r)); }
  bool operator()(const Record* a, const Record* b) const { return group_key(*a) == group_key(*b); }
};

double known_median(const std::vector<const Record*>& records, double Record::*member) {
  std::vector<double> values;
  for (const Record* record : records) {
    if (!std::isnan(record->*member)) values.push_back(record->*member);
  }
  return median_of(std::move(values));
}

// Returns the largest known value; NaN if all are unknown.
double largest_of(const std::vector<const Record*>& records, double Record::*member) {
  double largest = Record::unknown;
  for (const Record* record : records) largest = std::fmax(largest, record->*member);
  return largest;
}

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
  group.q1 = known_median(group.records, &Record::seconds_q1);
  group.median = known_median(group.records, &Record::seconds_median);
  group.q3 = known_median(group.records, &Record::seconds_q3);
  const bool has_rounds = std::any_of(group.records.begin(), group.records.end(),
                                      [](const Record* record) { return record->round > 1; });
  for (const Record* record : group.records) {
    if (!has_rounds) break;
    group.q1 = std::fmin(group.q1, record->seconds_q1);
    group.q3 = std::fmax(group.q3, record->seconds_q3);
  }
  group.replay = known_median(group.records, &Record::replay_median);
  group.joules = known_median(group.records, &Record::energy_joules);
  group.gflops = known_median(group.records, &Record::gflops);
  group.peak_share = known_median(group.records, &Record::peak_share);
  group.ratio = largest_of(group.records, &Record::residual_ratio);
  group.forward_error = largest_of(group.records, &Record::forward_error);
}

}  // namespace

int status_rank(const std::string& status) {
  const std::optional<io::Status> known = io::status_named(status);
  return known ? static_cast<int>(*known) : static_cast<int>(io::status_words().size());
}

int status_severity(const std::string& status) {
  return status == io::Status::skipped ? -1 : status_rank(status);
}

std::vector<Group> group_records(const std::vector<Record>& records) {
  std::vector<const Record*> all;
  all.reserve(records.size());
  for (const Record& record : records) all.push_back(&record);
  return group_records(all);
}

std::vector<Group> group_records(const std::vector<const Record*>& records) {
  // Computed first, because growing the vectors of the groups would take twice their memory.
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

std::vector<const Group*> competitors(const std::vector<const Group*>& of_one_task) {
  std::vector<const Group*> chosen;
  for (const Group* group : of_one_task) {
    if (group->status != io::Status::skipped && group->first().backend != "emulated") chosen.push_back(group);
  }
  return chosen.empty() ? of_one_task : chosen;
}

std::vector<Group> best_groups(const std::vector<Group>& groups) {
  std::map<std::tuple<std::string, std::string, std::int64_t, std::string>, std::vector<const Group*>> tasks;
  for (const Group& group : groups) {
    const Record& r = group.first();
    tasks[{r.problem, r.precision, r.n, task_identity(r)}].push_back(&group);
  }
  std::vector<Group> result;
  for (const auto& [task, of_task] : tasks) {
    const Group* best = nullptr;
    for (const Group* group : competitors(of_task)) {
      if (group->status != io::Status::pass || std::isnan(group->median)) continue;
      if (best == nullptr || group->median < best->median) best = group;
    }
    if (best != nullptr) result.push_back(*best);
  }
  return result;
}

void require_method(const std::vector<Group>& groups, const std::string& method) {
  std::set<std::string> known;
  for (const Group& group : groups) {
    const Record& r = group.first();
    if (method == r.method || method == r.problem + "/" + r.method) return;
    known.insert(r.problem + "/" + r.method);
  }
  throw UsageError(fmt::format("--baseline {}: no record is of that method; there are {}", method,
                               fmt::join(known, ", ")));
}

void set_speedups(std::vector<Group>& groups, const std::vector<Group>& baselines,
                  const std::string& method) {
  if (!method.empty()) require_method(baselines, method);
  const auto task_of = [](const Record& r, const std::string& baseline) {
    return task_identity(r) + " " + baseline;
  };
  const auto device_of = [](const Record& r) { return " " + r.backend + " " + r.gpu_name; };
  const auto kind_of = [](const Record& r) { return r.backend == "emulated" ? " emulated" : ""; };
  std::set<std::string_view> vendors;
  for (const Group& group : groups) vendors.insert(group.first().reference_method);
  const auto is_baseline = [&](const Record& r) {
    return method.empty() ? vendors.count(r.method) > 0
                          : method == r.method || method == r.problem + "/" + r.method;
  };
  std::unordered_map<std::string, const Group*> by_device, by_task;
  for (const Group& group : baselines) {
    const Record& r = group.first();
    if (std::isnan(group.median) || !is_baseline(r)) continue;
    const std::string task = task_of(r, method.empty() ? std::string(r.method) : method);
    for (const Group** holder : {&by_device[task + device_of(r)], &by_task[task + kind_of(r)]}) {
      if (*holder == nullptr || group.median < (*holder)->median) *holder = &group;
    }
  }
  io::TextPool names;
  for (Group& group : groups) {
    const Record& r = group.first();
    // Without `method` the baseline is the vendor's on the same device, because an emulated time must not be
    // compared with it.
    const std::string task = task_of(r, method.empty() ? std::string(r.reference_method) : method);
    const auto same_device = by_device.find(task + device_of(r));
    const auto other_device = method.empty() ? by_task.end() : by_task.find(task + kind_of(r));
    const Group* baseline = same_device != by_device.end()  ? same_device->second
                            : other_device != by_task.end() ? other_device->second
                                                            : nullptr;
    if (baseline == nullptr || std::isnan(group.median)) continue;
    group.speedup = baseline->median / group.median;
    const Record& over = baseline->first();
    group.speedup_over =
        names.of(fmt::format("{}/{} {} {}", over.problem, over.method, over.backend, over.parameters));
  }
}

std::string status_counts_text(const std::vector<Record>& records) {
  std::map<std::pair<int, std::string>, std::int64_t> counts;
  for (const Record& record : records) ++counts[{status_rank(record.status), record.status}];
  std::string text;
  for (const auto& [status, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, printable(status.second));
  }
  return text.empty() ? "no records" : text;
}

Table failure_table(const std::vector<Record>& records, Failures which) {
  struct Entry {
    std::int64_t count = 0, largest_n = 0, smallest_n = std::numeric_limits<std::int64_t>::max(),
                 not_finite = 0, unfinished = 0;
    double low = std::numeric_limits<double>::infinity(), high = 0, tolerance = Record::unknown;
    const char* pivot = "";
  };
  enum Section { unexpected, finding, skipped };
  const auto section_of = [](const Record& r) {
    return is_unexpected(r) ? unexpected : r.status == io::Status::skipped ? skipped : finding;
  };
  std::vector<const Record*> all_records, listed;
  for (const Record& r : records) {
    all_records.push_back(&r);
    const bool is_out =
        which == Failures::unexpected ? !is_unexpected(r) : which == Failures::findings && is_unexpected(r);
    if (!is_out && (r.status != io::Status::pass || is_unexpected(r))) listed.push_back(&r);
  }
  const MatrixNames matrices(all_records);
  // Per place (unexpected, finding or skipped), method, matrix, status and cause.
  std::map<std::tuple<Section, std::string, std::string, std::string, std::string>, Entry> all;
  for (const Record* record : listed) {
    const Record& r = *record;
    // Messages of judged answers differ in their numbers, so they are shown as one range.
    const std::string cause = is_judged(r.status) ? std::string() : std::string(r.message);
    const std::string matrix = r.status == io::Status::skipped ? std::string() : matrices.of(r);
    Entry& entry = all[{section_of(r), r.problem + "/" + r.method, matrix, r.status, cause}];
    ++entry.count;
    entry.smallest_n = std::min(entry.smallest_n, r.n);
    entry.largest_n = std::max(entry.largest_n, r.n);
    entry.tolerance = r.tolerance;
    const auto evidence = evidence_of(r);
    if (evidence && is_unfinished(evidence->problem, evidence->info)) {
      ++entry.unfinished;
      entry.pivot = pivot_name(evidence->problem);
    }
    if (std::isfinite(r.residual_ratio)) {
      entry.low = std::min(entry.low, r.residual_ratio);
      entry.high = std::max(entry.high, r.residual_ratio);
    } else {
      ++entry.not_finite;
    }
  }
  Table table;
  table.columns = {{"method", "METHOD"}, {"matrix", "MATRIX"}, {"status", "STATUS"},
                   {"trials", "TRIALS"}, {"n", "N"},           {"cause", "CAUSE"}};
  if (which == Failures::all) table.columns.push_back({"expected", "EXPECTED"});
  for (const auto& [key, entry] : all) {
    const auto& [section, method, matrix, status, message] = key;
    std::string cause = message.empty() ? "no cause was recorded" : message;
    if (is_judged(status)) {
      cause.clear();
      if (entry.high > 0 || entry.not_finite < entry.count) {
        cause = entry.low == entry.high
                    ? fmt::format("residual ratio {:.3g}", entry.high)
                    : fmt::format("residual ratio {:.3g} to {:.3g}", entry.low, entry.high);
        cause += fmt::format(", tolerance {:g}", entry.tolerance);
      }
      if (entry.not_finite > 0) {
        cause += fmt::format("{}NaN or Inf in {} answer{}", cause.empty() ? "" : "; ", entry.not_finite,
                             entry.not_finite == 1 ? "" : "s");
      }
      if (entry.unfinished > 0) {
        cause += fmt::format("; {} in {}", entry.pivot, counted(entry.unfinished, "trial"));
      }
      if (status == io::Status::pass) cause += "; the plan does not expect it to pass";
    }
    const std::string sizes = entry.smallest_n == entry.largest_n
                                  ? fmt::to_string(entry.largest_n)
                                  : fmt::format("{} to {}", entry.smallest_n, entry.largest_n);
    table.rows.push_back({method, matrix, status, entry.count, sizes, cause});
    if (which == Failures::all) table.rows.back().emplace_back(std::int64_t{section != unexpected});
  }
  table.naming = 3;
  return table;
}

}  // namespace gaussweep::driver
