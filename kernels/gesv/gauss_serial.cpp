/// gesv/gauss_serial: Gaussian elimination on one CPU core, without pivoting or with partial pivoting.
///
/// F. Fuhrmann, TU Wien 2017, algorithms 4.1 and 4.2, meant right: row k is divided by its diagonal element,
/// and a multiple of it is subtracted from every row below, over all columns; a row whose factor is 0 is
/// skipped. Then back substitution row by row from the last. With `pivoting` partial, which is not the
/// paper's, the row with the largest element in column k is exchanged for row k first
/// (gesv/gauss_pivot_serial is the elimination that does without the columns that are done).
///
/// Layout: [A | B] in rows, used up; the answer is a matrix of its own, in columns. Cost: n^3 / 2
/// multiply-adds (the paper's choice to subtract over all columns from 0). Workspace: none. Without pivoting
/// it needs a strongly regular matrix: a leading minor that is 0 gives info > 0, a small one an inaccurate
/// answer. With pivoting, only a singular matrix gives info > 0.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/gemm/fma_loops.hpp"
#include "kernels/gesv/pivot_search.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::host {

template <class T>
void gesv_gauss_serial(Context& context, Operands<T>& op, const Parameters& parameters) {
  const std::int64_t n = op.shape.n;
  const std::int64_t columns = op.a.cols;
  const bool pivoting = parameters.choice("pivoting") == "partial";
  const FmaLoops<T> loops = fma_loops<T>();
  context.stage("eliminate");
  for (std::int64_t k = 0; k < n; ++k) {
    T* pivot_row = op.a.data + k * op.a.ld;
    if (pivoting) {
      const std::int64_t below = find_pivot(pivot_row + k, op.a.ld, n - k);
      if (below > 0) std::swap_ranges(pivot_row, pivot_row + columns, pivot_row + below * op.a.ld);
    }
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
      loops.subtract_multiple(row, pivot_row, factor, columns);
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
