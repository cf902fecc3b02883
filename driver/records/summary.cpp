#include "driver/records/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "driver/base/errors.hpp"
#include "driver/base/printable.hpp"
#include "driver/plan/trial.hpp"
#include "driver/records/judge.hpp"
#include "driver/records/statistics.hpp"

namespace gaussweep::driver {

namespace {

using io::Record;

std::string group_key(const Record& r) {
  return fmt::format("{}/{} {} {} {} {} {} {} {} {} {} {} {}", r.problem, r.method, r.backend, r.precision,
                     r.m, r.n, r.k, r.nrhs, r.uplo, r.parameters, r.matrix_kind, r.gpu_name, r.capability);
}

// What a method must share with its baseline: everything but the method and where it runs.
std::string task_key(const Record& r) {
  return fmt::format("{} {} {} {} {} {} {} {}", r.problem, r.precision, r.m, r.n, r.k, r.nrhs, r.uplo,
                     r.matrix_kind);
}

double median_of(const std::vector<const Record*>& records, double Record::*member) {
  std::vector<double> values;
  for (const Record* record : records) {
    if (!std::isnan(record->*member)) values.push_back(record->*member);
  }
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

// The largest value; NaN only where no record knows it.
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
  group.q1 = median_of(group.records, &Record::seconds_q1);
  group.median = median_of(group.records, &Record::seconds_median);
  group.q3 = median_of(group.records, &Record::seconds_q3);
  group.gflops = median_of(group.records, &Record::gflops);
  group.peak_share = median_of(group.records, &Record::peak_share);
  group.ratio = largest_of(group.records, &Record::residual_ratio);
  group.forward_error = largest_of(group.records, &Record::forward_error);
}

}  // namespace

int status_rank(const std::string& status) {
  int rank = 0;
  for (const char* name : trial_statuses) {
    if (status == name) return rank;
    ++rank;
  }
  return rank;
}

int status_severity(const std::string& status) {
  return status == "skipped" ? -1 : status_rank(status);
}

std::vector<Group> group_records(const std::vector<Record>& records) {
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> place;
  place.reserve(records.size());
  for (const Record& record : records) {
    const auto [found, is_new] = place.try_emplace(group_key(record), groups.size());
    if (is_new) {
      groups.emplace_back();
      Record& first = groups.back().first;
      first = record;
      // The identity needs neither samples nor stages, and a hundred thousand copies of them are big.
      first.sample_list.clear();
      first.stages.clear();
      first.history.clear();
    }
    groups[found->second].records.push_back(&record);
  }
  for (Group& group : groups) summarise_group(group);
  return groups;
}

std::vector<Group> best_groups(const std::vector<Group>& groups) {
  std::map<std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                      std::string>,
           const Group*>
      best;
  for (const Group& group : groups) {
    if (group.status != "pass" || std::isnan(group.median)) continue;
    const Record& r = group.first;
    const Group*& holder = best[{r.problem, r.precision, r.n, r.m, r.k, r.nrhs, r.uplo}];
    if (holder == nullptr || group.median < holder->median) holder = &group;
  }
  std::vector<Group> result;
  for (const auto& [task, group] : best) result.push_back(*group);
  return result;
}

void set_speedups(std::vector<Group>& groups, const std::vector<Group>& baselines,
                  const std::string& method) {
  std::unordered_map<std::string, const Group*> here, anywhere;
  bool is_known = false;
  for (const Group& group : baselines) {
    const Record& r = group.first;
    if (method != r.method && method != r.problem + "/" + r.method) continue;
    is_known = true;
    if (std::isnan(group.median)) continue;
    const auto offer = [&](const Group*& holder) {
      if (holder == nullptr || group.median < holder->median) holder = &group;
    };
    offer(here[task_key(r) + " " + r.backend + " " + r.gpu_name]);
    offer(anywhere[task_key(r)]);
  }
  if (!is_known) {
    std::set<std::string> known;
    for (const Group& group : baselines) known.insert(group.first.problem + "/" + group.first.method);
    throw UsageError(fmt::format("--baseline {}: no record is of that method; there are {}", method,
                                 fmt::join(known, ", ")));
  }
  for (Group& group : groups) {
    const Record& r = group.first;
    const auto near = here.find(task_key(r) + " " + r.backend + " " + r.gpu_name);
    const auto far = anywhere.find(task_key(r));
    const Group* baseline = near != here.end() ? near->second : far != anywhere.end() ? far->second : nullptr;
    if (baseline == nullptr || std::isnan(group.median)) continue;
    group.speedup = baseline->median / group.median;
    group.speedup_over = fmt::format("{}/{} {} {}", baseline->first.problem, baseline->first.method,
                                     baseline->first.backend, baseline->first.parameters);
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

Table failure_table(const std::vector<Record>& records) {
  struct Failures {
    std::int64_t count = 0, largest_n = 0, smallest_n = std::numeric_limits<std::int64_t>::max(),
                 not_finite = 0, unfinished = 0;
    double low = std::numeric_limits<double>::infinity(), high = 0, tolerance = Record::unknown;
  };
  // Skipped last; then by method, status, cause.
  std::map<std::tuple<bool, std::string, std::string, std::string>, Failures> all;
  for (const Record& r : records) {
    if (r.status == "pass") continue;
    // Judged answers each have numbers of their own in their message: told together as a range.
    const std::string cause = is_judged(r.status) ? std::string() : r.message;
    Failures& entry = all[{r.status == "skipped", r.problem + "/" + r.method, r.status, cause}];
    ++entry.count;
    entry.smallest_n = std::min(entry.smallest_n, r.n);
    entry.largest_n = std::max(entry.largest_n, r.n);
    entry.tolerance = r.tolerance;
    const auto evidence = evidence_of(r);
    if (evidence && is_unfinished(evidence->problem, evidence->info)) ++entry.unfinished;
    if (std::isfinite(r.residual_ratio)) {
      entry.low = std::min(entry.low, r.residual_ratio);
      entry.high = std::max(entry.high, r.residual_ratio);
    } else {
      ++entry.not_finite;
    }
  }
  Table table;
  table.columns = {
      {"method", "METHOD"}, {"status", "STATUS"}, {"trials", "TRIALS"}, {"n", "N"}, {"cause", "CAUSE"}};
  for (const auto& [key, entry] : all) {
    const auto& [skipped, method, status, message] = key;
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
        cause += fmt::format("; zero or non-positive pivot in {} trial{}", entry.unfinished,
                             entry.unfinished == 1 ? "" : "s");
      }
    }
    const std::string sizes = entry.smallest_n == entry.largest_n
                                  ? fmt::to_string(entry.largest_n)
                                  : fmt::format("{} to {}", entry.smallest_n, entry.largest_n);
    table.rows.push_back({method, status, entry.count, sizes, cause});
  }
  return table;
}

}  // namespace gaussweep::driver
