#pragma once
/// Inverts a general matrix for geinv/recursive, geinv/halves and geinv/residues. Computes P A = L U, then X
/// = U^-1 L^-1, then A^-1 = X P by exchanging columns of X.

#include <type_traits>

#include "kernels/geinv/recursive_steps.cuh"
#include "kernels/geinv/recursive_workspace.hpp"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/trtri/levels.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

/// Replaces op.a by its inverse. op.workspace has geinv_recursive_workspace() bytes.
/// @tparam Products a class that computes large products instead of the vendor's GEMM
/// (getrf/lu_products.cuh), or NoProducts
/// @param products the object that computes large products; null with NoProducts
template <class T, class Products>
void invert(Context& context, Operands<T>& op, Products* products) {
  const int n = static_cast<int>(op.shape.n);
  // The order of A padded with an identity: columns of such an order are aligned, which makes products
  // faster.
  const int order = static_cast<int>(levels::padded_order(n));
  const auto matrix = static_cast<std::int64_t>(order) * order;
  auto& memory = op.workspace;
  int* const pivots = memory.template take<int>(order);
  T* const reciprocals = memory.template take<T>(order);
  // First for the inverse of L, then for the reversed triangles of UpperSolve.
  T* const scratch = memory.template take<T>(geinv_recursive_elements(order));
  T* const x = memory.template take<T>(matrix);
  T* const a = order == n ? op.a.data : memory.template take<T>(matrix);
  const std::int64_t lda = order == n ? op.a.ld : order;

  if (order != n)
    lu::copy_matrix<T>(context, {op.a.data, op.a.ld, n}, a, /*ld_to=*/order, /*rows=*/order,
                       /*columns=*/order);
  lu::RecursiveLu<T, Products> factors(context, a, lda, order, pivots, op.info, memory);
  bool inverts_by_products = false;  // true if `products` computes the largest product of L's inverse
  if constexpr (std::is_same_v<Products, lu::NoProducts>) {
    factors.factor();
  } else {
    factors.factor(*products);
    inverts_by_products = products->accepts(order / 2, order / 2, order / 2);
  }
  // X = L^-1, by substitution with large products or by trtri/levels.
  if (inverts_by_products) {
    // Copies no element of `a`, so that X becomes the identity.
    lu::copy_matrix<T>(context, {a, lda, /*order=*/0}, x, /*ld_to=*/order, /*rows=*/order, /*columns=*/order);
    LowerInverse<T, Products>{context, a, lda, x, order, products}.solve(0, order);
  } else {
    levels::TriangleInverse<T>(context, {a, lda, order, /*lower=*/true, /*unit=*/true}, order, scratch)
        .invert(x, order, /*info=*/nullptr);
  }
  UpperSolve<T, Products>{context, a, lda, order, x, order, order, scratch, reciprocals, products}.solve();
  // Repeats the solves for columns that are not finite. This kernel and the next one start early
  // (programmatic dependent launch) and wait for the previous kernel themselves.
  context.stage("substitution");
  constexpr bool lower = true, unit = true, has_right_hand_side = true;
  simt::launch_early(
      context, substitute_again<T>,
      dim3(static_cast<unsigned>((order + levels::strip_columns - 1) / levels::strip_columns)),
      dim3(levels::strip_threads), sizeof(levels::StripTiles<T>),
      levels::LowerEquation<T>{{a, lda, order, lower, unit}, x, order, order, has_right_hand_side},
      levels::LowerEquation<T>{{a, lda, order, !lower, !unit}, x, order, order, has_right_hand_side},
      op.info);
  context.stage("exchange");
  const dim3 grid(
      static_cast<unsigned>((n + elements_per_thread * threads - 1) / (elements_per_thread * threads)),
      static_cast<unsigned>(n));
  simt::launch_early(context, exchange_columns<T>, grid, dim3(threads), 0, x, order, factors.row_order(),
                     op.a.data, op.a.ld, n);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
