#pragma once
/// Records whose times follow a formula, for tests of rules that choose a method.

#include "io/records/results.hpp"
#include "tests/driver/summary/example_records.hpp"
#include "tests/testing.hpp"

namespace gaussweep::driver {

/// Seconds of a method at n, nrhs, batch.
using Formula = std::function<double(double n, double nrhs, double batch)>;

/// Returns a record of a method of gesv whose samples scatter by 0.2 %. The vendor's method is "cusolver".
inline io::Record formula_record(const std::string& method, const Formula& seconds, std::int64_t n,
                                 std::int64_t nrhs = 1, std::int64_t batch = 1,
                                 const std::string& precision = "double",
                                 const std::string& matrix = "uniform") {
  const double t = seconds(static_cast<double>(n), static_cast<double>(nrhs), static_cast<double>(batch));
  io::Record r = example_record(method, n, {0.999 * t, t, 1.001 * t});
  r.nrhs = nrhs;
  r.batch = batch;
  r.precision = precision;
  r.matrix_kind = matrix;
  r.matrix_digest = matrix + std::to_string(n) + precision + std::to_string(batch);
  r.reference_method = "cusolver";
  r.key += "-" + precision + "-" + std::to_string(nrhs) + "-" + std::to_string(batch) + matrix;
  return r;
}

}  // namespace gaussweep::driver
