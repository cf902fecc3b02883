// Generates matrices with one thread per element, in memory order. The matrices of a batch are stored side by
// side and have different seeds.
#include "kernels/matrix/generate_kernel.hpp"

#include <algorithm>

#include "kernels/matrix/element.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Generates `a`, which begins at column `first_column` of the batch. Column j of the batch is column j %
/// cols of system j / cols.
template <class T>
__global__ void fill_kernel(ElementSpec spec, MatrixView<T> a, std::int64_t first_column) {
  const std::int64_t count = a.rows * a.cols;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  // A grid-stride loop; k counts the elements in column-major order, without padding.
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < count;
       k += step) {
    const std::int64_t i = k % a.rows;
    const std::int64_t local_column = k / a.rows, batch_column = first_column + local_column;
    ElementSpec system_spec = spec;
    system_spec.seed = seed_of_system(spec.seed, batch_column / spec.cols);
    a.data[i + local_column * a.ld] = element<T>(system_spec, i, batch_column % spec.cols);
  }
}

}  // namespace

template <class T>
void fill_matrix(Context& context, const ElementSpec& spec, MatrixView<T> a, std::int64_t first_column) {
  constexpr int threads = 128;
  // 4096 blocks are enough for any GPU; the kernel loops over the remaining elements.
  constexpr std::int64_t max_blocks = 4096;
  const std::int64_t blocks = std::min((a.rows * a.cols + threads - 1) / threads, max_blocks);
  simt::launch(context, fill_kernel<T>, dim3(static_cast<unsigned>(blocks)), dim3(threads), 0, spec, a,
               first_column);
}

template void fill_matrix<float>(Context&, const ElementSpec&, MatrixView<float>, std::int64_t);
template void fill_matrix<double>(Context&, const ElementSpec&, MatrixView<double>, std::int64_t);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
