#pragma once
/// The GMRES iteration of gesv/mixed_gmres and posv/mixed_gmres. Several right-hand sides iterate together.
/// The preconditioner is a factorisation of the matrix in float. Its triangular solves run in float until
/// convergence becomes too slow, and then in double with the same factors.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/gesv/gmres_cycle.hpp"
#include "kernels/gesv/mixed_factors.cuh"
#include "kernels/gesv/mixed_triangle_product.cuh"
#include "kernels/gesv/mixed_vectors.cuh"
#include "kernels/trsv/block_products.cuh"

namespace gaussweep::cuda::mixed {

/// Solves A X = B by flexible GMRES in double. For each column b of B, with solution x, the iteration solves
/// R A C y = R b with x = C y. The diagonal matrices R and C of powers of two scale rows and columns. The
/// preconditioner is a factorisation of R A C in float.
///
/// Iteration k applies the preconditioner to the basis vector v_k of the Krylov space, which gives the
/// *direction* z_k. It orthogonalises w = R A C z_k against v_0, ..., v_k; the result is v_(k + 1). A *cycle*
/// is a sequence of iterations that starts from the residual of the current y. At its end, y is corrected by
/// a linear combination of the directions.
/// @tparam T the type of A, B and X
/// @tparam Factors LuFactors or CholeskyFactors
///
/// All right-hand sides take part in every iteration, which reads A and the factors once for all of them.
/// Each right-hand side has a separate Krylov space and convergence test; results computed for it after its
/// convergence are not used. The host waits for the device only to read the few numbers that its decisions
/// need (IterationMeasurements).
///
/// The convergence test compares residuals with max|y| min(C), a lower bound of max|x|; min(C) is the
/// smallest diagonal element of C. The test must not use max|x| itself: large elements of x that belong to
/// small columns of A may consist of rounding errors only.
template <class T, class Factors>
class GmresSolver {
 public:
  /// @param nrhs maximum number of right-hand sides per solve()
  /// @param memory iteration_bytes() plus the workspace of Factors
  /// @param factor_arguments additional constructor arguments of Factors
  template <class... FactorArguments>
  GmresSolver(Context& context, MatrixView<T> a, std::int64_t nrhs, Workspace& memory,
              FactorArguments... factor_arguments)
      : context_(context),
        a_(a),
        n_(static_cast<int>(a.rows)),
        max_nrhs_(nrhs),
        row_blocks_(static_cast<unsigned>(row_block_count(n_))),
        ld_(Factors::leading_dimension(n_)),
        vector_stride_(ld_ * nrhs),
        double_factors_(memory.take<double>(ld_ * ld_)),
        float_factors_(reinterpret_cast<float*>(double_factors_) + ld_ * ld_),  // the second half
        solve_memory_(memory.take<std::byte>(static_cast<std::int64_t>(factor_solve_bytes(n_, nrhs, ld_)))),
        row_scale_(memory.take<double>(n_)),
        column_scale_(memory.take<double>(n_)),
        w_(memory.take<double>(vector_stride_)),
        y_(memory.take<double>(vector_stride_)),
        partial_sums_(memory.take<double>(partial_sum_vectors(n_, nrhs) * ld_)),
        spare_partial_sums_(memory.take<double>(column_slices * static_cast<std::int64_t>(n_))),
        basis_(memory.take<double>((max_iterations_per_cycle + 1) * vector_stride_)),
        directions_(memory.take<double>(max_iterations_per_cycle * vector_stride_)),
        projections_(memory.take<double>((max_iterations_per_cycle + 2) * row_block_count(n_) * nrhs)),
        row_block_squares_(projections_ + (max_iterations_per_cycle + 1) * row_block_count(n_) * nrhs),
        matrix_measurements_(reinterpret_cast<MatrixMeasurements*>(memory.take<double>(
            matrix_measurement_doubles + (iteration_measurement_doubles + max_iterations_per_cycle) * nrhs))),
        iteration_measurements_(reinterpret_cast<IterationMeasurements*>(
            reinterpret_cast<double*>(matrix_measurements_) + matrix_measurement_doubles)),
        coefficients_(reinterpret_cast<double*>(iteration_measurements_ + nrhs)),
        factors_({context, a, n_, row_blocks_, ld_, double_factors_, float_factors_, solve_memory_,
                  row_scale_, column_scale_, partial_sums_, spare_partial_sums_, matrix_measurements_},
                 factor_arguments..., memory) {}

