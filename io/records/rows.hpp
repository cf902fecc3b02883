#pragma once
/// Rows of /devices and /hosts.

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "io/records/record.hpp"

namespace gaussweep::io {

/// A GPU or CPU that the run computed on (`/devices`); 0 or NaN: not known, or not of a GPU.
struct DeviceRow {
  Text gpu_uuid, gpu_name, host;
  std::int64_t capability = 0, multiprocessors = 0, total_bytes = 0, ecc = 0, driver_version = 0,
               runtime_version = 0;
  double copy_bytes_per_second = Record::unknown;  ///< measured once a device and run
  double gemm_flops_float = Record::unknown, gemm_flops_double = Record::unknown;
};

/// A machine of the run (`/hosts`).
struct HostRow {
  Text host, cpu, os;
  std::int64_t cores = 0, memory_bytes = 0;
  std::int64_t blas_threads = 0;  ///< of OpenBLAS in each worker; 0: an older file, which did not say
};

/// Rows as JSON: on their way between processes, and in the journal.
void to_json(nlohmann::json& to, const DeviceRow& row);
void to_json(nlohmann::json& to, const HostRow& row);
/// @throws InputError where a column lacks or is of another type
void from_json(const nlohmann::json& from, DeviceRow& row);
void from_json(const nlohmann::json& from, HostRow& row);
/// The same, but what is allowed is returned where it does not fit; empty where it does.
std::string read_row(const nlohmann::json& from, DeviceRow& row);
std::string read_row(const nlohmann::json& from, HostRow& row);

}  // namespace gaussweep::io
