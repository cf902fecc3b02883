/// gesv/gauss_jordan_shared: Gauss-Jordan elimination with partial pivoting, by tiles in shared memory.
///
/// X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination": gauss_jordan_steps.cuh has the iteration over
/// the columns. Each iteration has one thread per element. A block first loads the multipliers of its tile's
/// rows and the pivot row's elements in its tile's columns into shared memory.
///
/// Layout: [A | B] row-major; the answer replaces B. Cost: n^3 / 2 multiply-adds, n^3 elements read or
/// written (both doubled if the parameter `grid` is `full`). As in the paper, each column also costs one
/// synchronous transfer to the host. In a batch, one block per system finds the pivots without the host.
/// Workspace: n elements. A must be nonsingular: a column without a nonzero pivot gives info > 0 and ends the
/// method. The residual grows with the condition number of A for any choice of pivots: this method fails for
/// Hilbert and Cauchy matrices, which elimination with back substitution solves.
///
/// Error: |b - A x| <= 8 n u |L| |U| |U^-1| |U| |x| to first order in u (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 14.5).

#include "kernels/gesv/gauss_jordan_steps.cuh"
#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Runs one iteration of one system, with one tile x tile block per tile.
template <class T, int tile>
__global__ void __launch_bounds__(tile* tile) eliminate_from_shared(Elimination<T> e) {
  __shared__ T multipliers[tile];
  __shared__ T pivot_row[tile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * tile;
  const std::int64_t j = first_row + ty;
  const std::int64_t c = e.first + static_cast<std::int64_t>(blockIdx.x) * tile + tx;
  if (ty == 0 && first_row + tx < e.a.rows) multipliers[tx] = e.multipliers[first_row + tx];
  if (ty == 1 && c < e.a.cols) pivot_row[tx] = e.a.data[e.i * e.a.ld + c];
  __syncthreads();
  if (e.updates(j, c)) e.subtract(j, c, multipliers[ty], pivot_row[tx]);
}

/// Solves one system of a batch per block. Thread 0 finds the pivots, as the host does for a single system.
/// @param full updates all columns, as with the parameter `grid`: full
template <class T>
__global__ void solve_systems(MatrixView<T> a, Shape shape, bool full, int* infos) {
  const std::int64_t s = blockIdx.x, gap = columns_between_a_and_b(shape, s);
  const auto n = static_cast<int>(shape.n), columns = n + static_cast<int>(shape.nrhs);
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  T* const multipliers = simt::dynamic_shared<T>();
  T* const pivot_row = multipliers + n;
  constexpr int no_pivot = -1;
  __shared__ int pivot;  ///< the pivot row, or no_pivot if column i is 0 from row i on
  const auto row = [&](int i) { return BatchRow<T>{a.data + i * a.ld + s * n, n, gap}; };
  for (int i = 0; i < n; ++i) {
    if (thread == 0) {
      int largest = i;
      for (int j = i + 1; j < n; ++j)
        largest = std::fabs(row(j)[i]) > std::fabs(row(largest)[i]) ? j : largest;
      const bool is_singular = row(largest)[i] == T(0);
      if (is_singular) infos[s] = i + 1;
      pivot = is_singular ? no_pivot : largest;
    }
    __syncthreads();
    // All threads test `pivot`, not the element: faster threads may already exchange the rows.
    if (pivot == no_pivot) return;
    for (int c = thread; c < columns; c += threads) {
      pivot_row[c] = row(pivot)[c];
      row(pivot)[c] = row(i)[c];
      row(i)[c] = pivot_row[c];
    }
    __syncthreads();
    for (int j = thread; j < n; j += threads) multipliers[j] = row(j)[i] / pivot_row[i];
    __syncthreads();
    const int begin = full ? 0 : i + 1, width = columns - begin;
    for (int e = thread; e < n * width; e += threads) {
      const int j = e / width, c = begin + e % width;
      T& element = row(j)[c];
      if (j != i) element = c == i ? T(0) : std::fma(-multipliers[j], pivot_row[c], element);
    }
    __syncthreads();
  }
  for (int e = thread; e < n * (columns - n); e += threads) row(e % n)[n + e / n] /= row(e % n)[e % n];
}

}  // namespace

template <class T>
void gesv_gauss_jordan_shared(Context& context, Operands<T>& op, const Parameters& parameters) {
  if (op.shape.batch > 1) {
    const unsigned tile = parameters.choice("tile") == "32" ? 32 : 16;
    context.stage("eliminate");
    simt::launch(context, solve_systems<T>, dim3(static_cast<unsigned>(op.shape.batch)), dim3(tile * tile),
                 static_cast<std::size_t>(2 * op.shape.n + op.shape.nrhs) * sizeof(T), op.a, op.shape,
                 parameters.choice("grid") == "full", op.info);
  } else if (parameters.choice("tile") == "32") {
    gauss_jordan<T>(context, op, parameters, eliminate_from_shared<T, 32>, 32);
  } else {
    gauss_jordan<T>(context, op, parameters, eliminate_from_shared<T, 16>, 16);
  }
}

GAUSSWEEP_INSTANTIATE(gesv_gauss_jordan_shared)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
