#pragma once
/// The large products of getrf/residues and gesv/residues: integer products modulo several 8-bit numbers
/// (gemm/residue_products.cuh), if this is faster than the vendor's GEMM.

#include <optional>
#include <type_traits>

#include "kernels/gemm/residue_products.cuh"
#include "kernels/getrf/half_lu.cuh"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The class `Products` of RecursiveLu that computes products by residues, and in float by halves if they are
/// faster than residues.
template <class T>
class ResidueUpdates {
 public:
  static constexpr bool preconditions = false;

  /// The workspace is for a factorisation of order n and for solves with its factors.
  ResidueUpdates(Context& context, std::int64_t n, const Parameters& parameters, Workspace& memory)
      : moduli_(residue_moduli(parameters, sizeof(T))),
        least_inner_(parameters.integer("least_inner")),
        products_(context, residue_capacity(n, moduli_), memory) {
    if constexpr (std::is_same_v<T, float>) {
      halves_.emplace(context, n, /*includes_solves=*/true, halves::lu_inner, /*least_inner=*/0, memory);
    }
  }

  /// Returns true if subtract() is expected to compute a product of these sizes.
  bool accepts(int m, int n, int k) const { return prefers_residues(m, n, k) || prefers_halves(m, n, k); }
  /// Computes C -= L U (C is m x n). Returns false, and does nothing, if the vendor's product is faster or
  /// residues cannot compute the product (ResidueProducts::multiply).
  bool subtract(int m, int n, int k, const T* l, std::int64_t ldl, const T* u, std::int64_t ldu, T* c,
                std::int64_t ldc) {
    bool computed = false;
    if (prefers_residues(m, n, k)) {
      computed = products_.multiply(moduli_, {const_cast<T*>(l), m, k, ldl}, {const_cast<T*>(u), k, n, ldu},
                                    {c, m, n, ldc}, residues::Output::subtracted) != 0;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (!computed && prefers_halves(m, n, k)) computed = halves_->subtract(m, n, k, l, ldl, u, ldu, c, ldc);
    }
    count_ += computed;
    return computed;
  }
  /// Returns the k from which all products are by residues, or 0 if measured rates decide per product.
  std::int64_t least_inner() const { return least_inner_; }
  /// Returns the number of products by residues or halves so far.
  int count() const { return count_; }

 private:
  bool prefers_residues(int m, int n, int k) const {
    if (least_inner_ > 0) return k >= least_inner_;
    return residues::are_faster(m, n, k, moduli_, sizeof(T)) &&
           (!halves_.has_value() ||
            residues::seconds(m, n, k, moduli_, sizeof(T)) < halves::seconds(m, n, k));
  }
  bool prefers_halves(int m, int n, int k) const {
    return least_inner_ == 0 && halves_.has_value() && halves::are_faster(m, n, k);
  }

  int moduli_;
  std::int64_t least_inner_;
  residues::ResidueProducts<T> products_;
  std::optional<HalfUpdates> halves_;  // in float
  int count_ = 0;
};

/// Factors P A = L U in place. The report's iterations are the number of products by residues or halves.
template <class T>
void factor_by_residues(Context& context, MatrixView<T> a, int* pivots, int* info,
                        const Parameters& parameters, Workspace& memory) {
  context.report = {};
  ResidueUpdates<T> products(context, a.rows, parameters, memory);
  RecursiveLu<T, ResidueUpdates<T>>(context, a.data, a.ld, a.rows, pivots, info, memory).factor(products);
  context.report.iterations = products.count();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
