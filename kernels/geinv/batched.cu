/// geinv/batched: the inverses of many small matrices.
///
/// Source: developed for gaussweep. All matrices are inverted by LU with partial pivoting:
/// - up to order 16 in double and 48 in float: a thread group inverts one matrix, with one row per thread in
/// registers (getrf/small_rows.cuh);
/// - larger matrices: getrf/batched overwrites A by L and U; in a second launch each warp substitutes a few
/// columns of the identity (in double factored_columns.cuh, in float getrf/factored_solve.cuh).
///
/// Error: |A X - I| is of the order n u |L| |U| |X| (u: unit roundoff; Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 14.3, method A). Intermediate results may overflow although X does
/// not. With rows in registers, a matrix whose inverse is not finite is therefore inverted again with scaled
/// rows. Otherwise each column that is not finite is computed again by substitution with scaled rows of U.
///
/// Layout: column-major, matrices contiguous. Cost: 2 n^3 operations per matrix. Memory traffic: with rows in
/// registers one read of A and one write of X; larger matrices also write L and U, and read them again.
/// Workspace: with two launches one index per row. A pivot that is exactly 0 gives info > 0, and the
/// answer is then not finite. n <= 512.

#include "kernels/geinv/factored_columns.cuh"
#include "kernels/getrf/small_factor.cuh"
#include "kernels/getrf/small_rows.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/tables.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

/// The largest number of thread blocks per multiprocessor for which invert_group spills no registers. As an
/// argument of __launch_bounds__ it also limits the registers of invert_rescaled. In double, MaxOrder is
/// above 16 only with the parameter `kernel` = rows.
template <class T, int MaxOrder>
constexpr int inverse_blocks() {
  if (sizeof(T) == 8) return MaxOrder <= 8 ? 9 : MaxOrder <= 16 ? 7 : MaxOrder <= 32 ? 4 : 6;
  return MaxOrder <= 4    ? 16
         : MaxOrder <= 8  ? 12
         : MaxOrder <= 12 ? 10
         : MaxOrder <= 16 ? 9
         : MaxOrder <= 24 ? 7
         : MaxOrder <= 32 ? 5
                          : 8;
}

template <class T, class Split>
struct SmallStorage {
  small::Padded<small::SharedStorage<T, Split>> shared[Split::systems];
  small::Padded<small::InverseStorage<T, Split>>
      upper[Split::systems];  ///< columns of U, and rows of the inverse
};

/// Inverts the matrix of the calling thread's group (small::GroupIndex). Returns true to all threads of the
/// group if the inverse is not finite, so that invert_rescaled must invert the matrix again.
/// @tparam Rescales true: scales the rows first, for the second attempt
/// @param wanted false: computes with the other threads, but stores nothing
template <class T, class Split, bool Rescales>
__device__ __forceinline__ bool invert_group(SmallStorage<T, Split>& storage, std::int64_t count, int n,
                                             const T* a, T* x, int* info, bool wanted) {
  const small::GroupIndex<Split> index;
  const bool inside = index.system < count;
  small::ThreadRow<T, Split> rows(storage.shared[index.in_block], index.thread);
  small::InverseStorage<T, Split>& upper = storage.upper[index.in_block];
  const std::int64_t first = index.system * n * n;
  rows.load({inside ? a + first : nullptr, /*ld=*/n, n});
  const T scale = Rescales ? rows.rescale(wanted) : T(1);
  const int pivot_info = rows.invert(upper, n);
  const bool must_repeat = !Rescales && rows.needs_rescaling(upper, pivot_info);
  if (Rescales) rows.unscale_inverse(upper, scale);
  rows.store_inverse({inside && wanted ? x + first : nullptr, /*ld=*/n, n});
  if (inside && wanted && index.thread == 0) info[index.system] = pivot_info;
  return must_repeat;
}
/// Inverts the thread group's matrix again if `wanted`. Not inlined, so that its registers do not add to
/// those of the first attempt.
template <class T, class Split>
__device__ GAUSSWEEP_NOINLINE void invert_rescaled(SmallStorage<T, Split>& storage, std::int64_t count, int n,
                                                   const T* a, T* x, int* info, bool wanted) {
  invert_group<T, Split, /*Rescales=*/true>(storage, count, n, a, x, info, wanted);
}

/// Inverts Split::systems matrices per block; inverts a matrix again with scaled rows if necessary.
template <class T, class Split>
__global__ void __launch_bounds__(Split::threads, (inverse_blocks<T, Split::max_order>()))
    invert_small(std::int64_t count, int n, const T* a, T* x, int* info) {
  __shared__ SmallStorage<T, Split> storage;
  const bool must_repeat =
      invert_group<T, Split, /*Rescales=*/false>(storage, count, n, a, x, info, /*wanted=*/true);
  // True for all threads that share barriers with a thread whose matrix must be inverted again.
  if (small::ThreadRow<T, Split>::any_that_synchronizes(must_repeat))
    invert_rescaled<T, Split>(storage, count, n, a, x, info, must_repeat);
}

/// Computes LU and then the columns of the inverse.
template <class T>
void invert_by_columns(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  int* const pivot_rows = op.workspace.template take<int>(shape.n * shape.batch);
  small::factor(context, op, {/*pivots=*/nullptr, pivot_rows}, parameters);
  context.stage("invert");
  factored::Batch<T> batch = factored::batch_of(op, pivot_rows);
  if constexpr (sizeof(T) == 8) {
    columns::launch(context, batch);
  } else {
    batch.nrhs = batch.n;
    batch.b = nullptr;
    factored::solve</*Symmetric=*/false>(context, batch);
  }
}

}  // namespace

template <class T>
void geinv_batched(Context& context, Operands<T>& op, const Parameters& parameters) {
  const Shape& shape = op.shape;
  if (batched::inverts_by_columns(shape.n, parameters, sizeof(T)))
    return invert_by_columns(context, op, parameters);
  context.stage("invert");
  small::with_work_split<T, /*Columns=*/1, /*Symmetric=*/false, batched::max_inverse_order>(
      shape.n, [&](auto split) {
        using Split = decltype(split);
        simt::launch(context, invert_small<T, Split>, small::blocks_for<Split>(shape.batch),
                     dim3(Split::threads), 0, shape.batch, static_cast<int>(shape.n), op.a.data, op.x.data,
                     op.info);
      });
}

GAUSSWEEP_INSTANTIATE(geinv_batched)

}  // namespace gaussweep::GAUSSWEEP_BACKEND
