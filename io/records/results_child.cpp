/// Reads results.h5 in a child process, which sends the contents through a pipe.

#include <utility>

#include "io/files/child_reader.hpp"
#include "io/records/results.hpp"
#include "io/records/results_columns.hpp"

namespace gaussweep::io {
namespace {

constexpr double seconds_per_mib = 5;  // time limit for reading, per MiB of the file

/// Sends the number of rows, then each row as the values of its columns.
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

/// Calls each(rows, columns) for every table.
template <class Each>
void each_table(Results& results, DetailRows& details, const Each& each) {
  each(results.records, record_fields());
  each(details.samples, sample_columns());
  each(details.stages, stage_columns());
  each(details.iterations, iteration_columns());
  each(results.devices, device_columns());
  each(results.hosts, host_columns());
}

void put_results(ChildOutput& out, Results& results) {
  DetailRows details = details_of(results.records);
  each_table(results, details, [&](const auto& rows, const auto& columns) { put_rows(out, rows, columns); });
  out.put(static_cast<std::int64_t>(results.attributes.size()));
  for (const auto& [name, value] : results.attributes) {
    out.put(name);
    out.put(value);
  }
  out.put(std::int64_t{results.checked});
}

Results get_results(Child& in) {
  Results results;
  DetailRows details;
  each_table(results, details, [&](auto& rows, const auto& columns) { get_rows(in, rows, columns); });
  take_details(results.records, std::move(details));
  for (std::int64_t remaining = in.integer(); remaining > 0; --remaining) {
    std::string name = in.text();
    results.attributes[std::move(name)] = in.text();
  }
  results.checked = in.integer() != 0;
  return results;
}

}  // namespace

Results read_results_in_child(const std::filesystem::path& path, bool with_details, double extra_seconds) {
  return read_in_child(
      extra_seconds + seconds_per_mib * mib_of(path),
      "Cannot read '" + path.string() + "': ", "; expected a results.h5 of gaussweep (io/SCHEMA.md).",
      [&] { return read_results(path, with_details); }, put_results, get_results);
}

}  // namespace gaussweep::io
