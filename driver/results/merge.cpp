/// Merges the records of several files, such as those of shards, machines or architectures.

#include "driver/results/merge.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "driver/base/table.hpp"
#include "driver/base/text_format.hpp"
#include "driver/results/device_peaks.hpp"
#include "driver/results/host_names.hpp"
#include "driver/results/run_parts.hpp"
#include "io/files/errors.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;

/// Hash and equality of two records by their identity (key, run, GPU model, capability and commit). The hash
/// table stores indices of records, because copies of the identities would take as much memory as the
/// records.
struct ByIdentity {
  const std::vector<Record>* records;
  std::size_t operator()(std::size_t index) const {
    const Record& r = (*records)[index];
    const std::hash<std::string_view> hash;
    return hash(r.key) ^ (31 * hash(r.run_id));
  }
  bool operator()(std::size_t a, std::size_t b) const {
    const auto identity = [](const Record& r) {
      return std::tie(r.key, r.run_id, r.gpu_name, r.capability, r.commit);
    };
    return identity((*records)[a]) == identity((*records)[b]);
  }
};

/// Appends records and frees the memory of `added`.
void append(std::vector<Record>& records, std::vector<Record>&& added) {
  if (records.empty()) {
    records = std::move(added);
  } else {
    records.insert(records.end(), std::move_iterator(added.begin()), std::move_iterator(added.end()));
  }
  added = {};
}

/// Returns true if two records of one identity are from the same execution. Their times show this, because
/// end_time has microseconds.
bool is_same_execution(const Record& a, const Record& b) {
  return a.start_time == b.start_time && a.end_time == b.end_time;
}

/// Returns true if `a` replaces `b`: a later execution, or a later judgement of the same execution by
/// `gaussweep verify`. Times are in UTC with a fixed format, so that they compare as text.
bool is_later(const Record& a, const Record& b) {
  return std::tie(a.start_time, a.end_time, a.judged_time) >
         std::tie(b.start_time, b.end_time, b.judged_time);
}

/// Returns true if both judgements have the same status and tolerance.
bool same_verdict(const Record& a, const Record& b) {
  return a.status == b.status &&
         (a.tolerance == b.tolerance || (std::isnan(a.tolerance) && std::isnan(b.tolerance)));
}

constexpr std::size_t max_conflicts = 10;  // limit on the conflicts named in remarks

/// Describes two different judgements of one execution.
std::string conflict(const Record& old, const std::string& old_path, const Record& kept,
                     const std::string& kept_path) {
  return fmt::format(
      "{}/{} n={} is {} by tolerance {:g} in {}, and {} by {:g} in {}, which is later and counts",
      kept.problem, kept.method, kept.n, old.status, old.tolerance, old_path, kept.status, kept.tolerance,
      kept_path);
}

/// Throws if the inputs are of differently named plans.
void check_plans(const std::vector<Loaded>& inputs) {
  const Loaded* named = nullptr;
  for (const Loaded& input : inputs) {
    const std::string name = attribute(input.results, "plan_name");
    if (name.empty()) continue;
    if (named == nullptr) named = &input;
    const std::string first = attribute(named->results, "plan_name");
    if (name == first) continue;
    throw io::InputError(
        fmt::format("{} is of the plan '{}', but {} of the plan '{}': they do not belong together; --force "
                    "merges them nevertheless",
                    named->path.string(), first, input.path.string(), name));
  }
}

/// Joins the different values of each attribute by ", ". Keeps only the first of the plan's texts.
std::map<std::string, std::string> join_attributes(const std::vector<Loaded>& inputs) {
  std::map<std::string, std::vector<std::string>> values;
  for (const Loaded& input : inputs) {
    for (const auto& [name, value] : input.results.attributes) {
      auto& known = values[name];
      if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
    }
  }
  std::map<std::string, std::string> joined;
  for (const auto& [name, known] : values) {
    joined[name] = name == "plan" ? known.front() : fmt::format("{}", fmt::join(known, ", "));
  }
  return joined;
}

