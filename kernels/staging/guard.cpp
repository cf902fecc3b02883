/// Implements guard.hpp on the CPU and dispatches to the GPU version: negates and hides elements of operands,
/// and computes digests of answers.

#include "kernels/staging/guard.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/core/parallel_rows.hpp"

namespace gaussweep {
namespace {

/// Calls visit(line, i, j, element) for the elements of a region in memory order. `line` is the index of a
/// row or column that is contiguous in memory. In a batch of n x n matrices side by side, column j is column
/// j % n of its matrix. Several threads visit large matrices. The calling thread alone visits
/// small matrices, so that they are in its caches when it runs the method.
template <class Matrix, class Visit>
void for_region(const Matrix& matrix, const Extent& size, Region region, Visit&& visit) {
  if (region == Region::none) return;
  const bool along_row = matrix.row_stride != 1;
  const std::int64_t lines = along_row ? size.rows : size.cols, count = along_row ? size.cols : size.rows;
  const std::int64_t line_stride = along_row ? matrix.row_stride : matrix.col_stride;
  const std::int64_t element_stride = along_row ? matrix.col_stride : matrix.row_stride;
  const double bytes = static_cast<double>(lines) * static_cast<double>(count) * sizeof(*matrix.data);
  for_row_ranges(lines, bytes > large_bytes ? 0 : 1, bytes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t line = begin; line < end; ++line) {
      const IndexSpan span = guard::span_of(region, along_row ? line : line % size.rows, count, along_row);
      auto* const first = matrix.data + line * line_stride;
      for (std::int64_t k = span.begin; k < span.end; k += span.step) {
        visit(line, along_row ? line : k, along_row ? k : line, first[k * element_stride]);
      }
    }
  });
}

/// Returns the sum of value_of(i, j, element) over a region, which does not depend on the number of threads.
template <class Matrix, class ValueOf>
std::uint64_t sum_region(const Matrix& matrix, const Extent& size, Region region, ValueOf&& value_of) {
  std::vector<std::uint64_t> line_sums(static_cast<std::size_t>(std::max(size.rows, size.cols)), 0);
  for_region(matrix, size, region,
             [&](std::int64_t line, std::int64_t i, std::int64_t j, const auto& element) {
               line_sums[static_cast<std::size_t>(line)] += value_of(i, j, element);
             });
  return std::accumulate(line_sums.begin(), line_sums.end(), std::uint64_t{0});
}

}  // namespace

template <class T>
void guard_operand(Context& context, const WritableStridedView<T>& matrix, const Extent& size,
                   const OperandGuard& guard) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::guard_operand(context, matrix, size, guard);
#endif
  static_cast<void>(context);
  for_region(matrix, size, guard.negated,
             [](std::int64_t, std::int64_t, std::int64_t, T& element) { element = -element; });
  for_region(matrix, size, guard.hidden, [&](std::int64_t, std::int64_t i, std::int64_t j, T& element) {
    element = guard::poison<T>(guard.noise, i, j);
  });
}

template <class T>
std::uint64_t digest_elements(Context& context, const StridedView<T>& matrix, const Extent& size,
                              Region counted, Region negated) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::digest_elements(context, matrix, size, counted, negated);
#endif
  static_cast<void>(context);
  return sum_region(matrix, size, counted, [&](std::int64_t i, std::int64_t j, T element) {
    return guard::digest_of(element, guard::contains(negated, i, j % size.rows),
                            static_cast<unsigned long long>(i + j * size.rows));
  });
}

template <class T>
std::int64_t count_overwritten(Context& context, const StridedView<T>& matrix, const Extent& size,
                               Region hidden) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::count_overwritten(context, matrix, size, hidden);
#endif
  static_cast<void>(context);
  return static_cast<std::int64_t>(
      sum_region(matrix, size, hidden,
                 [](std::int64_t, std::int64_t, T element) { return element == element ? 1 : 0; }));
}

#define GAUSSWEEP_GUARD(T)                                                                                  \
  template void guard_operand(Context&, const WritableStridedView<T>&, const Extent&, const OperandGuard&); \
  template std::uint64_t digest_elements(Context&, const StridedView<T>&, const Extent&, Region, Region);   \
  template std::int64_t count_overwritten(Context&, const StridedView<T>&, const Extent&, Region);
GAUSSWEEP_GUARD(float)
GAUSSWEEP_GUARD(double)
#undef GAUSSWEEP_GUARD

}  // namespace gaussweep
