/// Decides the status of stored records (results of trials) again, by other tolerances, without running
/// trials. To find the statuses that a plan expects of a record, matches the record with the plan's entries.
/// An entry is an item of the plan's list `sweep`: methods, and axes (sizes or parameters, each with a list
/// of values).

#include "driver/judge/verify.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <utility>

#include "driver/base/errors.hpp"
#include "driver/base/text_format.hpp"
#include "driver/judge/judge.hpp"
#include "driver/plan/axes.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/system/clock.hpp"
#include "io/records/status.hpp"
#include "kernels/check/check.hpp"

namespace gaussweep::driver {

namespace {

using io::Record;

/// Parses a tolerance or a factor. @param whole the part of the option's value that an error message quotes
double parse_positive(const std::string& text, const std::string& whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || std::isinf(value)) {
    throw UsageError(
        fmt::format("--tolerance {}: allowed are a positive factor for every default, e.g. 2.0, or "
                    "PROBLEM=TOLERANCE, e.g. gesv=32",
                    whole));
  }
  return value;
}

/// Returns true if a value of an axis equals the record's value. Returns true for the axes that are not
/// compared, such as method parameters.
bool agrees(const std::string& axis, const io::Scalar& value, const Record& record) {
  static const std::map<std::string, std::int64_t Record::*> sizes = {{"m", &Record::m},
                                                                      {"n", &Record::n},
                                                                      {"k", &Record::k},
                                                                      {"nrhs", &Record::nrhs},
                                                                      {"batch", &Record::batch}};
  const auto size = sizes.find(axis);
  if (size != sizes.end()) {
    return io::parse_integer(value, 0, std::numeric_limits<std::int64_t>::max(), axis) ==
           record.*size->second;
  }
  if (axis == "precision") return value.text == record.precision;
  if (axis == "uplo") return value.text == record.uplo;
  return true;
}

/// Returns true if one of the axis's values equals the record's value.
bool is_on_axis(const std::string& name, const io::Axis& axis, const Record& record) {
  const auto by_backend = axis.by_backend.find(record.backend);
  const std::vector<io::Scalar>* gpu_values =
      record.backend == to_string(Backend::cuda) ? values_on_gpu(axis, record.gpu_name) : nullptr;
  // Values for the GPU model have precedence, then those for the backend.
  const bool has_backend = by_backend != axis.by_backend.end();
  const std::vector<io::Scalar>& other_values = has_backend ? by_backend->second : axis.values;
  const std::vector<io::Scalar>& values = gpu_values != nullptr ? *gpu_values : other_values;
  if (values.empty()) return true;  // values are given per backend, but none for this one: unknown
  return std::any_of(values.begin(), values.end(),
                     [&](const io::Scalar& value) { return agrees(name, value, record); });
}

/// Returns true if, for some i, the i-th values of all axes of a zip agree with the record. A zip is a group
/// of axes that vary together.
bool is_in_zip(const std::map<std::string, io::Axis>& zip, const Record& record) {
  for (std::size_t i = 0; i < zip.begin()->second.values.size(); ++i) {
    const auto fits = [&](const auto& axis) { return agrees(axis.first, axis.second.values[i], record); };
    if (std::all_of(zip.begin(), zip.end(), fits)) return true;
  }
  return false;
}

/// Returns true if the entry may have produced the record.
bool is_of_entry(const io::Entry& entry, const Record& record) {
  if (entry.problem.text != record.problem) return false;
  const auto names_method = [&](const io::Scalar& name) {
    return matches(name.text, record.problem, record.method);
  };
  if (std::none_of(entry.methods.begin(), entry.methods.end(), names_method)) return false;
  const auto is_on = [&](const auto& axis) { return is_on_axis(axis.first, axis.second, record); };
  if (!std::all_of(entry.axes.begin(), entry.axes.end(), is_on)) return false;
  const auto fits_zip = [&](const auto& zip) { return is_in_zip(zip, record); };
  if (!std::all_of(entry.zips.begin(), entry.zips.end(), fits_zip)) return false;
  const auto kind_fits = [&](const io::MatrixBlock& block) {
    if (block.values.count("file") != 0) return record.matrix_kind == "file";
    const auto kind = block.values.find("kind");
    return kind == block.values.end() || kind->second.text == record.matrix_kind;
  };
  return std::any_of(entry.matrices.begin(), entry.matrices.end(), kind_fits);
}

}  // namespace

