#pragma once
/// The iteration of the solvers in mixed precision: GMRES for some right-hand sides side by side. Factors in
/// float are applied in float as long as that will do, then in double.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/gesv/krylov.hpp"
#include "kernels/gesv/mixed_factors.cuh"
#include "kernels/gesv/mixed_triangle_product.cuh"
#include "kernels/gesv/mixed_vectors.cuh"
#include "kernels/trsv/block_products.cuh"

namespace gaussweep::cuda::mixed {

/// Solves A X = B by flexible GMRES in double, preconditioned by Factors of R A C made in float (LuFactors,
/// CholeskyFactors). T is what A, B and X are given in. Every wait for the device is one for a few numbers
/// that the host decides by.
///
/// Right-hand sides go in lock-step: one reading of A and of the factors an iteration serves all. Each has
/// its own Krylov space and its own end; what is done for one after its end is not used.
///
/// The size of x = C y is taken as the largest of |y| times the smallest of C. Columns count by what they
/// contribute to A x. By the largest of |x| itself, what rounding leaves in x beside small columns would pass
/// for a large answer. Every residual is small against that.
template <class T, class Factors>
class Refinement {
 public:
  /// `nrhs`: at once, at most; `memory`: iteration_bytes, and what Factors take; `own`: what these ask for
  /// besides.
  template <class... Own>
  Refinement(Context& context, MatrixView<T> a, std::int64_t nrhs, Workspace& memory, Own... own)
      : context_(context),
        a_(a),
        n_(static_cast<int>(a.rows)),
        width_(nrhs),
        blocks_(static_cast<unsigned>(groups(n_))),
        ld_(Factors::leading_dimension(n_)),
        step_(ld_ * nrhs),
        wide_(memory.take<double>(ld_ * ld_)),
        narrow_(reinterpret_cast<float*>(wide_) + ld_ * ld_),
        solving_(memory.take<std::byte>(static_cast<std::int64_t>(solving_bytes(n_, nrhs, ld_)))),
        row_scale_(memory.take<double>(n_)),
        column_scale_(memory.take<double>(n_)),
        w_(memory.take<double>(step_)),
        y_(memory.take<double>(step_)),
        slices_(memory.take<double>(sums_of_product(n_, nrhs) * ld_)),
        other_slices_(memory.take<double>(slices * static_cast<std::int64_t>(n_))),
        basis_(memory.take<double>((most_iterations + 1) * step_)),
        directions_(memory.take<double>(most_iterations * step_)),
        parts_(memory.take<double>((most_iterations + 2) * groups(n_) * nrhs)),
        squares_(parts_ + (most_iterations + 1) * groups(n_) * nrhs),
        scalars_(reinterpret_cast<Scalars*>(memory.take<double>(
            gaussweep::mixed::scalars + (gaussweep::mixed::readings + most_iterations) * nrhs))),
        readings_(
            reinterpret_cast<Readings*>(reinterpret_cast<double*>(scalars_) + gaussweep::mixed::scalars)),
        coefficients_(reinterpret_cast<double*>(readings_ + nrhs)),
        factors_({context, a, n_, blocks_, ld_, wide_, narrow_, solving_, row_scale_, column_scale_, slices_,
                  other_slices_, scalars_},
                 own..., memory) {}

  /// Scales and factors. False where refinement is not worth trying, as Factors::make says.
  bool prepare() {
    Scalars measured{};
    if (!factors_.make(measured)) return false;
    norm_of_a_ = value_of(measured.norm_of_a);
    scale_of_rows_ = measured.scale_of_rows;
    scale_of_columns_ = 1 / value_of(measured.columns);
    if (by_products()) {
      rows_from_ = factors_.rows();
      in_blocks(narrow_).prepare();
    }
    return true;
  }

