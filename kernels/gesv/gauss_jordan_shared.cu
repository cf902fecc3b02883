/// gesv/gauss_jordan_shared: Gauss-Jordan elimination with partial pivoting, by tiles in shared memory.
///
/// Source: X. Xia and J. C. Lee, "Modified CUDA Gaussian Elimination". The loop over the columns is in
/// gauss_jordan_steps.cuh. Each iteration has one thread per element. A thread block first loads the
/// multipliers of its tile's rows and the pivot row's elements in its tile's columns into shared memory.
///
/// Layout: row-major, [A | B], in a batch [A_0 A_1 … | B_0 B_1 …]; the answer replaces B. Cost: n^3 / 2
/// multiply-adds, n^3 elements read or written (both doubled if the parameter `grid` is `full`, with which
/// every iteration updates all columns). As in the paper, each column also costs one synchronous transfer to
/// the host. In a batch, one block per system finds the pivots without the host. Workspace: n elements. A
/// must be nonsingular: a column without a nonzero pivot gives info > 0 and ends the method. The residual
/// grows with the condition number of A for any choice of pivots: this method fails for Hilbert and Cauchy
/// matrices, which elimination with back substitution solves.
///
/// Error: |b - A x| <= 8 n u |L| |U| |U^-1| |U| |x| to first order in the unit roundoff u (Higham, "Accuracy
/// and Stability of Numerical Algorithms", 2nd ed., theorem 14.5).

#include "kernels/gesv/gauss_jordan_steps.cuh"
#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// Subtracts the pivot row from the other rows in one iteration. Each thread block updates one tile x tile
/// submatrix.
template <class T, int tile>
__global__ void __launch_bounds__(tile* tile) eliminate_from_shared(Elimination<T> e) {
  __shared__ T multipliers[tile];
  __shared__ T pivot_row[tile];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * tile;
  const std::int64_t i = first_row + ty;
  const std::int64_t j = e.grid_begin + static_cast<std::int64_t>(blockIdx.x) * tile + tx;
  if (ty == 0 && first_row + tx < e.a.rows) multipliers[tx] = e.multipliers[first_row + tx];
  if (ty == 1 && j < e.a.cols) pivot_row[tx] = e.a.data[e.k * e.a.ld + j];
  __syncthreads();
  if (e.updates(i, j)) e.subtract(i, j, multipliers[ty], pivot_row[tx]);
}

/// Solves one system of a batch per block. Thread 0 finds the pivots, as the host does for a single system.
/// @param full true: updates all columns (parameter `grid` = full); false: only columns right of the pivot
template <class T>
__global__ void solve_systems(MatrixView<T> a, Shape shape, bool full, int* infos) {
  const std::int64_t s = blockIdx.x, skipped_columns = columns_between_a_and_b(shape, s);
  const auto n = static_cast<int>(shape.n), columns = n + static_cast<int>(shape.nrhs);
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  T* const multipliers = simt::dynamic_shared<T>();
  T* const pivot_row = multipliers + n;
  constexpr int no_pivot = -1;
  __shared__ int pivot_index;  // the index of the pivot row, or no_pivot if column k is 0 from row k on
  const auto row = [&](int i) { return BatchRow<T>{a.data + i * a.ld + s * n, n, skipped_columns}; };
  for (int k = 0; k < n; ++k) {
    if (thread == 0) {
      int largest = k;
      for (int i = k + 1; i < n; ++i)
        largest = std::fabs(row(i)[k]) > std::fabs(row(largest)[k]) ? i : largest;
      const bool is_singular = row(largest)[k] == T(0);
      if (is_singular) infos[s] = k + 1;
      pivot_index = is_singular ? no_pivot : largest;
    }
    __syncthreads();
    // All threads test `pivot_index`, not the element: faster threads may already exchange the rows.
    if (pivot_index == no_pivot) return;
    for (int j = thread; j < columns; j += threads) {
      pivot_row[j] = row(pivot_index)[j];
      row(pivot_index)[j] = row(k)[j];
      row(k)[j] = pivot_row[j];
    }
    __syncthreads();
    for (int i = thread; i < n; i += threads) multipliers[i] = row(i)[k] / pivot_row[k];
    __syncthreads();
    const int begin = full ? 0 : k + 1, width = columns - begin;
    for (int number = thread; number < n * width; number += threads) {
      const int i = number / width, j = begin + number % width;
      T& element = row(i)[j];
      if (i != k) element = j == k ? T(0) : std::fma(-multipliers[i], pivot_row[j], element);
    }
    __syncthreads();
  }
  // Divides the right-hand sides by the diagonal.
  for (int number = thread; number < n * (columns - n); number += threads)
    row(number % n)[n + number / n] /= row(number % n)[number % n];
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
