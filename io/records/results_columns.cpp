#include "io/records/results_columns.hpp"

namespace gaussweep::io {

const std::vector<h5::Column<SampleRow>>& sample_columns() {
  using R = SampleRow;
  static const std::vector<h5::Column<R>> columns{
      {"trial", &R::trial},         {"index", &R::index},
      {"seconds", &R::seconds},     {"clock", &R::clock},
      {"throttled", &R::throttled}, {"memory_clock", &R::memory_clock},
      {"power", &R::power},         {"temperature", &R::temperature}};
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

}  // namespace gaussweep::io
