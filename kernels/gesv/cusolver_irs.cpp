/// gesv/cusolver_irs: LU in a lower precision with iterative refinement on the GPU, cuSOLVER's IRSXgesv.
///
/// Layout: column-major; X is a separate matrix. Takes one right-hand side, as GMRES requires. Cost: 2/3 n^3
/// operations in the precision of the parameter `lowest`, and 4 n^2 per iteration. If refinement fails, which
/// a singular matrix also causes, the method solves as gesv/cusolver does: cuSOLVER's own fallback reports no
/// info. Workspace: n pivots and cuSOLVER's buffers, which VendorHandles (the library handles of a Context)
/// owns, because only cuSOLVER on a GPU can report their sizes. The first run of a size (the warm-up)
/// allocates them. After success, Context::report has the number of iterations and the convergence
/// `converged`. After the fallback it has 0 iterations and Convergence::none.
///
/// Error: NVIDIA documents no bound. With tf32, bfloat16 or half cuSOLVER may stop early: at n = 300 with
/// tf32, the residual of a system with uniform random elements in double was 6e-6.

#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"
#include "kernels/vendor/cuda_blas.hpp"

namespace gaussweep::cuda {

template <class T>
void gesv_cusolver_irs(Context& context, Operands<T>& op, const Parameters& parameters) {
  VendorHandles& handles = vendor_handles(context);
  const std::int64_t n = op.shape.n;
  context.report = {};
  // Synchronising fails while the stream is being captured into a CUDA graph. It must fail here, because a
  // capture that reaches IRSXgesv breaks cuSOLVER's handle.
  context.device.synchronize();
  context.stage("solve");
  const int iterations =
      vendor::gesv_refined(handles, n, parameters.choice("lowest"), parameters.choice("refinement"),
                           op.a.data, op.a.ld, op.b.data, op.b.ld, op.x.data, op.x.ld, op.info);
  if (iterations >= 0) {
    context.report.iterations = iterations;
    context.report.convergence = Convergence::converged;
    return;
  }
  int* pivots = handles.pivots(n);
  context.stage("getrf");
  vendor::getrf(handles, n, n, op.a.data, op.a.ld, pivots, op.info);
  context.stage("getrs");
  context.device.copy(op.x.data, op.b.data, static_cast<std::size_t>(n) * sizeof(T));
  vendor::getrs(handles, vendor::Op::none, n, 1, op.a.data, op.a.ld, pivots, op.x.data, op.x.ld);
}

GAUSSWEEP_INSTANTIATE(gesv_cusolver_irs)

}  // namespace gaussweep::cuda
