/// trsv/cublas: the vendor reference on the GPU, cuBLAS's xtrsv for one right-hand side, xtrsm for several,
/// and xtrsmBatched for batches.
///
/// Layout: column-major; the answer replaces b. Cost: n^2 operations per right-hand side. Workspace: for
/// batches, pointers to all matrices. cuBLAS does not check for zeros on the diagonal. A small kernel
/// therefore reads the diagonal first (stage "diagonal"). The first zero gives info > 0, and the answer is
/// then not finite.
///
/// Error: NVIDIA documents no bound. The algorithm has this one: (A + E) x = b with |E| <= g |A| and g = n u
/// / (1 - n u) (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., theorem 8.5).

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_batches.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void trsv_cublas(Context& context, Operands<T>& op, const Parameters&) {
  using namespace vendor;
  VendorHandles& handles = vendor_handles(context);
  const auto [m, n, k, nrhs, uplo, batch] = op.shape;
  context.stage("diagonal");
  if (batch > 1) {
    auto** const a = op.workspace.template take<T*>(batch);
    auto** const b = op.workspace.template take<T*>(batch);
    find_zero_diagonals(context, op.a, op.info, batch);
    context.stage("trsm");
    set_pointers(context, a, op.a.data, n * op.a.ld, batch);
    set_pointers(context, b, op.b.data, nrhs * op.b.ld, batch);
    return trsm_batch(handles, uplo, Op::none, n, nrhs, a, op.a.ld, b, op.b.ld, batch);
  }
  find_zero_diagonal(context, op.a, op.info);
  context.stage("trsv");
  if (nrhs == 1) {
    trsv(handles, uplo, Op::none, Diagonal::stored, n, op.a.data, op.a.ld, op.b.data);
  } else {
    trsm(handles, Side::left, uplo, Op::none, Diagonal::stored, n, nrhs, T(1), op.a.data, op.a.ld, op.b.data,
         op.b.ld);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_cublas)

}  // namespace gaussweep::cuda
