#pragma once
/// Products of the LU by split halves (gemm/half_products.cuh), where they are the faster ones.

#include "kernels/gemm/half_products.cuh"
#include "kernels/getrf/recursive_lu.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The products of a factorisation of order n, and where `solved` also those that solve with it.
class HalfUpdates {
 public:
  static constexpr bool preconditions = false;

  HalfUpdates(Context& context, std::int64_t n, bool solved, const Parameters& parameters, Workspace& memory)
      : least_inner_(parameters.integer("least_inner")),
        products_(context, halves::room_of_lu(n, parameters.integer("inner"), solved),
                  parameters.integer("inner"), memory) {}

  /// Whether a product with C m x n is made by halves; else SGEMM is faster.
  bool takes(int m, int n, int k) const {
    return least_inner_ == 0 ? halves::are_faster(m, n, k) : k >= least_inner_;
  }
  /// C -= L U, C m x n; false: not, it is not taken.
  bool subtract(int m, int n, int k, const float* l, std::int64_t ldl, const float* u, std::int64_t ldu,
                float* c, std::int64_t ldc) {
    if (!takes(m, n, k)) return false;
    products_.multiply({l, m, k, ldl}, {u, k, n, ldu}, {c, m, n, ldc}, true);
    ++made_;
    return true;
  }
  /// The inner size from which products are by halves whatever is faster; 0: there is none.
  std::int64_t least_inner() const { return least_inner_; }
  /// How many products were made by halves.
  int made() const { return made_; }

 private:
  std::int64_t least_inner_;
  halves::HalfProducts products_;
  int made_ = 0;
};

/// P A = L U in place; the report's iterations are the products that were made by halves.
inline void factor_by_halves(Context& context, MatrixView<float> a, int* pivots, int* info,
                             const Parameters& parameters, Workspace& memory) {
  context.report = {};
  HalfUpdates products(context, a.rows, false, parameters, memory);
  RecursiveLu<float, HalfUpdates>(context, a.data, a.ld, a.rows, pivots, info, memory).factor(products);
  context.report.iterations = products.made();
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
