/// Computes the fraction of a device's roofline that a trial reached.

#include "driver/plan/roofline_fraction.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace gaussweep::driver {

double gpus_of(const io::Record& record) {
  return std::max(1.0, std::strtod(std::string(record.gpu_count).c_str(), nullptr));
}

double roofline_fraction(const io::Record& record, const Peaks& peaks) {
  const double flops = record.precision == "float" ? peaks.gemm_flops_float : peaks.gemm_flops_double;
  if (!(flops > 0 && peaks.copy_bytes_per_second > 0 && record.seconds_median > 0))
    return io::Record::unknown;
  return std::max(record.flops / flops, record.bytes / peaks.copy_bytes_per_second) /
         (record.seconds_median * gpus_of(record));
}

}  // namespace gaussweep::driver
