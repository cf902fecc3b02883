#include "kernels/core/method.hpp"

namespace gaussweep {

// Multiplications and additions (a division counts as a multiplication) of LAPACK Working Note 41, appendix
// C.
double problem_flops(Problem problem, const Shape& shape) {
  const auto n = static_cast<double>(shape.n);
  const auto nrhs = static_cast<double>(shape.nrhs);
  const double n2 = n * n;
  const double n3 = n2 * n;
  const double getrf = 2.0 / 3.0 * n3 - 0.5 * n2 + 5.0 / 6.0 * n;
  const double getrs = nrhs * (2.0 * n2 - n);
  const double getri = 4.0 / 3.0 * n3 - n2 + 5.0 / 3.0 * n;
  const double potrf = n3 / 3.0 + 0.5 * n2 + n / 6.0;
  const double potri = 2.0 / 3.0 * n3 + 0.5 * n2 + 5.0 / 6.0 * n;
  switch (problem) {
    case Problem::gemm:
      return 2.0 * static_cast<double>(shape.m) * n * static_cast<double>(shape.k);
    case Problem::trsv:
      return nrhs * n2;
    case Problem::gesv:
      return getrf + getrs;
    case Problem::getrf:
      return getrf;
    case Problem::potrf:
      return potrf;
    case Problem::trtri:
      return n3 / 3.0 + 2.0 / 3.0 * n;
    case Problem::geinv:
      return getrf + getri;
    case Problem::poinv:
      return potrf + potri;
  }
  return 0;
}

double problem_bytes(Problem problem, const Shape& shape, std::size_t element) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const double vectors = 2.0 * n * static_cast<double>(shape.nrhs);  // b read, x written
  const double triangle = 0.5 * n * (n + 1.0);
  const auto size = static_cast<double>(element);
  switch (problem) {
    case Problem::gemm:
      return size * (m * k + k * n + m * n);
    case Problem::trsv:
      return size * (triangle + vectors);
    case Problem::gesv:
      return size * (n * n + vectors);
    case Problem::potrf:
    case Problem::trtri:
      return size * 2.0 * triangle;
    case Problem::getrf:
    case Problem::geinv:
    case Problem::poinv:
      return size * 2.0 * n * n;
  }
  return 0;
}

}  // namespace gaussweep
