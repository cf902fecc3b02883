#pragma once
/// The large products of getrf/halves, gesv/halves and geinv/halves. They are computed *by halves*: every
/// float is split into two half-precision numbers (gemm/half_products.cuh). The vendor's GEMM computes all
/// other products.

#include "kernels/gemm/half_products.cuh"
#include "kernels/getrf/recursive_lu.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The class `Products` of RecursiveLu that computes products by halves.
class HalfUpdates {
 public:
  static constexpr bool preconditions = false;

  /// Takes workspace for a factorisation of order n and, if `includes_solves`, also for solves with its
  /// factors. The parameter `inner` is the number of terms per tensor-core sum.
  HalfUpdates(Context& context, std::int64_t n, bool includes_solves, const Parameters& parameters,
              Workspace& memory)
      : least_inner_(parameters.integer("least_inner")),
        products_(context, halves::capacity_of_lu(n, parameters.integer("inner"), includes_solves),
                  parameters.integer("inner"), memory) {}

  /// Returns true if subtract() computes a product of these sizes by halves.
  bool accepts(int m, int n, int k) const {
    return least_inner_ == 0 ? halves::are_faster(m, n, k) : k >= least_inner_;
  }
  /// Computes C -= L U (C is m x n). Returns false, and does nothing, if `accepts` is false.
  bool subtract(int m, int n, int k, const float* l, std::int64_t ldl, const float* u, std::int64_t ldu,
                float* c, std::int64_t ldc) {
    if (!accepts(m, n, k)) return false;
    constexpr bool subtracted = true;
    products_.multiply({l, m, k, ldl}, {u, k, n, ldu}, {c, m, n, ldc}, subtracted);
    ++count_;
    return true;
  }
  /// Returns the parameter `least_inner`: the smallest k of products by halves, or 0 if measured rates decide
  /// per product.
  std::int64_t least_inner() const { return least_inner_; }
  /// Returns the number of products by halves so far.
  int count() const { return count_; }

 private:
  std::int64_t least_inner_;
  halves::HalfProducts products_;
  int count_ = 0;
};

/// Factors P A = L U in place. Sets context.report.iterations to the number of products by halves.
inline void factor_by_halves(Context& context, MatrixView<float> a, int* pivots, int* info,
                             const Parameters& parameters, Workspace& memory) {
  context.report = {};
  HalfUpdates products(context, a.rows, /*includes_solves=*/false, parameters, memory);
  RecursiveLu<float, HalfUpdates>(context, a.data, a.ld, a.rows, pivots, info, memory).factor(products);
  context.report.iterations = products.count();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
