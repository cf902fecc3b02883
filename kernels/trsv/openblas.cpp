/// trsv/openblas: the vendor reference on the CPU, OpenBLAS's xTRSV for one right-hand side and xTRSM for
/// several.
///
/// Layout: column-major; the answer replaces b. Cost: n^2 operations per right-hand side. Workspace: none.
/// BLAS does not check for zeros on the diagonal. As in LAPACK's xTRTRS, the diagonal is therefore read
/// first; the first zero gives info > 0 and leaves b unchanged.
///
/// Error: (A + E) x = b with |E| <= g |A| and g = n u / (1 - n u) (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., theorem 8.5).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/systems.hpp"

namespace gaussweep::host {

namespace {

template <class T>
void solve(Operands<T>& op) {
  using namespace vendor;
  const std::int64_t n = op.shape.n;
  for (std::int64_t k = 0; k < n; ++k) {
    if (op.a.data[k + k * op.a.ld] == T(0)) {
      *op.info = static_cast<int>(k + 1);
      return;
    }
  }
  if (op.shape.nrhs == 1) {
    trsv(op.shape.uplo, Op::none, Diagonal::stored, n, op.a.data, op.a.ld, op.b.data);
  } else {
    trsm(Side::left, op.shape.uplo, Op::none, Diagonal::stored, n, op.shape.nrhs, T(1), op.a.data, op.a.ld,
         op.b.data, op.b.ld);
  }
}

}  // namespace

template <class T>
void trsv_openblas(Context& context, Operands<T>& op, const Parameters&) {
  context.stage("trsv");
  vendor::for_systems(op, solve<T>);
}

GAUSSWEEP_INSTANTIATE(trsv_openblas)

}  // namespace gaussweep::host
