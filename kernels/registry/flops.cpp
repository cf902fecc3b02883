/// Operation counts that several problems share.

#include "kernels/registry/flops.hpp"

namespace gaussweep {
namespace {

double order(const Shape& shape) {
  return static_cast<double>(shape.n);
}

}  // namespace

double lu_flops(const Shape& shape) {
  const double n = order(shape);
  const double n2 = n * n;
  const double n3 = n2 * n;
  return 2.0 / 3.0 * n3 - 0.5 * n2 + 5.0 / 6.0 * n;
}

double lu_solve_flops(const Shape& shape) {
  const double n = order(shape);
  return static_cast<double>(shape.nrhs) * (2.0 * (n * n) - n);
}

double lu_inverse_flops(const Shape& shape) {
  const double n = order(shape);
  const double n2 = n * n;
  const double n3 = n2 * n;
  return 4.0 / 3.0 * n3 - n2 + 5.0 / 3.0 * n;
}

double cholesky_flops(const Shape& shape) {
  const double n = order(shape);
  const double n2 = n * n;
  const double n3 = n2 * n;
  return n3 / 3.0 + 0.5 * n2 + n / 6.0;
}

double cholesky_inverse_flops(const Shape& shape) {
  const double n = order(shape);
  const double n2 = n * n;
  const double n3 = n2 * n;
  return 2.0 / 3.0 * n3 + 0.5 * n2 + 5.0 / 6.0 * n;
}

double square_elements(const Shape& shape) {
  return order(shape) * order(shape);
}

double triangle_elements(const Shape& shape) {
  return 0.5 * order(shape) * (order(shape) + 1.0);
}

double columns_elements(const Shape& shape) {
  return order(shape) * static_cast<double>(shape.nrhs);
}

}  // namespace gaussweep
