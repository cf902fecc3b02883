/// results.h5 read in a child process: what the child read comes through a pipe.

#include <type_traits>
#include <utility>

#include "io/files/apart.hpp"
#include "io/records/results.hpp"
#include "io/records/results_columns.hpp"

namespace gaussweep::io {
namespace {

constexpr double seconds_a_mib = 5;

/// Rows by their columns, in both directions.
template <class Row, class Columns>
void put_rows(ChildOutput& out, const std::vector<Row>& rows, const Columns& columns) {
  out.put(static_cast<std::int64_t>(rows.size()));
  for (const Row& row : rows) {
    for (const auto& column : columns) std::visit([&](auto member) { out.put(row.*member); }, column.member);
  }
}

void get(Child& in, Text& value, TextPool& pool) {
  value = pool.of(in.text());
}
void get(Child& in, std::int64_t& value, TextPool&) {
  value = in.integer();
}
void get(Child& in, double& value, TextPool&) {
  value = in.real();
}

template <class Row, class Columns>
void get_rows(Child& in, std::vector<Row>& rows, const Columns& columns) {
  TextPool pool;
  rows.resize(static_cast<std::size_t>(in.integer()));
  for (Row& row : rows) {
    for (const auto& column : columns)
      std::visit([&](auto member) { get(in, row.*member, pool); }, column.member);
  }
}

void put_details(ChildOutput& out, const Record& record) {
  out.put(static_cast<std::int64_t>(record.sample_list.size()));
  for (const Sample& sample : record.sample_list) {
    out.put(sample.seconds);
    out.put(sample.clock_mhz);
    out.put(std::int64_t{sample.throttled});
    for (const double value : {sample.memory_clock_mhz, sample.power_w, sample.temperature_c}) out.put(value);
  }
  out.put(static_cast<std::int64_t>(record.stages.size()));
  for (const Stage& stage : record.stages) {
    out.put(stage.kernel);
    out.put(stage.calls);
    for (const double value : {stage.seconds, stage.mean, stage.occupancy, stage.share}) out.put(value);
  }
  out.put(static_cast<std::int64_t>(record.history.size()));
  for (const double residual : record.history) out.put(residual);
}

void get_details(Child& in, Record& record) {
  record.sample_list.resize(static_cast<std::size_t>(in.integer()));
  for (Sample& sample : record.sample_list) {
    sample.seconds = in.real();
    sample.clock_mhz = in.real();
    sample.throttled = in.integer() != 0;
    for (double* value : {&sample.memory_clock_mhz, &sample.power_w, &sample.temperature_c})
      *value = in.real();
  }
  record.stages.resize(static_cast<std::size_t>(in.integer()));
  for (Stage& stage : record.stages) {
    stage.kernel = in.text();
    stage.calls = in.integer();
    for (double* value : {&stage.seconds, &stage.mean, &stage.occupancy, &stage.share}) *value = in.real();
  }
  record.history.resize(static_cast<std::size_t>(in.integer()));
  for (double& residual : record.history) residual = in.real();
}

void put_results(ChildOutput& out, const Results& results) {
  put_rows(out, results.records, record_fields());
  for (const Record& record : results.records) put_details(out, record);
  put_rows(out, results.devices, device_columns());
  put_rows(out, results.hosts, host_columns());
  out.put(static_cast<std::int64_t>(results.attributes.size()));
  for (const auto& [name, value] : results.attributes) {
    out.put(name);
    out.put(value);
  }
  out.put(std::int64_t{results.checked});
}

Results get_results(Child& in) {
  Results results;
  get_rows(in, results.records, record_fields());
  for (Record& record : results.records) get_details(in, record);
  get_rows(in, results.devices, device_columns());
  get_rows(in, results.hosts, host_columns());
  for (std::int64_t left = in.integer(); left > 0; --left) {
    std::string name = in.text();
    results.attributes[std::move(name)] = in.text();
  }
  results.checked = in.integer() != 0;
  return results;
}

}  // namespace

Results read_results_apart(const std::filesystem::path& path, bool with_details, double patience) {
  return read_apart(
      patience + seconds_a_mib * mib_of(path),
      "Cannot read '" + path.string() + "': ", "; expected a results.h5 of gaussweep (io/SCHEMA.md).",
      [&] { return read_results(path, with_details); }, put_results, get_results);
}

}  // namespace gaussweep::io