  /// Scales and factors A. Returns false if refinement would not converge (Factors::prepare_factors).
  bool prepare() {
    MatrixMeasurements measured{};
    if (!factors_.prepare_factors(measured)) return false;
    norm_of_a_ = double_from_bits(measured.norm_of_a);
    min_row_scale_ = measured.min_row_scale;
    min_column_scale_ = 1 / double_from_bits(measured.max_inverse_column_scale);
    if (uses_block_inverses()) {
      // Factors::solve exchanges rows, but BlockProducts does not. normalise_to therefore permutes each v_k.
      row_permutation_ = factors_.row_permutation();
      block_solver(float_factors_).prepare();
    }
    return true;
  }

  /// Solves A X = b, where b is n x nrhs. If all right-hand sides converge, overwrites b with X and returns
  /// true; else leaves b unchanged. Adds the iterations to context.report.
  bool solve(T* b, std::int64_t ldb, std::int64_t nrhs) {
    context_.stage("refine");
    nrhs_ = static_cast<unsigned>(nrhs);
    rhs_states_.assign(static_cast<std::size_t>(nrhs), {});
    context_.device.fill(y_, 0, static_cast<std::size_t>(vector_stride_) * sizeof(double));
    compute_residuals(b, ldb, /*slice_count=*/0);  // y_ = 0: the residual is b, without partial sums
    for (int cycle = 0; cycle < max_cycles; ++cycle) {
      if (!run_cycle()) return false;
      multiply(y_, b, ldb);
      const std::vector<IterationMeasurements> host_measurements = read_measurements();
      bool all_solved = true;
      for (std::size_t r = 0; r < rhs_states_.size(); ++r) {
        RhsState& rhs = rhs_states_[r];
        if (rhs.solved) continue;
        rhs.norm_of_x = double_from_bits(host_measurements[r].max_y) * min_column_scale_;
        const double residual = double_from_bits(host_measurements[r].max_r);
        const double error = residual == 0 ? 0 : residual / (norm_of_a_ * rhs.norm_of_x);
        // If a cycle does not halve the residual, rounding errors dominate it. A larger error is then
        // accepted. Rounding x and the residual may cause an error of almost 2 u, even if n = 1.
        const bool stagnated = !(residual < rhs.last_residual / 2);
        rhs.solved =
            error <= tolerance() || (stagnated && error <= std::max(2.0, sqrt_n()) * unit_roundoff());
        if (!rhs.solved && stagnated) return false;  // also if the residual is NaN
        rhs.last_residual = residual;
        all_solved = all_solved && rhs.solved;
      }
      if (!all_solved) continue;
      simt::launch(context_, unscale<T>, grid(), dim3(block_threads), 0, y_, n_, ld_, column_scale_, b, ldb);
      return true;
    }
    return false;
  }

 private:
  static constexpr double unit_roundoff() { return sizeof(T) == 8 ? 0x1p-53 : 0x1p-24; }
  double sqrt_n() const { return std::sqrt(static_cast<double>(n_)); }
  /// Returns the limit for |b - A x| / (|A| |x|) in the infinity norm, where u is the unit roundoff of T:
  ///   n <= 2: u, because rounding x to T alone may cause this error;
  ///   n <= 16: n u / 2. The verification (check/check.hpp) measures this ratio in units of n u, so that a
  ///     limit that is constant in n would give small systems large measured errors;
  ///   n <= 1024: 8 u; n > 1024: sqrt(n) u / 4, because 4 u was not reachable at n = 4096.
  double tolerance() const {
    return unit_roundoff() * std::min(std::max(1.0, n_ / 2.0), 8 * std::max(1.0, sqrt_n() / 32));
  }
  /// Returns the relative residual (GmresCycle) at which a cycle ends. Within a cycle only an upper bound of
  /// the ratio of tolerance() is known, from the residual's 2-norm. The infinity norm is computed after the
  /// cycle.
  double cycle_tolerance() const { return 4 * unit_roundoff() * std::max(1.0, sqrt_n() / 8); }
  int columns_per_slice() const { return (n_ + column_slices - 1) / column_slices; }

