/// trmm/halved: half of the product, which is wrong; the verification must see it.
/// Layout: column-major, in place. Cost: as trmm/openblas. Workspace: none.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/blas.hpp"

namespace gaussweep::host {

template <class T>
void trmm_halved(Context& context, Operands<T>& op, const Parameters&) {
  using namespace vendor;
  context.stage("trmm");
  trmm(Side::left, op.shape.uplo, Op::none, Diagonal::stored, op.shape.n, op.shape.nrhs, T(0.5), op.a.data,
       op.a.ld, op.b.data, op.b.ld);
}

GAUSSWEEP_INSTANTIATE(trmm_halved)

}  // namespace gaussweep::host
