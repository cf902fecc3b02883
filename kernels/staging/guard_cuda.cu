// Implements guard.hpp on a GPU. A thread block processes one line (row or column) of the matrix at a time,
// and neighbouring threads access neighbouring elements.
#include <algorithm>

#include "kernels/device/scratch.hpp"
#include "kernels/simt/simt.hpp"
#include "kernels/staging/guard.hpp"

namespace gaussweep::cuda {
namespace {

constexpr int threads = 256;
constexpr std::int64_t max_blocks = 4096;  // enough for any GPU; blocks loop over the remaining lines

/// A matrix as `lines` lines (rows or columns) of `count` elements that are contiguous in memory. The matrix
/// has `rows` rows. In a batch of n x n matrices side by side, column j is column j % rows of its matrix.
template <class Element>
struct MatrixLines {
  Element* data;
  bool along_row;  ///< true: the lines are rows; false: columns
  std::int64_t lines, count, line_stride, element_stride, rows;
};

/// Returns the columns of a column-major matrix, or the rows of a matrix in another layout.
template <class Element, class Matrix>
MatrixLines<Element> lines_of(const Matrix& matrix, const Extent& size) {
  if (matrix.row_stride == 1)
    return {matrix.data,
            /*along_row=*/false,
            /*lines=*/size.cols,
            /*count=*/size.rows,
            /*line_stride=*/matrix.col_stride,
            /*element_stride=*/1,
            size.rows};
  return {matrix.data,
          /*along_row=*/true,
          /*lines=*/size.rows,
          /*count=*/size.cols,
          /*line_stride=*/matrix.row_stride,
          /*element_stride=*/matrix.col_stride,
          size.rows};
}

/// Calls visit(i, j, element) for this thread's elements of a region.
template <class Element, class Visit>
__device__ void for_thread_elements(const MatrixLines<Element>& m, Region region, Visit&& visit) {
  for (std::int64_t line = blockIdx.x; line < m.lines; line += gridDim.x) {
    const IndexSpan span = guard::span_of(region, m.along_row ? line : line % m.rows, m.count, m.along_row);
    for (std::int64_t k = span.begin + static_cast<std::int64_t>(threadIdx.x) * span.step; k < span.end;
         k += threads * span.step) {
      visit(m.along_row ? line : k, m.along_row ? k : line,
            m.data[line * m.line_stride + k * m.element_stride]);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(threads) guard_kernel(MatrixLines<T> matrix, OperandGuard guard) {
  for_thread_elements(matrix, guard.negated, [&](std::int64_t i, std::int64_t j, T& element) {
    // No element may be in both loops, because different threads may write it.
    if (!guard::contains(guard.hidden, i, j % matrix.rows)) element = -element;
  });
  for_thread_elements(matrix, guard.hidden, [&](std::int64_t i, std::int64_t j, T& element) {
    element = guard::poison<T>(guard.noise, i, j);
  });
}

template <class T>
__global__ void __launch_bounds__(threads) digest_elements_kernel(MatrixLines<const T> matrix, Region counted,
                                                                  Region negated, unsigned long long* sum) {
  unsigned long long thread_sum = 0;
  for_thread_elements(matrix, counted, [&](std::int64_t i, std::int64_t j, const T& element) {
    thread_sum += guard::digest_of(element, guard::contains(negated, i, j % matrix.rows),
                                   static_cast<unsigned long long>(i + j * matrix.rows));
  });
  if (thread_sum != 0) atomicAdd(sum, thread_sum);
}

template <class T>
__global__ void __launch_bounds__(threads)
    count_overwritten_kernel(MatrixLines<const T> matrix, Region hidden, unsigned long long* sum) {
  unsigned long long thread_sum = 0;
  for_thread_elements(matrix, hidden, [&](std::int64_t, std::int64_t, const T& element) {
    thread_sum += element == element ? 1 : 0;
  });
  if (thread_sum != 0) atomicAdd(sum, thread_sum);
}

dim3 blocks_for(std::int64_t lines) {
  return dim3(static_cast<unsigned>(std::max<std::int64_t>(1, std::min(lines, max_blocks))));
}

/// Calls launch(sum), where `sum` is a device counter with the value 0, and returns its final value.
template <class Launch>
unsigned long long summed(Context& context, Launch&& launch) {
  const Scratch::PooledBuffer piece = scratch_of(context).take(sizeof(unsigned long long));
  const auto sum = piece.as<unsigned long long>();
  context.device.fill(sum, /*byte=*/0, sizeof *sum);
  launch(sum);
  unsigned long long result = 0;
  context.device.to_host(&result, sum, sizeof result);
  return result;
}

}  // namespace

template <class T>
void guard_operand(Context& context, const WritableStridedView<T>& matrix, const Extent& size,
                   const OperandGuard& guard) {
  const auto lines = lines_of<T>(matrix, size);
  simt::launch(context, guard_kernel<T>, blocks_for(lines.lines), dim3(threads), 0, lines, guard);
}

template <class T>
std::uint64_t digest_elements(Context& context, const StridedView<T>& matrix, const Extent& size,
                              Region counted, Region negated) {
  const auto lines = lines_of<const T>(matrix, size);
  return summed(context, [&](unsigned long long* sum) {
    simt::launch(context, digest_elements_kernel<T>, blocks_for(lines.lines), dim3(threads), 0, lines,
                 counted, negated, sum);
  });
}

template <class T>
std::int64_t count_overwritten(Context& context, const StridedView<T>& matrix, const Extent& size,
                               Region hidden) {
  const auto lines = lines_of<const T>(matrix, size);
  return static_cast<std::int64_t>(summed(context, [&](unsigned long long* sum) {
    simt::launch(context, count_overwritten_kernel<T>, blocks_for(lines.lines), dim3(threads), 0, lines,
                 hidden, sum);
  }));
}

#define GAUSSWEEP_GUARD(T)                                                                                  \
  template void guard_operand(Context&, const WritableStridedView<T>&, const Extent&, const OperandGuard&); \
  template std::uint64_t digest_elements(Context&, const StridedView<T>&, const Extent&, Region, Region);   \
  template std::int64_t count_overwritten(Context&, const StridedView<T>&, const Extent&, Region);
GAUSSWEEP_GUARD(float)
GAUSSWEEP_GUARD(double)
#undef GAUSSWEEP_GUARD

}  // namespace gaussweep::cuda
