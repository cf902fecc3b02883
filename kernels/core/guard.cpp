#include "kernels/core/guard.hpp"

#include <utility>

namespace gaussweep {
namespace {

/// Calls visit(line, index, element) for a region, along memory. One thread: the method's own, whose caches
/// then hold what it works on.
template <class Matrix, class Visit>
void for_region(const Matrix& matrix, const Extent& size, Region region, Visit&& visit) {
  const bool along_row = matrix.down != 1;
  const std::int64_t lines = along_row ? size.rows : size.cols, count = along_row ? size.cols : size.rows;
  const std::int64_t across = along_row ? matrix.down : matrix.across;
  const std::int64_t step = along_row ? matrix.across : matrix.down;
  for (std::int64_t line = 0; line < lines; ++line) {
    const IndexSpan span = guard::span_of(region, line, count, along_row);
    auto* const first = matrix.data + line * across;
    for (std::int64_t k = span.begin; k < span.end; k += span.step) {
      visit(along_row ? line : k, along_row ? k : line, first[k * step]);
    }
  }
}

}  // namespace

template <class T>
void guard_operand(Context& context, const Destination<T>& matrix, const Extent& size,
                   const OperandGuard& guard) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda) return cuda::guard_operand(context, matrix, size, guard);
#endif
  static_cast<void>(context);
  for_region(matrix, size, guard.negated, [](std::int64_t, std::int64_t, T& element) { element = -element; });
  for_region(matrix, size, guard.hidden, [&](std::int64_t i, std::int64_t j, T& element) {
    element = guard::poison<T>(guard.noise, i, j);
  });
}

template <class T>
std::uint64_t digest_elements(Context& context, const Strided<T>& matrix, const Extent& size, Region counted,
                              Region negated) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::digest_elements(context, matrix, size, counted, negated);
#endif
  static_cast<void>(context);
  unsigned long long sum = 0;
  for_region(matrix, size, counted, [&](std::int64_t i, std::int64_t j, const T& element) {
    sum += guard::digest_of(element, guard::contains(negated, i, j),
                            static_cast<unsigned long long>(i + j * size.rows));
  });
  return sum;
}

template <class T>
std::int64_t count_overwritten(Context& context, const Strided<T>& matrix, const Extent& size,
                               Region hidden) {
#ifdef GAUSSWEEP_HAS_CUDA
  if (context.device.backend() == Backend::cuda)
    return cuda::count_overwritten(context, matrix, size, hidden);
#endif
  static_cast<void>(context);
  std::int64_t count = 0;
  for_region(matrix, size, hidden,
             [&](std::int64_t, std::int64_t, const T& element) { count += element == element ? 1 : 0; });
  return count;
}

#define GAUSSWEEP_GUARD(T)                                                                            \
  template void guard_operand(Context&, const Destination<T>&, const Extent&, const OperandGuard&);   \
  template std::uint64_t digest_elements(Context&, const Strided<T>&, const Extent&, Region, Region); \
  template std::int64_t count_overwritten(Context&, const Strided<T>&, const Extent&, Region);
GAUSSWEEP_GUARD(float)
GAUSSWEEP_GUARD(double)
#undef GAUSSWEEP_GUARD

}  // namespace gaussweep
