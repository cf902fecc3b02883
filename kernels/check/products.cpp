// gemm, trtri, geinv and poinv: a product in double beside what it should be.

#include "kernels/check/judges.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::judges {

template <class T>
Findings inverse(Problem problem, const Inputs<T>& inputs, const Answer<T>& answer) {
  using namespace vendor;
  const std::int64_t n = inputs.shape.n;
  const bool triangular = problem == Problem::trtri;
  const Part part = triangular ? part_of(inputs.shape.uplo) : Part::all;
  const auto& a = as_double(inputs.a);
  HostMatrix<double> rest(n, n);  // A X, then I - A X
  if (triangular) {
    for (std::int64_t j = 0; j < n; ++j) {
      const RowRange range = rows_of(part, n, j);
      for (std::int64_t i = range.begin; i < range.end; ++i) rest(i, j) = answer.x(i, j);
    }
    trmm(Side::left, inputs.shape.uplo, Op::none, Diagonal::stored, n, n, 1.0, a.data.data(), n,
         rest.data.data(), n);
  } else {
    const auto& x = as_double(answer.x);
    gemm(Op::none, Op::none, n, n, n, 1.0, a.data.data(), n, x.data.data(), n, 0.0, rest.data.data(), n);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) rest(i, j) = (i == j ? 1 : 0) - rest(i, j);
  }
  Findings findings = unknown();
  findings.backward_error = quotient(one_norm(rest), one_norm(inputs.a, part) * one_norm(answer.x, part));
  findings.ratio = findings.backward_error / (static_cast<double>(n) * unit_roundoff<T>);
  return findings;
}

template <class T>
Findings product(const Inputs<T>& inputs, const Answer<T>& answer) {
  using namespace vendor;
  const Shape& s = inputs.shape;
  const auto& a = as_double(inputs.a);
  const auto& b = as_double(inputs.b);
  HostMatrix<double> rest = as_double(answer.x);  // C, then C - A B
  gemm(Op::none, Op::none, s.m, s.n, s.k, -1.0, a.data.data(), s.m, b.data.data(), s.k, 1.0, rest.data.data(),
       s.m);
  Findings findings = unknown();
  findings.backward_error =
      quotient(frobenius_norm(rest), frobenius_norm(inputs.a) * frobenius_norm(inputs.b));
  findings.ratio = findings.backward_error / (std::sqrt(static_cast<double>(s.k) + 2) * unit_roundoff<T>);
  return findings;
}

template Findings inverse<float>(Problem, const Inputs<float>&, const Answer<float>&);
template Findings inverse<double>(Problem, const Inputs<double>&, const Answer<double>&);
template Findings product<float>(const Inputs<float>&, const Answer<float>&);
template Findings product<double>(const Inputs<double>&, const Answer<double>&);

}  // namespace gaussweep::judges
