#include "driver/plan/demand.hpp"

#include "io/matrix/matrix_file.hpp"
#include "kernels/core/staging.hpp"

namespace gaussweep::driver {

double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters) {
  return method.flops != nullptr ? method.flops(shape, parameters) : problem_flops(method.problem, shape);
}

double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision) {
  const std::size_t element = element_bytes(precision);
  return method.bytes != nullptr ? method.bytes(shape, parameters, element)
                                 : problem_bytes(method.problem, shape, element);
}

Footprint footprint(const Method& method, const Trial& trial) {
  const std::size_t element = element_bytes(trial.precision);
  const int copies = method.overwrites ? static_cast<int>(trial.inner_repeats) : 1;
  const auto staged =
      static_cast<double>(staging_bytes(method, trial.shape, trial.parameters, element, copies));
  const double operands = problem_bytes(trial.problem, trial.shape, element);
  Footprint result;
  // inputs, the answer, the reference's answer, and a converted copy while verifying
  result.host_bytes = 4 * operands;
  (trial.backend == Backend::cuda ? result.device_bytes : result.host_bytes) += staged;
  return result;
}

double stored_bytes(const MatrixRequest& request, const Trial& trial) {
  const std::int64_t rows = request.spec.rows, cols = request.spec.cols;
  return static_cast<double>(io::MatrixStore::estimated_bytes(rows, cols, rows == cols ? trial.shape.nrhs : 0,
                                                              element_bytes(trial.precision)));
}

Fit fit_of(double need, double free, double total) {
  if (need <= free) return Fit::fits;
  return need <= 0.9 * total ? Fit::not_now : Fit::never;
}

}  // namespace gaussweep::driver
