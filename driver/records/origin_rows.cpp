#include "driver/records/origin_rows.hpp"

#include <cmath>

namespace gaussweep::driver {

using nlohmann::json;

json to_json(const io::DeviceRow& r) {
  const auto real = [](double value) { return std::isnan(value) ? json(nullptr) : json(value); };
  return {{"gpu_uuid", r.gpu_uuid},
          {"gpu_name", r.gpu_name},
          {"host", r.host},
          {"capability", r.capability},
          {"multiprocessors", r.multiprocessors},
          {"total_bytes", r.total_bytes},
          {"ecc", r.ecc},
          {"driver_version", r.driver_version},
          {"runtime_version", r.runtime_version},
          {"copy_bytes_per_second", real(r.copy_bytes_per_second)},
          {"gemm_flops_float", real(r.gemm_flops_float)},
          {"gemm_flops_double", real(r.gemm_flops_double)}};
}

io::DeviceRow device_row_from_json(const json& j) {
  const auto real = [&](const char* name) {
    return j.at(name).is_null() ? io::Record::unknown : j.at(name).get<double>();
  };
  io::DeviceRow r;
  r.gpu_uuid = j.at("gpu_uuid");
  r.gpu_name = j.at("gpu_name");
  r.host = j.at("host");
  r.capability = j.at("capability");
  r.multiprocessors = j.at("multiprocessors");
  r.total_bytes = j.at("total_bytes");
  r.ecc = j.at("ecc");
  r.driver_version = j.at("driver_version");
  r.runtime_version = j.at("runtime_version");
  r.copy_bytes_per_second = real("copy_bytes_per_second");
  r.gemm_flops_float = real("gemm_flops_float");
  r.gemm_flops_double = real("gemm_flops_double");
  return r;
}

json to_json(const io::HostRow& r) {
  return {{"host", r.host},
          {"cpu", r.cpu},
          {"os", r.os},
          {"cores", r.cores},
          {"memory_bytes", r.memory_bytes},
          {"blas_threads", r.blas_threads}};
}

io::HostRow host_row_from_json(const json& j) {
  io::HostRow r;
  r.host = j.at("host");
  r.cpu = j.at("cpu");
  r.os = j.at("os");
  r.cores = j.at("cores");
  r.memory_bytes = j.at("memory_bytes");
  r.blas_threads = j.value("blas_threads", std::int64_t{0});  // older journals do not say
  return r;
}

}  // namespace gaussweep::driver
