#pragma once
/// The large products of getrf/residues, gesv/residues and geinv/residues. They are computed *by residues*:
/// as integer products modulo several 8-bit numbers (gemm/residue_products.cuh). The vendor's GEMM computes
/// all other products.

#include "kernels/gemm/residue_products.cuh"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/getrf/workspaces.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The class `Products` of RecursiveLu that computes products by residues.
template <class T>
class ResidueUpdates {
 public:
  static constexpr bool preconditions = false;

  /// Takes workspace for a factorisation of order n and for solves with its factors.
  ResidueUpdates(Context& context, std::int64_t n, const Parameters& parameters, Workspace& memory)
      : moduli_(residue_moduli(parameters, sizeof(T))),
        least_inner_(parameters.integer("least_inner")),
        products_(context, residue_capacity(n, moduli_), memory) {}

  /// Returns true if subtract() tries residues for a product of these sizes. The elements decide later
  /// whether residues can compute the product.
  bool accepts(int m, int n, int k) const {
    return least_inner_ == 0 ? residues::are_faster(m, n, k, moduli_, sizeof(T)) : k >= least_inner_;
  }
  /// Computes C -= L U (C is m x n). Returns false, and does nothing, if the vendor's product is faster or
  /// residues cannot compute the product (ResidueProducts::multiply).
  bool subtract(int m, int n, int k, const T* l, std::int64_t ldl, const T* u, std::int64_t ldu, T* c,
                std::int64_t ldc) {
    if (!accepts(m, n, k)) return false;
    // The number of moduli that were used; 0 if the product was not computed.
    const int moduli =
        products_.multiply(moduli_, {const_cast<T*>(l), m, k, ldl}, {const_cast<T*>(u), k, n, ldu},
                           {c, m, n, ldc}, residues::ProductUse::subtracted);
    count_ += moduli != 0;
    return moduli != 0;
  }
  /// Returns the parameter `least_inner`: the smallest k of products by residues, or 0 if measured rates
  /// decide per product.
  std::int64_t least_inner() const { return least_inner_; }
  /// Returns the number of products by residues so far.
  int count() const { return count_; }

 private:
  int moduli_;
  std::int64_t least_inner_;
  residues::ResidueProducts<T> products_;
  int count_ = 0;
};

/// Factors P A = L U in place. Sets context.report.iterations to the number of products by residues.
template <class T>
void factor_by_residues(Context& context, MatrixView<T> a, int* pivots, int* info,
                        const Parameters& parameters, Workspace& memory) {
  context.report = {};
  ResidueUpdates<T> products(context, a.rows, parameters, memory);
  RecursiveLu<T, ResidueUpdates<T>>(context, a.data, a.ld, a.rows, pivots, info, memory).factor(products);
  context.report.iterations = products.count();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
