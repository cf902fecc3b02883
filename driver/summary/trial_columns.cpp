/// Chooses the table columns and short names that distinguish trials from one another.

#include "driver/summary/trial_columns.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "driver/base/lookup.hpp"
#include "driver/base/text_format.hpp"
#include "driver/plan/plan_names.hpp"
#include "driver/results/identity.hpp"
#include "io/plan/settings.hpp"

namespace gaussweep::driver {
namespace {

using io::Record;
using nlohmann::ordered_json;

/// Returns "M x K", the shape of a product's matrix A; empty for other problems.
std::string shape(const Record& r) {
  return has_axis(r.problem, "k") ? fmt::format("{} x {}", r.m, r.k) : std::string();
}

}  // namespace

std::vector<const Record*> pointers_to(const std::vector<Record>& records) {
  std::vector<const Record*> pointers;
  pointers.reserve(records.size());
  for (const Record& record : records) pointers.push_back(&record);
  return pointers;
}

MatrixNames::MatrixNames(const std::vector<const Record*>& records) {
  for (const Record* r : records) names_[{matrix_label(*r), r->matrix_parameters}];
  std::map<std::string, std::vector<ordered_json>> by_label;
  for (const auto& [key, name] : names_)
    by_label[key.first].push_back(ordered_json::parse(key.second, nullptr, /*allow_exceptions=*/false));
  const auto differs = [](const std::vector<ordered_json>& all, const std::string& parameter) {
    const auto value = [&](const ordered_json& parameters) {
      return parameters.is_object() ? parameters.value(parameter, ordered_json()) : ordered_json();
    };
    return std::any_of(all.begin(), all.end(), [&](const ordered_json& parameters) {
      return value(parameters) != value(all.front());
    });
  };
  for (auto& [key, name] : names_) {
    name = key.first;
    const ordered_json parameters = ordered_json::parse(key.second, nullptr, /*allow_exceptions=*/false);
    if (!parameters.is_object()) continue;
    ordered_json shown = ordered_json::object();
    for (const auto& [parameter, value] : parameters.items()) {
      if (parameter == "condition" || differs(by_label[key.first], parameter)) shown[parameter] = value;
    }
    if (!shown.empty()) name += " " + parameters_for_people(shown.dump());
  }
}

std::string MatrixNames::of(const Record& record) const {
  const std::string* name = find_in(names_, {matrix_label(record), record.matrix_parameters});
  return name == nullptr ? std::string(matrix_label(record)) : *name;
}

ParameterNames::ParameterNames(const std::vector<const Record*>& records)
    : ParameterNames([&] {
        std::vector<std::string> parameters;
        for (const Record* record : records) parameters.push_back(record->parameters);
        return parameters;
      }()) {}

ParameterNames::ParameterNames(const std::vector<std::string>& parameters) {
  std::map<std::string, ordered_json> parsed;
  for (const std::string& text : parameters) {
    if (parsed.count(text) == 0)
      parsed[text] = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  }
  std::map<std::string, std::set<std::string>> values;  // per parameter
  for (const auto& [text, json] : parsed) {
    if (!json.is_object()) continue;
    for (const auto& [parameter, value] : json.items()) values[parameter].insert(value.dump());
  }
  for (const auto& [text, json] : parsed) {
    names_[text] = text;
    if (!json.is_object()) continue;
    ordered_json shown = ordered_json::object();
    for (const auto& [parameter, value] : json.items()) {
      const bool is_common = parameters.size() > 1 && values[parameter].size() == 1;
      ordered_json& destination = is_common ? common_ : shown;
      destination[parameter] = value;
    }
    names_[text] = parameters_for_people(shown.dump());
  }
}

std::string ParameterNames::common() const {
  return parameters_for_people(common_.dump());
}

std::string ParameterNames::common(const std::vector<const Record*>& records) const {
  std::set<std::string> names;
  for (const Record* record : records) {
    const ordered_json parameters =
        ordered_json::parse(std::string(record->parameters), nullptr, /*allow_exceptions=*/false);
    if (!parameters.is_object()) continue;
    for (const auto& [parameter, value] : parameters.items()) names.insert(parameter);
  }
  ordered_json known = ordered_json::object();
  for (const auto& [parameter, value] : common_.items()) {
    if (names.count(parameter) > 0) known[parameter] = value;
  }
  return parameters_for_people(known.dump());
}

std::string ParameterNames::of(const std::string& parameters) const {
  const std::string* name = find_in(names_, parameters);
  return name == nullptr ? parameters_for_people(parameters) : *name;
}

NeededColumns::NeededColumns(const std::vector<const Record*>& records) {
  std::map<std::string, std::string> first_uplo;
  for (const Record* r : records) {
    nrhs = nrhs || r->nrhs > 1;
    batch = batch || r->batch > 1;
    seed = seed || r->matrix_seed != records.front()->matrix_seed;
    for (const io::Setting& setting : io::conditions()) {
      const io::Condition& condition = *setting.condition;
      if (io::condition_of(*r, condition) != io::condition_of(*records.front(), condition))
        conditions.insert(setting.name);
    }
    round = round || r->round > 1;
    if (first_uplo.emplace(r->problem, r->uplo).first->second != r->uplo) uplo.insert(r->problem);
  }
}

TrialColumns::TrialColumns(const std::vector<const Record*>& records, Reader reader) {
  using R = const Record&;
  const bool for_person = reader == Reader::person;
  const auto add_conditions = [&](const auto& is_shown) {
    for (const io::Setting& setting : io::conditions()) {
      if (!is_shown(setting.name)) continue;
      parts_.push_back({{setting.name, setting.condition->heading},
                        [column = setting.condition->column](R r) -> Cell { return r.*column; }});
    }
  };
  parts_.push_back(
      {{"method", "METHOD"}, [](R r) -> Cell { return fmt::format("{}/{}", r.problem, r.method); }});
  parts_.push_back({{"backend", "BACKEND"}, [](R r) -> Cell { return r.backend; }});
  parts_.push_back({{"precision", "PRECISION"}, [](R r) -> Cell { return r.precision; }});
  if (!for_person) parts_.push_back({{"m", "M"}, [](R r) -> Cell { return r.m; }});
  parts_.push_back({{"n", "N"}, [](R r) -> Cell { return r.n; }});
  if (for_person) {
    const NeededColumns needed(records);
    const auto matrix_names = std::make_shared<const MatrixNames>(records);
    parameter_names_ = std::make_shared<const ParameterNames>(records);
    parts_.push_back({{"shape", "M x K"}, [](R r) -> Cell { return shape(r); }});
    if (needed.nrhs) parts_.push_back({{"nrhs", "NRHS"}, [](R r) -> Cell { return r.nrhs; }});
    if (needed.batch) parts_.push_back({{"batch", "BATCH"}, [](R r) -> Cell { return r.batch; }});
    parts_.push_back({{"uplo", "UPLO"}, [uplo = needed.uplo](R r) -> Cell {
                        return uplo.count(r.problem) > 0 ? r.uplo : io::Text();
                      }});
    parts_.push_back({{"parameters", "PARAMETERS"},
                      [names = parameter_names_](R r) -> Cell { return names->of(r.parameters); }});
    parts_.push_back({{"matrix", "MATRIX"}, [matrix_names](R r) -> Cell { return matrix_names->of(r); }});
    if (needed.seed) parts_.push_back({{"matrix_seed", "SEED"}, [](R r) -> Cell { return r.matrix_seed; }});
    add_conditions([&](const char* name) { return needed.conditions.count(name) > 0; });
    if (needed.round) parts_.push_back({{"round", "ROUND"}, [](R r) -> Cell { return r.round; }});
    return;
  }
  parts_.push_back({{"k", "K"}, [](R r) -> Cell { return r.k; }});
  parts_.push_back({{"nrhs", "NRHS"}, [](R r) -> Cell { return r.nrhs; }});
  parts_.push_back({{"batch", "BATCH"}, [](R r) -> Cell { return r.batch; }});
  parts_.push_back({{"uplo", "UPLO"}, [](R r) -> Cell { return r.uplo; }});
  parts_.push_back({{"parameters", "PARAMETERS"}, [](R r) -> Cell { return r.parameters; }});
  parts_.push_back({{"matrix", "MATRIX"}, [](R r) -> Cell { return matrix_label(r); }});
  parts_.push_back(
      {{"matrix_parameters", "MATRIX PARAMETERS"}, [](R r) -> Cell { return r.matrix_parameters; }});
  parts_.push_back({{"matrix_kind", "KIND"}, [](R r) -> Cell { return r.matrix_kind; }});
  parts_.push_back({{"matrix_seed", "SEED"}, [](R r) -> Cell { return r.matrix_seed; }});
  add_conditions([](const char*) { return true; });
  parts_.push_back({{"round", "ROUND"}, [](R r) -> Cell { return r.round; }});
  parts_.push_back({{"key", "KEY"}, [](R r) -> Cell { return r.key; }});
}

std::vector<Column> TrialColumns::columns() const {
  std::vector<Column> columns;
  columns.reserve(parts_.size());
  for (const Part& part : parts_) columns.push_back(part.column);
  return columns;
}

Table TrialColumns::table() const {
  Table table;
  table.columns = columns();
  table.key_columns = table.columns.size();
  if (parameter_names_ != nullptr) table.common = parameter_names_->common();
  return table;
}

Table TrialColumns::table(const std::vector<const Record*>& shown) const {
  Table table = this->table();
  if (parameter_names_ != nullptr) table.common = parameter_names_->common(shown);
  return table;
}

std::vector<Cell> TrialColumns::cells(const Record& record) const {
  std::vector<Cell> cells;
  cells.reserve(parts_.size());
  for (const Part& part : parts_) cells.push_back(part.cell(record));
  return cells;
}

TrialNames::TrialNames(const std::vector<const Record*>& records) : needed_(records), matrices_(records) {
  for (const Record* r : records) matrices_of_[r->problem].insert(matrices_.of(*r));
}

std::string TrialNames::of(const Record& r) const {
  std::string text = fmt::format("{}/{} {} n={}", r.problem, r.method, r.precision, r.n);
  if (has_axis(r.problem, "k") && (r.m != r.n || r.k != r.n)) text += fmt::format(" m={} k={}", r.m, r.k);
  if (needed_.nrhs) text += fmt::format(" nrhs={}", r.nrhs);
  if (needed_.batch) text += fmt::format(" batch={}", r.batch);
  if (needed_.uplo.count(r.problem) > 0) text += " " + r.uplo;
  if (r.backend != "cuda") text += " " + r.backend;
  if (r.parameters != "{}") text += " " + parameters_for_people(r.parameters);
  const auto found = matrices_of_.find(r.problem);
  if (found != matrices_of_.end() && found->second.size() > 1) text += " " + matrices_.of(r);
  if (needed_.seed) text += fmt::format(" seed={}", r.matrix_seed);
  for (const io::Setting& setting : io::conditions()) {
    if (needed_.conditions.count(setting.name) > 0)
      text += fmt::format(" {}={}", setting.name, io::condition_of(r, *setting.condition));
  }
  return text;
}

}  // namespace gaussweep::driver
