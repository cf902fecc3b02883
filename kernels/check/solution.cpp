// gesv and trsv: the residual of HPL, a right-hand side at a time.

#include <algorithm>
#include <type_traits>

#include "kernels/check/judges.hpp"
#include "kernels/matrix/parallel_rows.hpp"

namespace gaussweep::judges {
namespace {

/// Wider than T, so that the residual of a good answer is not made of the check's own rounding.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// b - A x of right-hand side r; of A, only the part that counts.
template <class T>
std::vector<Wide<T>> residual(Part part, const HostMatrix<T>& a, const HostMatrix<T>& x,
                              const HostMatrix<T>& b, std::int64_t r) {
  std::vector<Wide<T>> rest(static_cast<std::size_t>(a.rows));
  const double cost = 4.0 * a.rows * a.cols;
  for_row_ranges(a.rows, 0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) rest[static_cast<std::size_t>(i)] = b(i, r);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      const RowRange range = rows_of(part, a.rows, j);
      const Wide<T> factor = x(j, r);
      const std::int64_t last = std::min(end, range.end);
      for (std::int64_t i = std::max(begin, range.begin); i < last; ++i) {
        rest[static_cast<std::size_t>(i)] -= a(i, j) * factor;
      }
    }
  });
  return rest;
}

/// max |x_i| of column r.
template <class T>
double column_max(const HostMatrix<T>& x, std::int64_t r) {
  double largest = 0;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(x(i, r))));
  }
  return largest;
}

template <class T>
double forward_error(const HostMatrix<T>& x, const HostMatrix<T>& x_true) {
  double largest = 0;
  for (std::size_t k = 0; k < x.data.size(); ++k) {
    largest =
        std::max(largest, std::fabs(static_cast<double>(x.data[k]) - static_cast<double>(x_true.data[k])));
  }
  return quotient(largest, max_norm(x_true));
}

}  // namespace

template <class T>
Findings solution(Problem problem, const Inputs<T>& inputs, const Answer<T>& answer) {
  const Part part = problem == Problem::trsv ? part_of(inputs.shape.uplo) : Part::all;
  const double a_norm = infinity_norm(inputs.a, part);
  Findings findings = unknown();
  findings.backward_error = 0;
  double percent = 0;
  for (std::int64_t r = 0; r < inputs.shape.nrhs; ++r) {
    const auto rest = residual(part, inputs.a, answer.x, inputs.b, r);
    double largest = 0;
    for (const auto value : rest) {
      const double size = std::fabs(static_cast<double>(value));
      if (!(size <= largest)) largest = size;
      if (std::isnan(largest)) break;
    }
    const double scale = a_norm * column_max(answer.x, r) + column_max(inputs.b, r);
    findings.backward_error = std::max(findings.backward_error, quotient(largest, scale));
    const double b_0 = inputs.b(0, r);
    const double first = 100 * std::fabs(static_cast<double>(rest.front())) / std::fabs(b_0);
    if (!std::isnan(percent) && !(first <= percent)) percent = first;  // 0 / 0, a share of nothing: unknown
  }
  findings.ratio = findings.backward_error / (static_cast<double>(inputs.shape.n) * unit_roundoff<T>);
  if (problem == Problem::gesv) findings.first_row_percent = percent;
  if (!inputs.x_true.empty()) findings.forward_error = forward_error(answer.x, inputs.x_true);
  return findings;
}

template Findings solution<float>(Problem, const Inputs<float>&, const Answer<float>&);
template Findings solution<double>(Problem, const Inputs<double>&, const Answer<double>&);

}  // namespace gaussweep::judges
