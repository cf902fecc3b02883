#pragma once
/// The tables of results.h5 besides /records, as rows and columns: io/SCHEMA.md says what they mean. For the
/// .cpp files of `io/` only.

#include <vector>

#include "io/files/hdf5_table.hpp"
#include "io/records/rows.hpp"

namespace gaussweep::io {

struct SampleRow {
  std::int64_t trial = 0, index = 0;
  double seconds = Record::unknown, clock = Record::unknown;
  std::int64_t throttled = 0;
  double memory_clock = Record::unknown, power = Record::unknown, temperature = Record::unknown;
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

const std::vector<h5::Column<SampleRow>>& sample_columns();
const std::vector<h5::Column<StageRow>>& stage_columns();
const std::vector<h5::Column<IterationRow>>& iteration_columns();
const std::vector<h5::Column<DeviceRow>>& device_columns();
const std::vector<h5::Column<HostRow>>& host_columns();

}  // namespace gaussweep::io
