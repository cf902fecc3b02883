/// gesv/gauss_serial: Gaussian elimination without pivoting on one CPU core.
///
/// F. Fuhrmann, TU Wien 2017, algorithms 4.1 and 4.2, meant right: row k is divided by its diagonal element,
/// and a multiple of it is subtracted from every row below, over all columns; a row whose factor is 0 is
/// skipped. Then back substitution row by row from the last. Xia and Lee's "traditional" serial code is the
/// same elimination.
///
/// Cost: n^3 multiply-adds. Workspace: none. Needs a strongly regular matrix: a leading minor that is 0 gives
/// info > 0, a small one an inaccurate answer.

#include <cmath>
#include <cstdint>

#include "kernels/core/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {
namespace {

/// target[j] -= factor * row[j] as one fma each, for all columns.
template <class T>
using Subtract = void (*)(T* target, const T* row, T factor, std::int64_t columns);

template <class T>
void subtract_anywhere(T* target, const T* row, T factor, std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) target[j] = std::fma(-factor, row[j], target[j]);
}

// Without the processor's own instruction every fma is a call: the same bits, ten times slower.
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
__attribute__((target("avx2,fma"))) void subtract_avx2(T* target, const T* row, T factor,
                                                       std::int64_t columns) {
  for (std::int64_t j = 0; j < columns; ++j) target[j] = std::fma(-factor, row[j], target[j]);
}

template <class T>
Subtract<T> best_subtract() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? subtract_avx2<T>
                                                                         : subtract_anywhere<T>;
}
#else
template <class T>
Subtract<T> best_subtract() {
  return subtract_anywhere<T>;
}
#endif

}  // namespace

template <class T>
void gesv_gauss_serial(Context& context, Operands<T>& op, const Parameters&) {
  const std::int64_t n = op.shape.n;
  const std::int64_t columns = op.a.cols;
  const Subtract<T> subtract = best_subtract<T>();
  context.stage("eliminate");
  for (std::int64_t k = 0; k < n; ++k) {
    T* pivot_row = op.a.data + k * op.a.ld;
    const T divisor = pivot_row[k];
    if (divisor == T(0)) {
      *op.info = static_cast<int>(k + 1);
      return;
    }
    for (std::int64_t j = 0; j < columns; ++j) pivot_row[j] /= divisor;
    for (std::int64_t y = k + 1; y < n; ++y) {
      T* row = op.a.data + y * op.a.ld;
      const T factor = row[k];
      if (factor == T(0)) continue;
      subtract(row, pivot_row, factor, columns);
    }
  }
  context.stage("back_substitute");
  for (std::int64_t r = 0; r < op.shape.nrhs; ++r) {
    T* solution = op.x.data + r * op.x.ld;
    for (std::int64_t y = n - 1; y >= 0; --y) {
      const T* row = op.a.data + y * op.a.ld;
      T rest = row[n + r];
      for (std::int64_t j = n - 1; j > y; --j) rest = std::fma(-row[j], solution[j], rest);
      solution[y] = rest;
    }
  }
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_serial)

}  // namespace gaussweep::host