  /// The state of the iteration for one right-hand side.
  struct RhsState {
    GmresCycle cycle;
    double norm_of_x = 0;  ///< the lower bound max|y| min(C) of max|x|; 0: not yet known
    double last_residual = std::numeric_limits<double>::infinity();  ///< max|b - A x| after the last cycle
    bool solved = false;    ///< true if the convergence test after a cycle was passed
    bool finished = false;  ///< true if this right-hand side needs no further iterations in this cycle
  };

  dim3 grid() const { return {row_blocks_, nrhs_}; }
  std::vector<IterationMeasurements> read_measurements() {
    std::vector<IterationMeasurements> host_measurements(rhs_states_.size());
    context_.device.to_host(host_measurements.data(), iteration_measurements_,
                            host_measurements.size() * sizeof(IterationMeasurements));
    return host_measurements;
  }

  /// Computes w_ = R A C y, or the residual w_ = R (b - A C y) if b is given, for all right-hand sides. y is
  /// the solution or a direction. One right-hand side of a symmetric A reads only
  /// one triangle. Many right-hand sides in double use cuBLAS. Else multiply_slice multiplies up to 8
  /// right-hand sides per launch.
  template <class YElement>
  void multiply(const YElement* y, const T* b = nullptr, std::int64_t ldb = 0) {
    context_.stage("multiply");
    simt::launch(context_, clear_maxima, dim3(1), dim3(max_rhs_per_group), 0, iteration_measurements_,
                 static_cast<int>(nrhs_));
    if constexpr (Factors::symmetric) {
      // mirrored(): the stored triangle has been copied to the other one, so that A is a full matrix.
      if (nrhs_ == 1 && !factors_.mirrored()) {
        const auto tiles = static_cast<unsigned>(triangle_tile_count(n_));
        simt::launch(context_, multiply_triangle<T, YElement>, dim3(tiles, tiles), dim3(block_threads), 0,
                     a_.data, a_.ld, n_, factors_.upper(), y, column_scale_, partial_sums_, ld_,
                     iteration_measurements_);
        return finish_product(/*count=*/static_cast<int>(tiles), /*first=*/0, /*nrhs=*/1, partial_sums_, b,
                              ldb);
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      if (nrhs_ >= min_rhs_for_vendor) {
        double* const x = partial_sums_;
        double* const product = partial_sums_ + vector_stride_;
        simt::launch(context_, scale_directions<YElement>, grid(), dim3(block_threads), 0, y, n_,
                     column_scale_, x, ld_, iteration_measurements_);
        vendor::gemm(vendor_handles(context_), vendor::Op::none, vendor::Op::none, n_, nrhs_, n_, 1.0,
                     a_.data, a_.ld, x, ld_, 0.0, product, ld_);
        return finish_product(/*count=*/1, /*first=*/0, nrhs_, product, b, ldb);
      }
    }
    constexpr unsigned max_count = max_rhs_per_thread;
    for (unsigned first = 0; first < nrhs_;) {
      const unsigned remaining = nrhs_ - first;
      const unsigned count = std::min(remaining, max_count);
      if (count == 1) {
        multiply_rhs_group<1>(y, first, count);
      } else if (count <= 4) {
        multiply_rhs_group<4>(y, first, count);
      } else {
        multiply_rhs_group<8>(y, first, count);
      }
      finish_product(column_slices, first, count, partial_sums_, b, ldb);
      first += count;
    }
  }
  /// Computes the partial sums of A C y for the right-hand sides [first, first + count).
  template <int RhsPerThread, class YElement>
  void multiply_rhs_group(const YElement* y, unsigned first, unsigned count) {
    constexpr unsigned thread_rows = rows_per_thread(RhsPerThread);
    simt::launch(context_, multiply_slice<T, YElement, RhsPerThread>,
                 dim3((row_blocks_ + thread_rows - 1) / thread_rows, column_slices), dim3(block_threads), 0,
                 a_.data, a_.ld, n_, columns_per_slice(), y + first * ld_, static_cast<int>(count),
                 column_scale_, partial_sums_, ld_, iteration_measurements_ + first);
  }
  /// Adds the `count` partial sums of each row of A C y for the right-hand sides [first, first + nrhs).
  /// Subtracts the totals from b if b is given, and stores them in w_, scaled by R. If b is given, also
  /// stores the maximum of the residual and the sums of squares per row block.
  void finish_product(int count, unsigned first, unsigned nrhs, const double* partial, const T* b,
                      std::int64_t ldb) {
    simt::launch(context_, add_partial_products<T>, dim3(row_blocks_, nrhs), dim3(block_threads), 0, partial,
                 count, n_, b == nullptr ? b : b + first * ldb, ldb, row_scale_, w_ + first * ld_, ld_,
                 row_block_squares_ + first * row_blocks_, iteration_measurements_ + first);
  }
  /// Computes the residuals w_ = R (b - A C y) of all right-hand sides from `slice_count` partial sums of A C
  /// y.
  void compute_residuals(const T* b, std::int64_t ldb, int slice_count) {
    simt::launch(context_, clear_maxima, dim3(1), dim3(max_rhs_per_group), 0, iteration_measurements_,
                 static_cast<int>(nrhs_));
    finish_product(slice_count, /*first=*/0, nrhs_, partial_sums_, b, ldb);
  }

  /// Returns true if BlockProducts (trsv/block_products.cuh) solves with the factors, by multiplying with
  /// inverses of their diagonal blocks.
  bool uses_block_inverses() const { return max_nrhs_ >= min_rhs_for_products; }
  /// Returns the object that inverts the diagonal blocks and solves with them. FactorElement is float or
  /// double.
  template <class FactorElement>
  BlockProducts<FactorElement> block_solver(const FactorElement* factors) {
    return {context_,
            n64(),
            factors,
            ld_,
            Factors::has_unit_diagonal,
            inverted_block_order,
            max_nrhs_,
            ld_,
            reinterpret_cast<FactorElement*>(solve_memory_)};
  }

  /// Normalises w_ to the basis vector v_k, and copies v_k to the memory of direction z_k, where
  /// compute_direction solves in place. The last v_k of a cycle has no direction.
  void normalise_to(int k) {
    const auto normalise_both = [&](auto* z) {
      simt::launch(context_, normalise<std::remove_pointer_t<decltype(z)>>, grid(), dim3(block_threads), 0,
                   w_, n_, ld_, row_block_squares_, basis_ + k * vector_stride_,
                   k < max_iterations_per_cycle ? z : nullptr, row_permutation_, k, iteration_measurements_);
    };
    if (in_double_) return normalise_both(directions_ + k * vector_stride_);
    normalise_both(float_direction(k));
  }
  /// Solves with the factors for v_k, which gives direction z_k, and computes w_ = R A C z_k.
  void compute_direction(int k) {
    const auto solve_and_multiply = [&](auto* factors, auto* z) {
      context_.stage("apply");
      if (uses_block_inverses()) {
        block_solver(factors).solve(z, nrhs_);
      } else {
        factors_.solve(factors, z, nrhs_);
      }
      multiply(z);
    };
    if (in_double_) return solve_and_multiply(double_factors_, directions_ + k * vector_stride_);
    solve_and_multiply(float_factors_, float_direction(k));
  }
  /// Returns the memory of direction k in float, which starts at the address of direction k in double.
  float* float_direction(int k) const { return reinterpret_cast<float*>(directions_ + k * vector_stride_); }
  std::int64_t n64() const { return n_; }

  /// Converts the factors to double in place: the float factors are in the second half of the memory of the
  /// double factors. Each launch converts half of the remaining columns. Its output then ends before the
  /// first float column that it reads. Output and input of the last columns would overlap; they are first
  /// copied to partial_sums_.
  void widen_factors() {
    context_.stage("widen");
    constexpr int max_copied =
        column_slices / 2;  // partial_sums_ has room for this many float columns, or more
    int count = 0;          // columns per launch
    for (int first = 0; first < n_; first += count) {
      const float* from = float_factors_ + first * ld_;
      count = (n_ - first) / 2;
      if (n_ - first <= max_copied) {
        count = n_ - first;
        context_.device.copy(partial_sums_, from, static_cast<std::size_t>(count * ld_) * sizeof(float));
        from = reinterpret_cast<const float*>(partial_sums_);
      }
      // A thread of `widen` converts four rows of a column.
      simt::launch(context_, widen,
                   dim3((row_blocks_ + 3) / 4, static_cast<unsigned>(std::min(count, 32768))),
                   dim3(block_threads), 0, from, double_factors_ + first * ld_, ld_, n_, count);
    }
    in_double_ = true;
    if (uses_block_inverses()) block_solver(double_factors_).prepare();
    context_.stage("refine");
  }

  /// Runs one cycle and adds the correction to y_. Returns false if a right-hand side does not converge.
  /// @pre the residuals are in w_, and their sums of squares per row block in row_block_squares_
  bool run_cycle() {
    IterationReport& report = context_.report;
    normalise_to(0);
    for (RhsState& rhs : rhs_states_) {
      rhs.cycle = {};
      rhs.finished = rhs.solved;
    }
    int k = 0;
    int float_directions = 0;  // the first `float_directions` directions are in float
    bool unfinished = true;
    while (unfinished && k < std::min(max_iterations_per_cycle, n_)) {
      compute_direction(k);
      if (!in_double_) ++float_directions;
      // normalise_to(0) stored the norms of the residuals in IterationMeasurements::h, and
      // compute_direction(0) stored max|z_0|. The next kernels overwrite them. If all residuals are 0, y_
      // needs no correction.
      if (k == 0 && !start_cycles(read_measurements())) return true;
      context_.stage("orthogonalise");
      // Classical Gram-Schmidt loses orthogonality to rounding errors; the second pass restores it.
      for (const bool second_pass : {false, true}) {
        simt::launch(context_, project, grid(), dim3(block_threads), 0, basis_, vector_stride_, n_, k + 1, w_,
                     ld_, projections_);
        simt::launch(context_, subtract_projection, grid(), dim3(block_threads), 0, basis_, vector_stride_,
                     n_, k + 1, w_, ld_, projections_, second_pass, row_block_squares_,
                     iteration_measurements_);
      }
      normalise_to(k + 1);
      ++k;
      const std::vector<IterationMeasurements> host_measurements = read_measurements();
      double worst = 0;
      bool slow = false, hopeless = false;
      unfinished = false;
      for (std::size_t r = 0; r < rhs_states_.size(); ++r) {
        RhsState& rhs = rhs_states_[r];
        if (rhs.finished) continue;
        const double residual = rhs.cycle.add(host_measurements[r].h);
        if (std::isnan(residual)) return false;
        worst = std::max(worst, residual);
        rhs.finished = rhs.cycle.has_reached_target();
        if (rhs.finished) continue;
        unfinished = true;
        slow = slow || rhs.cycle.is_slow();
        hopeless = hopeless || rhs.cycle.is_hopeless(Factors::max_iterations);
      }
      ++report.iterations;
      report.history.push_back(worst);
      if (!unfinished) break;
      if (!in_double_ && slow) {
        widen_factors();
        normalise_to(k);  // stores v_k again as the start of direction k, now in double
        for (RhsState& rhs : rhs_states_) {
          if (!rhs.finished) rhs.cycle.forget_rate();
        }
      } else if (in_double_ && hopeless) {
        return false;
      }
    }
    if (unfinished) return false;
    std::vector<double> packed(rhs_states_.size() * max_iterations_per_cycle);
    for (std::size_t r = 0; r < rhs_states_.size(); ++r) {
      if (rhs_states_[r].solved) continue;  // its coefficients stay 0
      const std::vector<double> coefficients = rhs_states_[r].cycle.coefficients();
      std::copy(coefficients.begin(), coefficients.end(),
                packed.begin() + static_cast<std::ptrdiff_t>(r * max_iterations_per_cycle));
    }
    context_.device.to_device(coefficients_, packed.data(), packed.size() * sizeof(double));
    // A float direction is stored at the address of a double direction, i.e. every 2 * vector_stride_ floats.
    if (float_directions > 0) {
      simt::launch(context_, add_directions<float>, grid(), dim3(block_threads), 0, float_direction(0),
                   2 * vector_stride_, n_, float_directions, coefficients_, y_, ld_);
    }
    if (k > float_directions) {
      simt::launch(context_, add_directions<double>, grid(), dim3(block_threads), 0,
                   directions_ + float_directions * vector_stride_, vector_stride_, n_, k - float_directions,
                   coefficients_ + float_directions, y_, ld_);
    }
    return true;
  }

  /// Starts a cycle of every right-hand side with the norm of its residual. If the norm of x is not yet
  /// known, estimates y by the first direction times this norm: the result of the solve with the factors
  /// alone. Returns false if all residuals are 0.
  bool start_cycles(const std::vector<IterationMeasurements>& host_measurements) {
    bool any_unfinished = false;
    for (std::size_t r = 0; r < rhs_states_.size(); ++r) {
      RhsState& rhs = rhs_states_[r];
      const double norm = host_measurements[r].h[0];
      rhs.finished = rhs.finished || norm == 0;
      if (rhs.finished) continue;
      any_unfinished = true;
      if (rhs.norm_of_x == 0)
        rhs.norm_of_x = norm * double_from_bits(host_measurements[r].max_y) * min_column_scale_;
      // The infinity norm of b - A x is at most the 2-norm of R (b - A x), divided by min(R).
      rhs.cycle.start(norm, 1 / (min_row_scale_ * norm_of_a_ * rhs.norm_of_x), cycle_tolerance());
    }
    return any_unfinished;
  }

  Context& context_;
  MatrixView<T> a_;
  int n_;
  std::int64_t max_nrhs_;       // maximum number of right-hand sides per solve()
  unsigned nrhs_ = 0;           // right-hand sides of the current solve()
  unsigned row_blocks_;         // number of row blocks
  std::int64_t ld_;             // leading dimension of vectors and factors
  std::int64_t vector_stride_;  // distance of v_k and v_(k + 1) in memory: ld_ times max_nrhs_
  double* double_factors_;      // the factors in double, valid after widen_factors()
  float* float_factors_;        // the factors in float until then, in the second half of the same memory
  bool in_double_ = false;      // true after widen_factors()
  const int* row_permutation_ = nullptr;  // null if Factors::solve applies the permutation (prepare())
  std::byte* solve_memory_;               // workspace of the solves with the factors
  double *row_scale_, *column_scale_;     // the diagonals of R and C
  double *w_, *y_;                        // the vector to orthogonalise, and the solution of R A C y = R b
  double *partial_sums_, *spare_partial_sums_;  // one vector per column slice; multiply() uses the first
  double *basis_, *directions_;                 // v_0, v_1, … and z_0, z_1, …
  double *projections_, *row_block_squares_;    // partial sums of V^T w and of w^T w, one per row block
  MatrixMeasurements* matrix_measurements_;  // measurements of the matrix and its factors (mixed_steps.cuh)
  IterationMeasurements* iteration_measurements_;  // measurements per right-hand side (mixed_vectors.cuh)
  double* coefficients_;  // of the directions in the correction of y, per right-hand side
  std::vector<RhsState> rhs_states_;
  Factors factors_;
  double norm_of_a_ = 0;
  double min_row_scale_ = 1;     // the smallest element of R
  double min_column_scale_ = 1;  // the smallest element of C
};

/// Replaces right-hand sides by their answers, in groups of max_rhs_per_group, until a group does not
/// converge. Returns the number of solved right-hand sides. If all are solved, sets
/// context.report.convergence to `converged`.
template <class T, class Factors, class... FactorArguments>
std::int64_t refine(Context& context, const Operands<T>& op, Workspace& memory,
                    FactorArguments... factor_arguments) {
  const std::int64_t nrhs = op.shape.nrhs;
  const std::int64_t group_size = std::min(nrhs, max_rhs_per_group);
  GmresSolver<T, Factors> refinement(context, op.a, group_size, memory, factor_arguments...);
  if (!refinement.prepare()) return 0;
  for (std::int64_t solved = 0; solved < nrhs; solved += group_size) {
    const std::int64_t count = std::min(nrhs - solved, group_size);
    if (!refinement.solve(op.b.data + solved * op.b.ld, op.b.ld, count)) return solved;
  }
  context.report.convergence = Convergence::converged;
  return nrhs;
}

}  // namespace gaussweep::cuda::mixed
