/// Unifies the measured peaks of a device (GEMM rates and copy bandwidth). Each rank and each start of a run
/// measures them again, with different results.

#include "driver/results/device_peaks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "driver/base/lookup.hpp"
#include "driver/plan/roofline_fraction.hpp"

namespace gaussweep::driver {
namespace {

/// The host, and the GPU's UUID and compute capability (empty and 0 for the host's CPU).
using DeviceKey = std::tuple<std::string_view, std::string_view, std::int64_t>;

/// The rates whose maximum is kept per device.
constexpr double io::DeviceRow::*device_rates[] = {&io::DeviceRow::copy_bytes_per_second,
                                                   &io::DeviceRow::gemm_flops_float,
                                                   &io::DeviceRow::gemm_flops_double};

}  // namespace

void unify_peaks(io::Results& results) {
  std::map<DeviceKey, io::DeviceRow> largest;
  const auto key_of = [](const io::DeviceRow& row) {
    return DeviceKey(row.host, row.gpu_uuid, row.capability);
  };
  for (const io::DeviceRow& row : results.devices) {
    io::DeviceRow& peaks = largest.emplace(key_of(row), row).first->second;
    for (const auto rate : device_rates) peaks.*rate = std::fmax(peaks.*rate, row.*rate);
  }
  for (io::DeviceRow& row : results.devices) {
    for (const auto rate : device_rates) row.*rate = largest.at(key_of(row)).*rate;
  }
  for (io::Record& record : results.records) {
    if (std::isnan(record.peak_share)) continue;
    const io::DeviceRow* row = find_in(largest, DeviceKey(record.host, record.gpu_uuid, record.capability));
    if (row == nullptr) continue;
    const double share = roofline_fraction(
        record, {row->copy_bytes_per_second, row->gemm_flops_float, row->gemm_flops_double});
    if (std::isnan(share)) continue;
    record.peak_share = share;
    if (record.timing == "suspect" && share <= max_roofline_excess) record.timing = {};
  }
}

void drop_repeated_devices(io::Results& results) {
  std::set<std::tuple<std::string, std::string, std::string>> known;
  const auto is_repeated = [&](const io::DeviceRow& row) {
    return !known.emplace(row.host, row.gpu_uuid, row.gpu_uuid.empty() ? row.gpu_name : io::Text()).second;
  };
  std::vector<io::DeviceRow>& devices = results.devices;
  devices.erase(std::remove_if(devices.begin(), devices.end(), is_repeated), devices.end());
}

}  // namespace gaussweep::driver
