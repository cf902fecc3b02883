/// solve_wide (wide_solve.hpp): a triangular solve for many right-hand sides.
///
/// The triangle is divided into block rows of 256 rows in the order of substitution. The triangle on the
/// diagonal of each block row is copied as a unit lower triangle (in the order of substitution), with every
/// row divided by its diagonal element. The triangular kernel of getrf/recursive solves with the copies. The
/// recursion of getrf/recursive_lu.cuh turns all other work into large products, which the vendor's GEMM
/// computes.
///
/// Error: substitution has |B - op(A) X| of the order n u |A| |X| (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 8.1). In double, tiles of 8 x 8 are solved with their inverses. A
/// solution is corrected once if a column sum of the tile or of its inverse exceeds 32.

#include "kernels/trsv/wide_solve.hpp"

#include <algorithm>

#include "kernels/getrf/recursive_lu.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace wide {

constexpr int threads = 256;
/// A solution is not corrected if the column sums of the 8 x 8 tile and of its inverse are at most this.
constexpr double max_uncorrected_sum = 32;

/// Copies the 256 x 256 triangles on the diagonal to `triangles` (n x 256), with every row divided by its
/// diagonal element. `backward`: op(A) is upper triangular. Row s of `triangles` is row s of op(A), or row
/// n - 1 - s with `backward`. Sets reciprocals[i] to the reciprocal of diagonal element i. A thread block
/// copies 256 rows; gridDim.y is the number of columns. In the kernel, s and q are positions in the order of
/// substitution; i and j are indices of the matrix.
template <class T>
__global__ void __launch_bounds__(threads)
    copy_triangles(TriangleView<T> a, bool backward, T* triangles, T* reciprocals) {
  const auto s = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const auto column = static_cast<std::int64_t>(blockIdx.y);
  if (s >= a.n || column > s % lu::max_solve_rows_per_launch) return;
  const std::int64_t q = s / lu::max_solve_rows_per_launch * lu::max_solve_rows_per_launch + column;
  const std::int64_t i = backward ? a.n - 1 - s : s, j = backward ? a.n - 1 - q : q;
  const T pivot = a.diagonal == vendor::Diagonal::unit ? T(1) : a.data[i * (a.ld + 1)];
  if (s == q) {
    reciprocals[i] = T(1) / pivot;
  } else {
    const T element = a.op == vendor::Op::none ? a.data[i + j * a.ld] : a.data[j + i * a.ld];
    triangles[s + column * a.n] = element / pivot;
  }
}

}  // namespace wide

template <class T>
void solve_wide(Context& context, const TriangleView<T>& a, std::int64_t nrhs, T* b, std::int64_t ldb,
                void* workspace) {
  const std::int64_t n = a.n;
  T* const triangles = static_cast<T*>(workspace);
  T* const reciprocals = triangles + aligned_workspace_bytes(n * lu::max_solve_rows_per_launch, sizeof(T)) /
                                         static_cast<std::int64_t>(sizeof(T));
  const bool backward = (a.uplo == Uplo::lower) != (a.op == vendor::Op::none);
  const dim3 grid(static_cast<unsigned>((n + wide::threads - 1) / wide::threads),
                  static_cast<unsigned>(std::min<std::int64_t>(n, lu::max_solve_rows_per_launch)));
  simt::launch(context, wide::copy_triangles<T>, grid, dim3(wide::threads), 0, a, backward, triangles,
               reciprocals);

  // The arguments s and `before` of the following functions are positions in the order of substitution.
  const int columns = static_cast<int>(nrhs);
  const auto solve_block = [&](int s, int count) {
    if (backward) {
      const std::int64_t last = n - 1 - s;
      lu::solve_in_one_launch<lu::RowOrder::reversed>(context, triangles + s, n, count, b + last, ldb,
                                                      columns, reciprocals + last, wide::max_uncorrected_sum);
    } else {
      lu::solve_in_one_launch<lu::RowOrder::scaled>(context, triangles + s, n, count, b + s, ldb, columns,
                                                    reciprocals + s, wide::max_uncorrected_sum);
    }
  };
  const auto product = [&](int s, int count, int before, int k) {
    const std::int64_t row = backward ? n - s - count : s, column = backward ? n - before - k : before;
    const T* const factor = a.data + (a.op == vendor::Op::none ? row + column * a.ld : column + row * a.ld);
    vendor_gemm(context, a.op, vendor::Op::none, count, nrhs, k, T(-1), factor, a.ld, b + column, ldb, T(1),
                b + row, ldb);
  };
  lu::solve_by_blocks(0, static_cast<int>(n), solve_block, product);
}

template void solve_wide<float>(Context&, const TriangleView<float>&, std::int64_t, float*, std::int64_t,
                                void*);
template void solve_wide<double>(Context&, const TriangleView<double>&, std::int64_t, double*, std::int64_t,
                                 void*);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
