#include "io/results.hpp"

#include <system_error>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/errors.hpp"
#include "io/hdf5_memory.hpp"
#include "io/table.hpp"

namespace gaussweep::io {
namespace {

constexpr long long schema_version = 1;

// The tables besides /records: io/SCHEMA.md says what the columns mean.
struct SampleRow {
  std::int64_t trial = 0, index = 0;
  double seconds = Record::unknown, clock = Record::unknown;
  std::int64_t throttled = 0;
};
struct StageRow {
  std::int64_t trial = 0;
  std::string kernel;
  std::int64_t calls = 0;
  double seconds = Record::unknown, mean = Record::unknown, occupancy = Record::unknown,
         share = Record::unknown;
};
struct IterationRow {
  std::int64_t trial = 0, iteration = 0;
  double residual = Record::unknown;
};

const std::vector<h5::Column<SampleRow>>& sample_columns() {
  using R = SampleRow;
  static const std::vector<h5::Column<R>> columns{{"trial", &R::trial},
                                                  {"index", &R::index},
                                                  {"seconds", &R::seconds},
                                                  {"clock", &R::clock},
                                                  {"throttled", &R::throttled}};
  return columns;
}

const std::vector<h5::Column<StageRow>>& stage_columns() {
  using R = StageRow;
  static const std::vector<h5::Column<R>> columns{
      {"trial", &R::trial}, {"kernel", &R::kernel},       {"calls", &R::calls}, {"seconds", &R::seconds},
      {"mean", &R::mean},   {"occupancy", &R::occupancy}, {"share", &R::share}};
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
                                                  {"total_bytes", &R::total_bytes},
                                                  {"ecc", &R::ecc},
                                                  {"driver_version", &R::driver_version},
                                                  {"runtime_version", &R::runtime_version},
                                                  {"copy_bytes_per_second", &R::copy_bytes_per_second},
                                                  {"gemm_flops_float", &R::gemm_flops_float},
                                                  {"gemm_flops_double", &R::gemm_flops_double}};
  return columns;
}

const std::vector<h5::Column<HostRow>>& host_columns() {
  using R = HostRow;
  static const std::vector<h5::Column<R>> columns{{"host", &R::host},
                                                  {"cpu", &R::cpu},
                                                  {"os", &R::os},
                                                  {"cores", &R::cores},
                                                  {"memory_bytes", &R::memory_bytes},
                                                  {"blas_threads", &R::blas_threads}};
  return columns;
}

// --- Writing

void write_details(const h5::File& file, const std::vector<Record>& records) {
  std::vector<SampleRow> samples;
  std::vector<StageRow> stages;
  std::vector<IterationRow> iterations;
  for (std::size_t r = 0; r < records.size(); ++r) {
    const auto trial = static_cast<std::int64_t>(r);
    for (const Sample& sample : records[r].sample_list) {
      const auto index = static_cast<std::int64_t>(&sample - records[r].sample_list.data());
      samples.push_back({trial, index, sample.seconds, sample.clock_mhz, sample.throttled ? 1 : 0});
    }
    for (const Stage& stage : records[r].stages) {
      stages.push_back(
          {trial, stage.kernel, stage.calls, stage.seconds, stage.mean, stage.occupancy, stage.share});
    }
    for (std::size_t i = 0; i < records[r].history.size(); ++i) {
      iterations.push_back({trial, static_cast<std::int64_t>(i), records[r].history[i]});
    }
  }
  h5::write_table(file, "/samples", sample_columns(), samples);
  h5::write_table(file, "/stages", stage_columns(), stages);
  h5::write_table(file, "/iterations", iteration_columns(), iterations);
}

// --- Reading

Record& record_of(std::vector<Record>& records, std::int64_t trial, const char* table) {
  if (trial < 0 || trial >= static_cast<std::int64_t>(records.size())) {
    throw h5::Error("the table '" + std::string(table) + "' speaks of trial " + std::to_string(trial) +
                    ", but /records has only " + std::to_string(records.size()) + " rows");
  }
  return records[static_cast<std::size_t>(trial)];
}

bool has_table(const h5::File& file, const char* name) {
  return h5::check(H5Lexists(file, name, H5P_DEFAULT), "look for " + std::string(name)) > 0;
}

template <class Row, class Columns>
std::vector<Row> read_if_there(const h5::File& file, const char* name, const Columns& columns,
                               std::initializer_list<std::string_view> required = {"trial"}) {
  return has_table(file, name) ? h5::read_table<Row>(file, name, columns, required) : std::vector<Row>{};
}

void read_details(const h5::File& file, std::vector<Record>& records) {
  // Rows stand in order of trial and index, as they were written.
  for (const SampleRow& row : read_if_there<SampleRow>(file, "/samples", sample_columns())) {
    record_of(records, row.trial, "/samples")
        .sample_list.push_back({row.seconds, row.clock, row.throttled != 0});
  }
  for (StageRow& row : read_if_there<StageRow>(file, "/stages", stage_columns())) {
    record_of(records, row.trial, "/stages")
        .stages.push_back(
            {std::move(row.kernel), row.calls, row.seconds, row.mean, row.occupancy, row.share});
  }
  for (const IterationRow& row : read_if_there<IterationRow>(file, "/iterations", iteration_columns())) {
    record_of(records, row.trial, "/iterations").history.push_back(row.residual);
  }
}

long long read_version(const h5::File& file) {
  const h5::Attribute attribute(H5Aopen(file, "schema_version", H5P_DEFAULT), "open schema_version");
  const h5::Type type(H5Aget_type(attribute), "read the type of schema_version");
  const h5::Space space(H5Aget_space(attribute), "read the shape of schema_version");
  if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
    throw h5::Error("the attribute schema_version is not a whole number");
  long long version = 0;
  h5::check(H5Aread(attribute, H5T_NATIVE_LLONG, &version), "read schema_version");
  return version;
}

}  // namespace

