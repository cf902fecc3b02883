#include "driver/verify.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "driver/cli.hpp"
#include "driver/judge.hpp"
#include "kernels/check/check.hpp"

namespace gaussweep::driver {

namespace {

using io::Record;

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

std::string finding(const Record& record) {
  if (record.status == "pass") return {};
  std::string words;
  if (record.info > 0) words = fmt::format("zero or non-positive pivot {}; ", record.info);
  if (!std::isfinite(record.residual_ratio)) return words + "the answer holds NaN or Inf";
  return words +
         fmt::format("residual ratio {:.3g}, tolerance {:g}", record.residual_ratio, record.tolerance);
}

bool has_word(const std::vector<io::Scalar>& list, const std::string& word) {
  return std::any_of(list.begin(), list.end(), [&](const io::Scalar& scalar) {
    return scalar.text == "all" || fnmatch(scalar.text.c_str(), word.c_str(), 0) == 0;
  });
}

bool has_number(const io::Axis& axis, const std::string& backend, std::int64_t number, const char* what) {
  const auto mine = axis.by_backend.find(backend);
  const std::vector<io::Scalar>& values = mine != axis.by_backend.end() ? mine->second : axis.values;
  if (values.empty()) return true;  // by backend, and not for this one: nothing can be said
  return std::any_of(values.begin(), values.end(), [&](const io::Scalar& scalar) {
    return io::parse_integer(scalar, 0, std::numeric_limits<std::int64_t>::max(), what) == number;
  });
}

bool is_of_entry(const io::Entry& entry, const Record& record) {
  if (entry.problem.text != record.problem || !has_word(entry.methods, record.method)) return false;
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"m", record.m}, {"n", record.n}, {"k", record.k}, {"nrhs", record.nrhs}};
  for (const auto& [name, value] : numbers) {
    const auto axis = entry.axes.find(name);
    if (axis != entry.axes.end() && !has_number(axis->second, record.backend, value, name)) return false;
  }
  const auto precision = entry.axes.find("precision");
  if (precision != entry.axes.end() && !has_word(precision->second.values, record.precision)) return false;
  const auto kind_fits = [&](const io::MatrixBlock& block) {
    if (block.values.count("file") != 0) return record.matrix_kind == "file";
    const auto kind = block.values.find("kind");
    return kind == block.values.end() || kind->second.text == record.matrix_kind;
  };
  return entry.matrices.empty() || std::any_of(entry.matrices.begin(), entry.matrices.end(), kind_fits);
}

}  // namespace

double Tolerances::of(const Record& record) const {
  const auto own = of_problem.find(record.problem);
  if (own != of_problem.end()) return own->second;
  if (!factor) return record.tolerance;
  const auto problem = from_string<Problem>(record.problem);
  return problem ? *factor * default_tolerance(*problem) : record.tolerance;
}

Tolerances parse_tolerances(const std::vector<std::string>& texts) {
  Tolerances tolerances;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      tolerances.factor = parse_positive(text, text);
      continue;
    }
    const std::string problem = text.substr(0, equals);
    if (!from_string<Problem>(problem)) {
      std::vector<std::string> names;
      for (const auto& [value, name] : EnumNames<Problem>::table) names.emplace_back(name);
      throw UsageError(fmt::format("--tolerance {}: unknown problem '{}'; allowed are {}{}", text, problem,
                                   allowed_names<Problem>(), io::nearest_hint(problem, names)));
    }
    tolerances.of_problem[problem] = parse_positive(text.substr(equals + 1), text);
  }
  return tolerances;
}

std::optional<std::vector<std::string>> expected_of(const io::Plan& plan, const Record& record) {
  std::optional<std::vector<std::string>> expected;
  for (const io::Entry& entry : plan.sweep) {
    if (!is_of_entry(entry, record)) continue;
    if (!expected) expected.emplace();
    bool has_own = false;
    for (const auto& [method, statuses] : entry.expect) {
      if (fnmatch(method.c_str(), record.method.c_str(), 0) != 0) continue;
      has_own = true;
      for (const io::Scalar& status : statuses.second) expected->push_back(status.text);
    }
    if (!has_own) expected->push_back("pass");
  }
  return expected;
}

Verification verify(std::vector<Record> records, const Tolerances& tolerances, const io::Plan* plan) {
  Verification result;
  bool is_broken_somewhere = false, is_wrong_somewhere = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    Record& record = records[i];
    result.old_statuses.push_back(record.status);
    const double tolerance = tolerances.of(record);
    const bool is_known = !std::isnan(record.residual_ratio) || record.status == "failed";
    if (is_judged(record.status) && is_known && tolerance > 0) {
      const auto convergence = from_string<Convergence>(record.convergence).value_or(Convergence::none);
      const std::string status = judge(record.residual_ratio, tolerance, record.info, convergence);
      const bool has_changed = status != record.status;
      record.status = status;
      record.tolerance = tolerance;
      if (has_changed) {
        record.message = finding(record);
        result.changed.push_back(i);
      }
    } else if (is_judged(record.status)) {
      ++result.not_judged;
    }
    std::vector<std::string> expected = {"pass"};
    if (plan != nullptr) {
      const auto found = expected_of(*plan, record);
      if (!found) continue;  // an edited plan no longer has it: `run` does not count it either
      expected = *found;
    }
    if (record.status == "skipped" ||
        std::find(expected.begin(), expected.end(), record.status) != expected.end()) {
      continue;
    }
    (is_broken(record.status) ? is_broken_somewhere : is_wrong_somewhere) = true;
  }
  result.exit_code = is_broken_somewhere ? exit_broken : is_wrong_somewhere ? exit_wrong : exit_ok;
  result.records = std::move(records);
  return result;
}

Table change_table(const Verification& verification, bool for_people) {
  Table table;
  table.columns = {{"method", "METHOD"},
                   {"backend", "BACKEND"},
                   {"precision", "PRECISION"},
                   {"n", "N"},
                   {"parameters", "PARAMETERS"},
                   {"matrix_kind", "MATRIX"},
                   {"residual_ratio", "RATIO", Style::scientific},
                   {"tolerance", "TOLERANCE"},
                   {"old_status", "WAS"},
                   {"status", "IS"},
                   {"key", "KEY"}};
  for (const std::size_t i : verification.changed) {
    const Record& r = verification.records[i];
    table.rows.push_back({r.problem + "/" + r.method, r.backend, r.precision, r.n,
                          for_people ? settings_text(r.parameters) : r.parameters, r.matrix_kind,
                          r.residual_ratio, r.tolerance, verification.old_statuses[i], r.status, r.key});
  }
  return table;
}

}  // namespace gaussweep::driver