double Tolerances::of(const Record& record) const {
  const auto found = of_problem.find(record.problem);
  if (found != of_problem.end()) return found->second;
  if (!factor) return record.tolerance;
  const auto problem = from_string<Problem>(record.problem);
  return problem ? *factor * default_tolerance(*problem) : record.tolerance;
}

Tolerances parse_tolerances(const std::vector<std::string>& lists) {
  Tolerances tolerances;
  bool has_factor = false;
  for (const std::string& list : lists) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      const std::string text = list.substr(begin, end - begin);
      const auto equals = text.find('=');
      const std::string problem = text.substr(0, equals);
      if (equals != std::string::npos && !from_string<Problem>(problem)) {
        throw UsageError(fmt::format("--tolerance {}: unknown problem '{}'; {}allowed are {}", text, problem,
                                     io::nearest_hint(problem, enum_names<Problem>()),
                                     allowed_names<Problem>()));
      }
      const double value = parse_positive(equals == std::string::npos ? text : text.substr(equals + 1), text);
      if (equals != std::string::npos) {
        tolerances.of_problem[problem] = value;
      } else if (begin > 0 || std::exchange(has_factor, true)) {
        // The comma is probably a decimal comma.
        throw UsageError(fmt::format(
            "--tolerance {}: what is {}? Allowed: one factor, before any PROBLEM=TOLERANCE; decimals "
            "follow a point (1.5)",
            list, text));
      } else {
        tolerances.factor = value;
      }
      begin = end + 1;
    }
  }
  return tolerances;
}

std::optional<std::vector<std::string>> expected_of(const io::Plan& plan, const Record& record) {
  std::optional<std::vector<std::string>> expected;
  for (const io::Entry& entry : plan.sweep) {
    if (!is_of_entry(entry, record)) continue;
    if (!expected) expected.emplace();
    bool is_listed = false;
    for (const auto& [method, statuses] : entry.expect) {
      if (!matches(method, record.problem, record.method)) continue;
      is_listed = true;
      for (const io::Scalar& status : statuses.second) expected->push_back(status.text);
    }
    if (!is_listed) expected->push_back(name_of(io::Status::pass));
  }
  return expected;
}

bool judge_again(Record& record, double tolerance) {
  // NaN means an unknown residual ratio, except for a failed answer, whose ratio itself may be NaN.
  const bool is_known = !std::isnan(record.residual_ratio) || record.status == io::Status::failed;
  std::optional<Evidence> evidence = evidence_of(record);
  if (!is_judged(record.status) || !is_known || !evidence || !(tolerance > 0)) return false;
  evidence->tolerance = tolerance;
  const std::string status = name_of(judge(*evidence));
  const bool has_changed = status != record.status;
  record.status = status;
  record.tolerance = tolerance;
  record.judged_time = fine_time_stamp();
  if (has_changed) {
    record.message = finding_text(*evidence);
    // The record has the ratio of the batch's worst system only, so the counts per verdict are unknown now.
    record.systems_pass = record.systems_suspect = record.systems_failed = record.first_failure = -1;
  }
  return true;
}

Verification judge_all_again(std::vector<Record> records, const Tolerances& tolerances,
                             const io::Plan* plan) {
  Verification result;
  bool is_broken_somewhere = false, is_wrong_somewhere = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Record& record = records[i];
    result.old_statuses.push_back(record.status);
    if (judge_again(record, tolerances.of(record))) {
      if (record.status != result.old_statuses.back()) result.changed.push_back(i);
    } else if (is_judged(record.status)) {
      ++result.not_judged;
    }
    if (record.status != result.old_statuses.back()) record.expected = -1;  // unknown for the new status
    std::vector<std::string> expected = {name_of(io::Status::pass)};
    if (plan != nullptr) {
      const auto found = expected_of(*plan, record);
      if (!found) continue;  // the plan has no such trial any more, so `run` does not count it either
      expected = *found;
    }
    bool is_expected = record.expected == 1;
    if (record.expected < 0) {  // unknown; otherwise the run has recorded whether the status was expected
      is_expected = record.status == io::Status::skipped ||
                    std::find(expected.begin(), expected.end(), record.status) != expected.end();
      if (plan != nullptr) record.expected = is_expected ? 1 : 0;
    }
    if (is_expected) continue;
    bool& flag = is_broken(record.status) ? is_broken_somewhere : is_wrong_somewhere;
    flag = true;
  }
  const int code_unless_broken = is_wrong_somewhere ? exit_wrong : exit_ok;
  result.exit_code = is_broken_somewhere ? int{exit_broken} : code_unless_broken;
  result.records = std::move(records);
  return result;
}

}  // namespace gaussweep::driver
