#pragma once
/// The rows of /devices and /hosts as JSON: on their way to rank 0, and in the journal.

#include <nlohmann/json.hpp>

#include "io/records/results.hpp"

namespace gaussweep::driver {

nlohmann::json to_json(const io::DeviceRow& row);
io::DeviceRow device_row_from_json(const nlohmann::json& json);
nlohmann::json to_json(const io::HostRow& row);
io::HostRow host_row_from_json(const nlohmann::json& json);

}  // namespace gaussweep::driver
