/// trsv/cublas: the GPU's vendor row, cuBLAS's xtrsv for one right-hand side and xtrsm for several.
///
/// Layout: column-major; the answer replaces b. Cost: n^2 operations a right-hand side. Workspace: none.
/// Needs a triangular matrix without a 0 on the diagonal: cuBLAS does not look for one, so a small kernel
/// reads the diagonal first (stage "diagonal"); the first 0 gives info > 0, and the answer is then not
/// finite.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"
#include "kernels/vendor/fixups.hpp"

namespace gaussweep::cuda {

template <class T>
void trsv_cublas(Context& context, Operands<T>& op, const Parameters&) {
  using namespace vendor;
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n;
  context.stage("diagonal");
  find_zero_diagonal(context, op.a, op.info);
  context.stage("trsv");
  if (op.shape.nrhs == 1) {
    trsv(handles, op.shape.uplo, Op::none, Diagonal::stored, n, op.a.data, op.a.ld, op.b.data);
  } else {
    trsm(handles, Side::left, op.shape.uplo, Op::none, Diagonal::stored, n, op.shape.nrhs, T(1), op.a.data,
         op.a.ld, op.b.data, op.b.ld);
  }
}

GAUSSWEEP_INSTANTIATE(trsv_cublas)

}  // namespace gaussweep::cuda