  /// Replaces b, n x nrhs, by the answers where refinement reached all of them; else b stays. Adds to the
  /// context's report.
  bool solve(T* b, std::int64_t ldb, std::int64_t nrhs) {
    context_.stage("refine");
    nrhs_ = static_cast<unsigned>(nrhs);
    columns_.assign(static_cast<std::size_t>(nrhs), {});
    context_.device.fill(y_, 0, static_cast<std::size_t>(step_) * sizeof(double));
    take_residuals(b, ldb, 0);
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
      if (!iterate()) return false;
      multiply(y_, b, ldb);
      const std::vector<Readings> seen = read();
      bool all = true;
      for (std::size_t r = 0; r < columns_.size(); ++r) {
        Column& column = columns_[r];
        if (column.solved) continue;
        column.size_of_x = value_of(seen[r].y) * scale_of_columns_;
        const double left = value_of(seen[r].r);
        const double error = left == 0 ? 0 : left / (norm_of_a_ * column.size_of_x);
        const bool settled = !(left < column.last_left / 2);  // rounding rules
        column.solved = error <= tolerance() || (settled && error <= root() * unit());
        if (!column.solved && settled) return false;  // NaN comes here
        column.last_left = left;
        all = all && column.solved;
      }
      if (!all) continue;
      simt::launch(context_, unscale<T>, grid(), dim3(group), 0, y_, n_, ld_, column_scale_, b, ldb);
      return true;
    }
    return false;
  }

 private:
  static constexpr double unit() { return sizeof(T) == 8 ? 0x1p-53 : 0x1p-24; }
  double root() const { return std::sqrt(static_cast<double>(n_)); }
  /// Of |b - A x| in relation to |A| |x|, in the largest norm. That much rounding x to double may leave.
  double tolerance() const { return 8 * unit() * std::max(1.0, root() / 32); }
  /// The same of the 2-norm, by which a cycle ends; what the largest norm really is, is looked at then.
  double enough() const { return 4 * unit() * std::max(1.0, root() / 8); }
  int slice_columns() const { return (n_ + slices - 1) / slices; }

  /// A right-hand side.
  struct Column {
    Krylov krylov;
    double size_of_x = 0;  ///< 0: not known yet
    double last_left = std::numeric_limits<double>::infinity();
    bool solved = false;
    bool ended = false;  ///< in this cycle
  };

  dim3 grid() const { return {blocks_, nrhs_}; }
  std::vector<Readings> read() {
    std::vector<Readings> seen(columns_.size());
    context_.device.to_host(seen.data(), readings_, seen.size() * sizeof(Readings));
    return seen;
  }

