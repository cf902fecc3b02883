#include "driver/plan/demand.hpp"

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

double trial_flops(const Method& method, const Shape& shape, const Parameters& parameters) {
  if (method.flops == nullptr) return problem_flops(method.problem, shape);
  return method.flops(shape, parameters) * static_cast<double>(shape.batch);
}

double trial_bytes(const Method& method, const Shape& shape, const Parameters& parameters,
                   Precision precision) {
  const std::size_t element = element_bytes(precision);
  if (method.bytes == nullptr) return problem_bytes(method.problem, shape, element);
  return method.bytes(shape, parameters, element) * static_cast<double>(shape.batch);
}

double stored_bytes(const MatrixRequest& request, const Trial& trial) {
  const std::int64_t rows = request.spec.rows, cols = request.spec.cols, batch = request.spec.batch;
  return static_cast<double>(io::MatrixStore::estimated_bytes(rows, cols, rows == cols ? trial.shape.nrhs : 0,
                                                              element_bytes(trial.precision), batch));
}

}  // namespace gaussweep::driver
