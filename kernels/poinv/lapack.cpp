/// poinv/lapack: the inverse of a symmetric positive definite matrix on the CPU, by OpenBLAS's implementation
/// of LAPACK's xPOTRF and xPOTRI, on all cores available to the process; then the other triangle is filled.
///
/// Layout: column-major; the lower triangle of A is read, and the inverse overwrites A. Cost: n^3 operations.
/// Workspace: OpenBLAS's own. A pivot that is not positive gives info > 0, and A then holds an unfinished
/// factor.
///
/// Error: |A X - I| is of the order n u |L| |L^T| |X| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 14.3).

#include <algorithm>

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {
namespace {

/// Copies the lower triangle to the upper one, tile by tile, so that both sides stay in cache.
template <class T>
void mirror_lower(MatrixView<T> a) {
  constexpr std::int64_t tile = 32;
  for (std::int64_t j0 = 0; j0 < a.cols; j0 += tile) {
    for (std::int64_t i0 = j0; i0 < a.rows; i0 += tile) {
      const std::int64_t i1 = std::min(i0 + tile, a.rows);
      for (std::int64_t j = j0; j < std::min(j0 + tile, a.cols); ++j) {
        for (std::int64_t i = std::max(i0, j + 1); i < i1; ++i) a.data[j + i * a.ld] = a.data[i + j * a.ld];
      }
    }
  }
}

}  // namespace

template <class T>
void poinv_lapack(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("potrf");
  *op.info = vendor::potrf(Uplo::lower, op.shape.n, op.a.data, op.a.ld);
  if (*op.info != 0) return;
  context.stage("potri");
  *op.info = vendor::potri(Uplo::lower, op.shape.n, op.a.data, op.a.ld);
  context.stage("mirror");
  mirror_lower(op.a);
}

GAUSSWEEP_INSTANTIATE(poinv_lapack)

}  // namespace gaussweep::host