void write_results(const std::filesystem::path& path, const Results& results) {
  const h5::Quiet quiet;
  std::vector<char> image;
  try {
    const h5::File file = h5::create_in_memory("results.h5");
    h5::write_attribute(file, "schema_version", schema_version);
    for (const auto& [name, value] : results.attributes) {
      if (name != "schema_version") h5::write_attribute(file, name, value);
    }
    h5::write_table(file, "/records", record_fields(), results.records);
    write_details(file, results.records);
    h5::write_table(file, "/devices", device_columns(), results.devices);
    h5::write_table(file, "/hosts", host_columns(), results.hosts);
    image = h5::image_of(file);
  } catch (const h5::Error& error) {
    throw StorageError("Cannot write '" + path.string() + "': " + error.what() +
                       ". What stood under that name before is untouched.");
  }
  remove_stale_temporaries(path);
  write_atomically(path, image.data(), image.size());
}

Results read_results(const std::filesystem::path& path, bool with_details) {
  const h5::Quiet quiet;
  const std::string expected = "; expected a results.h5 of gaussweep (io/SCHEMA.md)";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError("Cannot read '" + path.string() + "': " +
                     (error ? error.message() : std::string("it is not a regular file")) + expected + ".");
  }
  try {
    const h5::File file = h5::open_read_only(path);
    if (H5Aexists(file, "schema_version") <= 0 || !has_table(file, "/records")) {
      throw InputError("'" + path.string() +
                       "' is an HDF5 file, but not one of gaussweep's results: it lacks " +
                       "the attribute schema_version or the table /records" + expected + ".");
    }
    const long long version = read_version(file);
    if (version > schema_version) {
      throw InputError("'" + path.string() + "' was written by a newer gaussweep (schema version " +
                       std::to_string(version) + "; this one reads versions up to " +
                       std::to_string(schema_version) + "): read it with that version or a later one.");
    }
    Results results;
    results.attributes = h5::read_texts(file);
    results.records =
        h5::read_table<Record>(file, "/records", record_fields(), {"key", "problem", "method", "status"});
    if (with_details) read_details(file, results.records);
    results.devices = read_if_there<DeviceRow>(file, "/devices", device_columns(), {});
    results.hosts = read_if_there<HostRow>(file, "/hosts", host_columns(), {});
    return results;
  } catch (const h5::Error& failure) {
    throw InputError("Cannot read '" + path.string() + "': " + failure.what() + expected + ".");
  }
}

}  // namespace gaussweep::io
