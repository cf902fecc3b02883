/// Lists the columns of the tables of results.h5, and converts rows of devices and hosts to JSON.

#include "io/records/results_columns.hpp"

#include <cmath>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "io/files/errors.hpp"

namespace gaussweep::io {

const std::vector<h5::Column<SampleRow>>& sample_columns() {
  using R = SampleRow;
  static const std::vector<h5::Column<R>> columns{
      {"trial", &R::trial},          {"index", &R::index},
      {"seconds", &R::seconds, "s"}, {"clock", &R::clock, "MHz"},
      {"throttled", &R::throttled},  {"memory_clock", &R::memory_clock, "MHz"},
      {"power", &R::power, "W"},     {"temperature", &R::temperature, "°C"}};
  return columns;
}

const std::vector<h5::Column<StageRow>>& stage_columns() {
  using R = StageRow;
  static const std::vector<h5::Column<R>> columns{{"trial", &R::trial},    {"kernel", &R::kernel},
                                                  {"calls", &R::calls},    {"seconds", &R::seconds, "s"},
                                                  {"mean", &R::mean, "s"}, {"occupancy", &R::occupancy},
                                                  {"share", &R::share}};
  return columns;
}

const std::vector<h5::Column<IterationRow>>& iteration_columns() {
  using R = IterationRow;
  static const std::vector<h5::Column<R>> columns{
      {"trial", &R::trial}, {"iteration", &R::iteration}, {"residual", &R::residual}};
  return columns;
}

const std::vector<h5::Column<DeviceRow>>& device_columns() {
  using R = DeviceRow;
  static const std::vector<h5::Column<R>> columns{{"gpu_uuid", &R::gpu_uuid},
                                                  {"gpu_name", &R::gpu_name},
                                                  {"host", &R::host},
                                                  {"capability", &R::capability},
                                                  {"multiprocessors", &R::multiprocessors},
                                                  {"total_bytes", &R::total_bytes, "B"},
                                                  {"ecc", &R::ecc},
                                                  {"driver_version", &R::driver_version},
                                                  {"runtime_version", &R::runtime_version},
                                                  {"copy_bytes_per_second", &R::copy_bytes_per_second, "B/s"},
                                                  {"gemm_flops_float", &R::gemm_flops_float, "1/s"},
                                                  {"gemm_flops_double", &R::gemm_flops_double, "1/s"}};
  return columns;
}

const std::vector<h5::Column<HostRow>>& host_columns() {
  using R = HostRow;
  static const std::vector<h5::Column<R>> columns{{"host", &R::host},
                                                  {"cpu", &R::cpu},
                                                  {"os", &R::os},
                                                  {"cores", &R::cores},
                                                  {"memory_bytes", &R::memory_bytes, "B"},
                                                  {"blas_threads", &R::blas_threads}};
  return columns;
}

namespace {

using Json = nlohmann::json;

/// Returns the record of a detail row. @throws h5::Error if there is none
Record& record_of(std::vector<Record>& records, std::int64_t trial, const char* table) {
  if (trial < 0 || trial >= static_cast<std::int64_t>(records.size())) {
    throw h5::Error("the table '" + std::string(table) + "' refers to trial " + std::to_string(trial) +
                    ", but /records has only " + std::to_string(records.size()) + " rows");
  }
  return records[static_cast<std::size_t>(trial)];
}

/// Writes every column of a row to JSON by name; NaN becomes null.
template <class Row>
void put_row(Json& to, const Row& row, const std::vector<h5::Column<Row>>& columns) {
  to = Json::object();
  for (const auto& column : columns) {
    Json& slot = to[std::string(column.name)];
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), double Row::*>) {
            if (!std::isnan(row.*member)) slot = row.*member;
          } else {
            slot = row.*member;
          }
        },
        column.member);
  }
}

/// Reads every column of a row from JSON by name and type; null becomes NaN. Returns a description of the
/// allowed values if the row is invalid, else "".
template <class Row>
std::string take_row(const Json& from, Row& row, const std::vector<h5::Column<Row>>& columns) {
  if (!from.is_object()) return "an object";
  for (const auto& column : columns) {
    const std::string name(column.name);
    const auto found = from.find(name);
    const bool exists = found != from.end();
    const std::string allowed_value = std::visit(
        [&](auto member) -> std::string {
          using Value = std::decay_t<decltype(row.*member)>;
          if constexpr (std::is_same_v<Value, Text>) {
            if (!exists || !found->is_string()) return "a row with the text " + name;
            row.*member = found->template get_ref<const std::string&>();
          } else if constexpr (std::is_same_v<Value, std::int64_t>) {
            if (!exists || !found->is_number_integer()) return "a row with the whole number " + name;
          } else {
            if (!exists || !(found->is_number() || found->is_null())) return "a row with the number " + name;
            if (found->is_null()) {
              row.*member = Record::unknown;
              return "";
            }
          }
          if constexpr (!std::is_same_v<Value, Text>) found->get_to(row.*member);
          return "";
        },
        column.member);
    if (!allowed_value.empty()) return allowed_value;
  }
  return "";
}

template <class Row>
void require_row(const Json& from, Row& row) {
  const std::string allowed = read_row(from, row);
  if (!allowed.empty()) throw InputError("not a row; allowed: " + allowed);
}

}  // namespace

DetailRows details_of(const std::vector<Record>& records) {
  DetailRows rows;
  each_sample(records, [&](const SampleRow& row) { rows.samples.push_back(row); });
  each_stage(records, [&](const StageRow& row) { rows.stages.push_back(row); });
  each_iteration(records, [&](const IterationRow& row) { rows.iterations.push_back(row); });
  return rows;
}

void take_details(std::vector<Record>& records, DetailRows rows) {
  for (const SampleRow& row : rows.samples) {
    record_of(records, row.trial, "/samples")
        .sample_list.push_back(
            {row.seconds, row.clock, row.throttled != 0, row.memory_clock, row.power, row.temperature});
  }
  for (StageRow& row : rows.stages) {
    record_of(records, row.trial, "/stages")
        .stages.push_back(
            {std::move(row.kernel), row.calls, row.seconds, row.mean, row.occupancy, row.share});
  }
  for (const IterationRow& row : rows.iterations)
    record_of(records, row.trial, "/iterations").history.push_back(row.residual);
}

void to_json(Json& to, const DeviceRow& row) {
  put_row(to, row, device_columns());
}
void to_json(Json& to, const HostRow& row) {
  put_row(to, row, host_columns());
}
std::string read_row(const Json& from, DeviceRow& row) {
  return take_row(from, row, device_columns());
}
std::string read_row(const Json& from, HostRow& row) {
  return take_row(from, row, host_columns());
}
void from_json(const Json& from, DeviceRow& row) {
  require_row(from, row);
}
void from_json(const Json& from, HostRow& row) {
  require_row(from, row);
}

}  // namespace gaussweep::io