  /// w_ = R A C y, or R (b - A C y) where b is given: some right-hand sides at a time.
  template <class Y>
  void multiply(const Y* y, const T* b = nullptr, std::int64_t ldb = 0) {
    context_.stage("multiply");
    simt::launch(context_, clear_largest, dim3(1), dim3(most_at_once), 0, readings_, static_cast<int>(nrhs_));
    if constexpr (Factors::symmetric) {
      if (nrhs_ == 1 && !factors_.mirrored()) {
        const auto tiles = static_cast<unsigned>(bands(n_));
        simt::launch(context_, multiply_triangle<T, Y>, dim3(tiles, tiles), dim3(group), 0, a_.data, a_.ld,
                     n_, factors_.upper(), y, column_scale_, slices_, ld_, readings_);
        return gather(static_cast<int>(tiles), 0, 1, slices_, b, ldb);
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      if (nrhs_ >= vendor_from) {
        double* const x = slices_;
        double* const product = slices_ + step_;
        simt::launch(context_, scale_directions<Y>, grid(), dim3(group), 0, y, n_, column_scale_, x, ld_,
                     readings_);
        vendor::gemm(vendor_handles(context_), vendor::Op::none, vendor::Op::none, n_, nrhs_, n_, 1.0,
                     a_.data, a_.ld, x, ld_, 0.0, product, ld_);
        return gather(1, 0, nrhs_, product, b, ldb);
      }
    }
    constexpr unsigned most = most_of_slice;
    for (unsigned first = 0; first < nrhs_;) {
      const unsigned left = nrhs_ - first;
      const unsigned count = std::min(left, most);
      if (count == 1) {
        multiply_some<1>(y, first, count);
      } else if (count <= 4) {
        multiply_some<4>(y, first, count);
      } else {
        multiply_some<8>(y, first, count);
      }
      gather(slices, first, count, slices_, b, ldb);
      first += count;
    }
  }
  template <int R, class Y>
  void multiply_some(const Y* y, unsigned first, unsigned count) {
    constexpr unsigned rows = rows_of_slice(R);
    simt::launch(context_, multiply_slice<T, Y, R>, dim3((blocks_ + rows - 1) / rows, slices), dim3(group), 0,
                 a_.data, a_.ld, n_, slice_columns(), y + first * ld_, static_cast<int>(count), column_scale_,
                 slices_, ld_, readings_ + first);
  }
  void gather(int count, unsigned first, unsigned nrhs, const double* partial, const T* b, std::int64_t ldb) {
    simt::launch(context_, gather_slices<T>, dim3(blocks_, nrhs), dim3(group), 0, partial, count, n_,
                 b == nullptr ? b : b + first * ldb, ldb, row_scale_, w_ + first * ld_, ld_,
                 squares_ + first * blocks_, readings_ + first);
  }
  /// w_ = R b.
  void take_residuals(const T* b, std::int64_t ldb, int slices_of_it) {
    simt::launch(context_, clear_largest, dim3(1), dim3(most_at_once), 0, readings_, static_cast<int>(nrhs_));
    gather(slices_of_it, 0, nrhs_, slices_, b, ldb);
  }

  bool by_products() const { return width_ >= products_from; }
  template <class F>
  BlockProducts<F> in_blocks(const F* factors) {
    return {context_, n64(),         factors,
            ld_,      Factors::unit, block_order,
            width_,   ld_,           reinterpret_cast<F*>(solving_)};
  }

  /// v_k from w_, and the same as what direction k is made of.
  void normalise_to(int k) {
    const auto normalise_both = [&](auto* z) {
      simt::launch(context_, normalise<std::remove_pointer_t<decltype(z)>>, grid(), dim3(group), 0, w_, n_,
                   ld_, squares_, basis_ + k * step_, k < most_iterations ? z : nullptr, rows_from_, k,
                   readings_);
    };
    if (in_double_) return normalise_both(directions_ + k * step_);
    normalise_both(single(k));
  }
  /// Direction k by the factors, and w_ = R A C times it.
  void direct(int k) {
    const auto solve_and_multiply = [&](auto* factors, auto* z) {
      context_.stage("apply");
      if (by_products()) {
        in_blocks(factors).solve(z, nrhs_);
      } else {
        factors_.solve(factors, z, nrhs_);
      }
      multiply(z);
    };
    if (in_double_) return solve_and_multiply(wide_, directions_ + k * step_);
    solve_and_multiply(narrow_, single(k));
  }
  /// A direction in float lies where the same in double would begin.
  float* single(int k) const { return reinterpret_cast<float*>(directions_ + k * step_); }
  std::int64_t n64() const { return n_; }

  /// The factors in double, in place. Those in float lie in the second half of the room. So the first half of
  /// those that are left never reaches any that is left.
  void widen_factors() {
    context_.stage("widen");
    constexpr int kept = slices / 2;  // columns that fit into slices_ as they are
    int count = 0;
    for (int done = 0; done < n_; done += count) {
      const float* from = narrow_ + done * ld_;
      count = (n_ - done) / 2;
      if (n_ - done <= kept) {
        count = n_ - done;
        context_.device.copy(slices_, from, static_cast<std::size_t>(count * ld_) * sizeof(float));
        from = reinterpret_cast<const float*>(slices_);
      }
      simt::launch(context_, widen, dim3((blocks_ + 3) / 4, static_cast<unsigned>(std::min(count, 32768))),
                   dim3(group), 0, from, wide_ + done * ld_, ld_, n_, count);
    }
    in_double_ = true;
    if (by_products()) in_blocks(wide_).prepare();
    context_.stage("refine");
  }

  /// One cycle from the residuals in w_, whose groups' squares are known: y_ += what it found. False where it
  /// makes no headway.
  bool iterate() {
    IterationReport& report = context_.report;
    normalise_to(0);
    for (Column& column : columns_) {
      column.krylov = {};
      column.ended = column.solved;
    }
    int k = 0;
    int singles = 0;  // directions in float: the first ones
    bool going = true;
    while (going && k < std::min(most_iterations, n_)) {
      direct(k);
      if (!in_double_) ++singles;
      if (k == 0 && !start(read())) return true;  // before h is overwritten
      context_.stage("orthogonalise");
      for (const bool again : {false, true}) {
        simt::launch(context_, project, grid(), dim3(group), 0, basis_, step_, n_, k + 1, w_, ld_, parts_);
        simt::launch(context_, subtract_projection, grid(), dim3(group), 0, basis_, step_, n_, k + 1, w_, ld_,
                     parts_, again, squares_, readings_);
      }
      normalise_to(k + 1);
      ++k;
      const std::vector<Readings> seen = read();
      double worst = 0;
      bool slow = false, hopeless = false;
      going = false;
      for (std::size_t r = 0; r < columns_.size(); ++r) {
        Column& column = columns_[r];
        if (column.ended) continue;
        const double reached = column.krylov.add(seen[r].h);
        if (std::isnan(reached)) return false;
        worst = std::max(worst, reached);
        column.ended = column.krylov.reached();
        if (column.ended) continue;
        going = true;
        slow = slow || column.krylov.slow();
        hopeless = hopeless || column.krylov.hopeless(Factors::patience);
      }
      ++report.iterations;
      report.history.push_back(worst);
      if (!going) break;
      if (!in_double_ && slow) {
        widen_factors();
        normalise_to(k);  // in double too
        for (Column& column : columns_) {
          if (!column.ended) column.krylov.forget_rate();
        }
      } else if (in_double_ && hopeless) {
        return false;
      }
    }
    if (going) return false;
    std::vector<double> found(columns_.size() * most_iterations);
    for (std::size_t r = 0; r < columns_.size(); ++r) {
      if (columns_[r].solved) continue;
      const std::vector<double> of_column = columns_[r].krylov.coefficients();
      std::copy(of_column.begin(), of_column.end(),
                found.begin() + static_cast<std::ptrdiff_t>(r * most_iterations));
    }
    context_.device.to_device(coefficients_, found.data(), found.size() * sizeof(double));
    if (singles > 0) {
      simt::launch(context_, correct<float>, grid(), dim3(group), 0, single(0), 2 * step_, n_, singles,
                   coefficients_, y_, ld_);
    }
    if (k > singles) {
      simt::launch(context_, correct<double>, grid(), dim3(group), 0, directions_ + singles * step_, step_,
                   n_, k - singles, coefficients_ + singles, y_, ld_);
    }
    return true;
  }

  /// Where a cycle begins, by the norms of the residuals and the sizes of the first directions. False where
  /// all residuals are 0.
  bool start(const std::vector<Readings>& seen) {
    bool any = false;
    for (std::size_t r = 0; r < columns_.size(); ++r) {
      Column& column = columns_[r];
      const double norm = seen[r].h[0];
      column.ended = column.ended || norm == 0;
      if (column.ended) continue;
      any = true;
      if (column.size_of_x == 0) column.size_of_x = norm * value_of(seen[r].y) * scale_of_columns_;
      column.krylov.start(norm, 1 / (scale_of_rows_ * norm_of_a_ * column.size_of_x), enough());
    }
    return any;
  }

  Context& context_;
  MatrixView<T> a_;
  int n_;
  std::int64_t width_;  // right-hand sides that there is room for
  unsigned nrhs_ = 0;   // those of now
  unsigned blocks_;
  std::int64_t ld_;    // of vectors and factors
  std::int64_t step_;  // from one vector of all right-hand sides to the next
  double* wide_;       // the factors in double, once they are
  float* narrow_;      // those in float, until then: the second half of the same room
  bool in_double_ = false;
  const int* rows_from_ = nullptr;  // the rows of A that those of L and U were, where the solves do not ask
  std::byte* solving_;
  double *row_scale_, *column_scale_, *w_, *y_, *slices_, *other_slices_, *basis_;
  double* directions_;
  double *parts_, *squares_;
  Scalars* scalars_;
  Readings* readings_;
  double* coefficients_;
  std::vector<Column> columns_;
  Factors factors_;
  double norm_of_a_ = 0;
  double scale_of_rows_ = 1;
  double scale_of_columns_ = 1;
};

/// Replaces right-hand sides by their answers, most_at_once at a time, as long as refinement reaches them.
/// How many that were; the report says so where it was all.
template <class T, class Factors, class... Own>
std::int64_t refine(Context& context, const Operands<T>& op, Workspace& memory, Own... own) {
  const std::int64_t nrhs = op.shape.nrhs;
  const std::int64_t at_once = std::min(nrhs, most_at_once);
  Refinement<T, Factors> refinement(context, op.a, at_once, memory, own...);
  if (!refinement.prepare()) return 0;
  for (std::int64_t solved = 0; solved < nrhs; solved += at_once) {
    const std::int64_t count = std::min(nrhs - solved, at_once);
    if (!refinement.solve(op.b.data + solved * op.b.ld, op.b.ld, count)) return solved;
  }
  context.report.convergence = Convergence::converged;
  return nrhs;
}

}  // namespace gaussweep::cuda::mixed
