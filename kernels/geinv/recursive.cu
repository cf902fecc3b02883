/// geinv/recursive: the inverse by LU, the inverse of L, and a solve with U for all columns at once.
///
/// LU is getrf/recursive_lu.cuh's, the inverse of L trtri/levels.cuh's, nearly all of the rest cuBLAS's
/// products. X = U^-1 L^-1 P is solved for, and not multiplied: then |A X - I| is of the size of u |L| |U|
/// |X| whatever the condition of U (J. Du Croz, N. Higham, Stability of methods for matrix inversion, IMA J.
/// Numer. Anal. 12, 1992), and so is not what X L = U^-1 leaves. L^-1, whose rows are those of U by then, is
/// needed whole, so the exchange of columns costs nothing. Layout: column-major, in place. Cost: 2 n^3
/// operations. Workspace: 27 n ints, 133 n elements and two matrices, or three where n is no multiple of 64,
/// in which products are faster. A pivot that is exactly 0 gives info > 0, and the answer is then not finite.
/// n <= 65536. Needs compute capability 9.0.

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/tables.hpp"
#include "kernels/trtri/levels.cuh"
#include "kernels/vendor/gemm_here.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// B (rows x columns) = L^-1 B with a unit lower triangle.
template <class T>
void solve(Context& context, const T* l, std::int64_t ldl, int rows, T* b, std::int64_t ldb, int columns) {
  if (rows <= lu::solve_rows) {
    context.stage("solve");
    return lu::solve_at_once(context, l, ldl, rows, b, ldb, columns);
  }
  int half = lu::solve_rows;
  while (2 * half < rows) half *= 2;
  solve(context, l, ldl, half, b, ldb, columns);
  context.stage("product");
  gemm_here(context, vendor::Op::none, vendor::Op::none, rows - half, columns, half, T(-1), l + half, ldl, b,
            ldb, T(1), b + half, ldb);
  solve(context, l + half * (ldl + 1), ldl, rows - half, b + half, ldb, columns);
}

}  // namespace

template <class T>
void geinv_recursive(Context& context, Operands<T>& op, const Parameters&) {
  const int n = static_cast<int>(op.shape.n);
  const int order = static_cast<int>(levels::whole_order(n));
  const auto matrix = static_cast<std::int64_t>(order) * order;
  const bool whole = order == n;
  auto& memory = op.workspace;
  int* const pivots = memory.template take<int>(order);
  T* const diagonal = memory.template take<T>(order);
  T* const turned = memory.template take<T>(matrix);
  T* const inverse_of_l = memory.template take<T>(matrix);
  T* const x = whole ? op.a.data : memory.template take<T>(matrix);
  const std::int64_t ld = whole ? op.a.ld : order;
  const dim3 block(inverse::threads);
  const dim3 elements(static_cast<unsigned>((order + inverse::threads - 1) / inverse::threads),
                      static_cast<unsigned>(order));

  if (!whole) inverse::continue_matrix(context, op.a.data, op.a.ld, n, x, order);
  lu::RecursiveLu<T> factors(context, x, ld, order, pivots, op.info, memory);
  factors.factor();
  levels::TriangleInverse<T>(context, {x, ld, order, true, true}, order, turned)
      .invert(inverse_of_l, order, nullptr);
  context.stage("turn");
  simt::launch(context, inverse::turn_upper<T>, elements, block, 0, x, ld, order, turned, diagonal);
  simt::launch(context, inverse::turn_inverse<T>, elements, block, 0, inverse_of_l, order, diagonal,
               factors.rows_of_all(), x, ld);
  solve(context, turned, order, order, x, ld, order);
  context.stage("turn");
  simt::launch(context, inverse::turn_back<T>, dim3(elements.x, static_cast<unsigned>(n)), block, 0, x, ld,
               order, op.a.data, op.a.ld, n);
}

GAUSSWEEP_INSTANTIATE(geinv_recursive)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