/// Keeps one record per identity, at the index of the first one.
void drop_duplicates(Merged& merged) {
  std::vector<Record>& records = merged.results.records;
  const ByIdentity by_identity{&records};
  // The input of each kept record, by the record's index.
  std::unordered_map<std::size_t, MergeInput*, ByIdentity, ByIdentity> known(0, by_identity, by_identity);
  std::size_t conflicts = 0, index = 0, kept_records = 0;
  for (MergeInput& input : merged.inputs) {
    for (std::int64_t i = 0; i < input.records; ++i, ++index) {
      Record& record = records[index];
      const auto found = known.find(index);
      if (found == known.end()) {
        if (kept_records != index) records[kept_records] = std::move(record);
        known.emplace(kept_records++, &input);
        continue;
      }
      Record& kept = records[found->first];
      const bool judged_again = is_same_execution(record, kept) && !same_verdict(record, kept);
      // If the judgement times are equal, the later input's judgement is kept.
      const bool replaces = is_later(record, kept) || (judged_again && !is_later(kept, record));
      if (judged_again && ++conflicts <= max_conflicts) {
        const std::string& other = found->second->path;
        merged.remarks.push_back(replaces ? conflict(kept, other, record, input.path)
                                          : conflict(record, input.path, kept, other));
      }
      if (replaces) {
        kept = std::move(record);
        ++found->second->dropped;
        found->second = &input;
      } else {
        ++input.dropped;
      }
    }
  }
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(kept_records), records.end());
  if (conflicts > max_conflicts)
    merged.remarks.push_back(
        fmt::format("and judged again: {}", counted(conflicts - max_conflicts, "more record")));
}

}  // namespace

Merged merge(std::vector<Loaded> inputs, bool force, const std::vector<std::filesystem::path>& absent) {
  if (inputs.empty()) throw io::InputError("nothing to merge: no input could be read");
  if (!force) check_plans(inputs);
  Merged merged;
  merged.results.attributes = join_attributes(inputs);
  std::vector<Record>& records = merged.results.records;
  std::set<std::string> hosts, plans;
  HostNames names;
  nlohmann::ordered_json sources = nlohmann::ordered_json::array();
  const bool is_one = inputs.size() == 1 && absent.empty();
  RunParts parts;
  for (const std::filesystem::path& path : absent) parts.add_absent(path);
  std::int64_t total = 0;  // -1: unknown
  for (Loaded& input : inputs) {
    names.make_names_unique(input.results);
    MergeInput& report = merged.inputs.emplace_back();
    report.path = input.path.string();
    report.records = static_cast<std::int64_t>(input.results.records.size());
    report.expected = expected_records(input.results);
    parts.add(input.path, input.results);
    total = total < 0 || report.expected < 0 ? -1 : total + std::max(report.expected, report.records);
    plans.insert(attribute(input.results, "plan"));
    sources.push_back({{"path", report.path},
                       {"records", report.records},
                       {"run_id", attribute(input.results, "run_id")},
                       {"plan_name", attribute(input.results, "plan_name")},
                       {"commit", attribute(input.results, "commit")},
                       {"shard", attribute(input.results, "shard")}});
    append(records, std::move(input.results.records));
    for (io::DeviceRow& row : input.results.devices) merged.results.devices.push_back(std::move(row));
    for (io::HostRow& row : input.results.hosts) {
      if (hosts.insert(row.host).second) merged.results.hosts.push_back(std::move(row));
    }
    for (const std::string& remark : input.remarks) merged.remarks.push_back(remark);
  }
  drop_duplicates(merged);
  unify_peaks(merged.results);
  drop_repeated_devices(merged.results);
  plans.erase("");
  if (plans.size() > 1) {
    merged.remarks.push_back(
        fmt::format("the inputs have {} different texts of the plan; the first one is kept", plans.size()));
    merged.results.attributes["plan_texts"] = std::to_string(plans.size());
  }
  merged.results.attributes["record_count"] = std::to_string(merged.results.records.size());
  if (is_one) return merged;
  const bool overlap = std::any_of(merged.inputs.begin(), merged.inputs.end(),
                                   [](const MergeInput& input) { return input.dropped > 0; });
  merged.results.attributes.erase("total");  // the joined values of the inputs
  if (total >= 0 && !overlap) merged.results.attributes["total"] = std::to_string(total + parts.unstarted());
  merged.results.attributes.erase("without_records");
  if (const std::vector<std::string> names = parts.without_records(); !names.empty())
    merged.results.attributes["without_records"] = json_line(names);
  if (inputs.size() > 1) merged.results.attributes["merged_from"] = json_line(sources);
  return merged;
}

}  // namespace gaussweep::driver
