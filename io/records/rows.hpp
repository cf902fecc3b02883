#pragma once
/// The rows of the tables /devices and /hosts in results.h5.

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "io/records/record.hpp"

namespace gaussweep::io {

/// A GPU or CPU of the run (`/devices`). A column is 0 or NaN if it is unknown or does not apply to a CPU.
struct DeviceRow {
  Text gpu_uuid, gpu_name, host;
  std::int64_t capability = 0, multiprocessors = 0, total_bytes = 0, ecc = 0, driver_version = 0,
               runtime_version = 0;
  double copy_bytes_per_second = Record::unknown;  ///< measured once per device and run
  double gemm_flops_float = Record::unknown, gemm_flops_double = Record::unknown;
};

/// A machine of the run (`/hosts`).
struct HostRow {
  Text host, cpu, os;
  std::int64_t cores = 0, memory_bytes = 0;
  std::int64_t blas_threads = 0;  ///< OpenBLAS threads per worker; 0: unknown, in older files
};

/// Convert rows to JSON, for messages between processes and for the journal.
void to_json(nlohmann::json& to, const DeviceRow& row);
void to_json(nlohmann::json& to, const HostRow& row);
/// @throws InputError if a column is missing or has another type
void from_json(const nlohmann::json& from, DeviceRow& row);
void from_json(const nlohmann::json& from, HostRow& row);
/// Read rows without exceptions: return a description of the allowed values if the JSON is invalid, else "".
std::string read_row(const nlohmann::json& from, DeviceRow& row);
std::string read_row(const nlohmann::json& from, HostRow& row);

}  // namespace gaussweep::io
