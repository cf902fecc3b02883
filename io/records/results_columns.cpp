#include "io/records/results_columns.hpp"

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

}  // namespace gaussweep::io
