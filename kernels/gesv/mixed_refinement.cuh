#pragma once
/// The iteration of gesv/mixed_gmres: scaling, the factors in float, and GMRES for one right-hand side at a
/// time. Factors in float are applied in float as long as that will do, then in double: see `slow`.

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/gesv/mixed_steps.cuh"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/getrf/split_products.cuh"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::cuda::mixed {

/// Solves A x = b by flexible GMRES in double, preconditioned by LU factors of R A C made in float. T is what
/// A, b and x are given in. Every wait for the device is one for a few numbers that the host decides by.
///
/// The size of x = C y is taken as the largest of |y| times the smallest of C: columns count by what they
/// contribute to A x. By the largest of |x| itself, what rounding leaves in x beside small columns would pass
/// for a large answer, against which every residual is small.
template <class T>
class Refinement {
 public:
  /// `memory`: refinement_bytes(n).
  Refinement(Context& context, MatrixView<T> a, Workspace& memory)
      : context_(context),
        a_(a),
        n_(static_cast<int>(a.rows)),
        blocks_(static_cast<unsigned>(groups(n_))),
        ld_(gaussweep::lu::leading_dimension(n_)),
        memory_(memory),
        wide_(memory.take<double>(ld_ * n_)),
        lu_(reinterpret_cast<float*>(wide_) + ld_ * n_),
        pivots_(memory.take<int>(n_ + 1)),
        solving_(
            memory.take<std::byte>(static_cast<std::int64_t>(solve_lu_workspace(n_, 1, sizeof(double))))),
        row_scale_(memory.take<double>(n_)),
        column_scale_(memory.take<double>(n_)),
        w_(memory.take<double>(n_)),
        y_(memory.take<double>(n_)),
        slices_(memory.take<double>(slices * static_cast<std::int64_t>(n_))),
        other_slices_(memory.take<double>(slices * static_cast<std::int64_t>(n_))),
        basis_(memory.take<double>((most_iterations + 1) * static_cast<std::int64_t>(n_))),
        directions_(memory.take<double>(most_iterations * static_cast<std::int64_t>(n_))),
        parts_(memory.take<double>((most_iterations + 1) * groups(n_))),
        squares_(parts_ + most_iterations * groups(n_)),
        scalars_(reinterpret_cast<Scalars*>(memory.take<double>(gaussweep::mixed::scalars))),
        coefficients_(reinterpret_cast<double*>(scalars_ + 1)) {}

  /// Scales and factors. False where refinement is not worth trying: something is not finite or out of range,
  /// a pivot is 0, a sample of the matrix is nearly singular in many directions, or the pivots
  /// fall so fast that those to come would drown in float's rounding.
  bool prepare() {
    context_.stage("scale");
    clear();
    simt::launch(context_, measure_rows<T>, dim3(blocks_, slices), dim3(group), 0, a_.data, a_.ld, n_,
                 slice_columns(), slices_, other_slices_);
    simt::launch(context_, scale_rows, dim3(blocks_), dim3(group), 0, slices_, other_slices_, n_, row_scale_,
                 scalars_);
    simt::launch(context_, smallest_scale, dim3(1), dim3(group), 0, row_scale_, n_, scalars_);
    simt::launch(context_, scale_columns<T>, dim3(static_cast<unsigned>(std::min(n_, 4096))), dim3(group), 0,
                 a_.data, a_.ld, n_, row_scale_, column_scale_, lu_, ld_, scalars_);
    if (n_ >= least_sampled) {
      context_.stage("inspect");
      simt::launch(context_, sample_pivots, dim3(1), dim3(group), 0, lu_, ld_, n_,
                   static_cast<float>(std::exp2(least_sampled_level)), scalars_);
    }
    const Scalars measured = read();
    norm_of_a_ = value_of(measured.norm_of_a);
    scale_of_rows_ = measured.scale_of_rows;
    scale_of_columns_ = 1 / value_of(measured.columns);
    constexpr double margin = sizeof(T) == 8 ? 0x1p500 : 0x1p100;
    if (!(norm_of_a_ >= 1 / margin && norm_of_a_ <= margin)) return false;
    if (measured.low_pivots > most_low) return false;
    int* const info = pivots_ + n_;
    context_.device.fill(info, 0, sizeof(int));
    lu::SplitProducts products(context_, n_, memory_);
    const bool all = lu::RecursiveLu<float, lu::SplitProducts>(context_, lu_, ld_, n_, pivots_, info, memory_)
                         .factor(products, [this](int columns) { return promising(columns); });
    if (!all) return false;
    int zero_pivot = 0;
    context_.device.to_host(&zero_pivot, info, sizeof(zero_pivot));
    return zero_pivot == 0;
  }

  /// Replaces b by the answer where refinement reached it; else b stays. Adds to the context's report.
  bool solve(T* b) {
    context_.stage("refine");
    context_.device.fill(y_, 0, static_cast<std::size_t>(n_) * sizeof(double));
    clear();
    simt::launch(context_, gather_slices<T>, dim3(blocks_), dim3(group), 0, slices_, 0, n_, b, row_scale_, w_,
                 squares_, &scalars_->r);
    double size_of_x = 0;  // not known yet
    double last_left = std::numeric_limits<double>::infinity();
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
      if (!iterate(size_of_x)) return false;
      clear();
      multiply(y_);
      simt::launch(context_, gather_slices<T>, dim3(blocks_), dim3(group), 0, slices_, slices, n_, b,
                   row_scale_, w_, squares_, &scalars_->r);
      const Scalars seen = read();
      size_of_x = value_of(seen.y) * scale_of_columns_;
      const double left = value_of(seen.r);
      const double error = left == 0 ? 0 : left / (norm_of_a_ * size_of_x);
      const bool settled = !(left < last_left / 2);  // rounding rules
      if (error <= tolerance() || (settled && error <= root() * unit())) {
        simt::launch(context_, unscale<T>, dim3(blocks_), dim3(group), 0, y_, n_, column_scale_, b);
        return true;
      }
      if (settled) return false;  // NaN comes here
      last_left = left;
    }
    return false;
  }

 private:
  static constexpr double unit() { return sizeof(T) == 8 ? 0x1p-53 : 0x1p-24; }
  double root() const { return std::sqrt(static_cast<double>(n_)); }
  /// Of |b - A x| in relation to |A| |x|, in the largest norm. That much rounding x to double may leave.
  double tolerance() const { return 8 * unit() * std::max(1.0, root() / 32); }
  static double value_of(Largest bits) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  /// The same of the 2-norm, by which a cycle ends; what the largest norm really is, is looked at then.
  double enough() const { return 4 * unit() * std::max(1.0, root() / 8); }
  int slice_columns() const { return (n_ + slices - 1) / slices; }

  void clear() { context_.device.fill(scalars_, 0, sizeof(Scalars)); }
  Scalars read() {
    Scalars seen{};
    context_.device.to_host(&seen, scalars_, sizeof(seen));
    return seen;
  }

  /// slices_ = A C y.
  template <class Y>
  void multiply(const Y* y) {
    simt::launch(context_, multiply_slice<T, Y>, dim3(blocks_, slices), dim3(group), 0, a_.data, a_.ld, n_,
                 slice_columns(), y, column_scale_, slices_, &scalars_->y);
  }

  /// v_k from w_, and the same as what direction k is made of.
  void normalise_to(int k) {
    const auto normalise_both = [&](auto* z) {
      simt::launch(context_, normalise<std::remove_pointer_t<decltype(z)>>, dim3(blocks_), dim3(group), 0, w_,
                   n_, squares_, basis_ + k * n64(), k < most_iterations ? z : nullptr, k, scalars_);
    };
    if (in_double_) return normalise_both(directions_ + k * n64());
    normalise_both(single(k));
  }
  /// Direction k by the factors, and slices_ = A C times it.
  void direct(int k) {
    const auto solve_and_multiply = [&](auto* factors, auto* z) {
      solve_lu(context_, n64(), 1, factors, ld_, pivots_, z, n64(), solving_, pivots_ + n_);
      context_.device.fill(&scalars_->y, 0, sizeof(Largest));
      multiply(z);
    };
    if (in_double_) return solve_and_multiply(wide_, directions_ + k * n64());
    solve_and_multiply(lu_, single(k));
  }
  /// A direction in float lies where the same in double would begin.
  float* single(int k) const { return reinterpret_cast<float*>(directions_ + k * n64()); }
  std::int64_t n64() const { return n_; }

  /// The factors in double, in place: those in float lie in the second half of the room, so that the first
  /// half of those that are left never reaches any that is left.
  void widen_factors() {
    context_.stage("widen");
    constexpr int kept = slices / 2;  // columns that fit into slices_ as they are
    int count = 0;
    for (int done = 0; done < n_; done += count) {
      const float* from = lu_ + done * ld_;
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
    context_.stage("refine");
  }

  /// Whether the pivots of the columns so far let expect factors that are good for something.
  bool promising(int columns) {
    const int window = std::max(32, n_ / 64);
    const int distance = std::max(64, n_ / 16);
    if (columns < window + distance) return true;
    context_.stage("inspect");
    simt::launch(context_, inspect_pivots, dim3(1), dim3(group), 0, lu_, ld_, columns, window, distance,
                 scalars_);
    const Scalars seen = read();
    if (!(seen.largest_pivot < most_growth)) return false;
    if (!(seen.smallest_pivot > (columns <= n_ / 2 ? 0x1p-20 : 0x1p-30))) return false;
    if (8 * columns > 5 * n_) return true;  // nearly done: the iteration itself will tell
    // Scaled, a matrix has pivots of about 1 as long as float holds what is left of it. Where they fall
    // evenly, as those of a geometric sequence of singular values do, they would go on to do so.
    const double fall = std::min(0.0, (seen.last_window - seen.first_window) / distance);  // log2 a column
    const double end = seen.last_window + fall * (n_ - columns + window / 2);
    return seen.last_window > -0.25 || (seen.last_window > least_level && end > least_end);
  }
  static constexpr double most_growth = 2048;  ///< of elements: half of what a half holds, scaled
  static constexpr double least_level = -10;   ///< log2 of pivots; below, float's rounding errors rule them
  static constexpr double least_end = -12.5;   ///< the same of the last ones
  static constexpr double least_sampled_level = -10.5;  ///< the same of the sample's pivots
  static constexpr int most_low = 3;                    ///< of these may be below
  static constexpr int least_sampled = 256;  ///< order; below, a look at the pivots themselves is as quick

  /// One cycle from the residual in w_, whose groups' squares are known: y_ += what it found. False where it
  /// makes no headway. `size_of_x`: of x so far, 0 at the start.
  bool iterate(double size_of_x) {
    IterationReport& report = context_.report;
    normalise_to(0);
    std::vector<std::vector<double>> columns;  // of R, from the rotations
    std::vector<double> cosine, sine, rhs, errors;
    double reached = 0;
    int k = 0;
    int singles = 0;  // directions in float: the first ones
    while (k < std::min(most_iterations, n_)) {
      direct(k);
      if (!in_double_) ++singles;
      simt::launch(context_, gather_slices<T>, dim3(blocks_), dim3(group), 0, slices_, slices, n_,
                   static_cast<const T*>(nullptr), row_scale_, w_, static_cast<double*>(nullptr),
                   static_cast<Largest*>(nullptr));
      if (k == 0) {  // before h is overwritten
        const Scalars seen = read();
        if (seen.h[0] == 0) return true;  // b = 0
        rhs.push_back(seen.h[0]);
        if (size_of_x == 0) size_of_x = seen.h[0] * value_of(seen.y) * scale_of_columns_;
      }
      for (const bool again : {false, true}) {
        simt::launch(context_, project, dim3(blocks_), dim3(group), 0, basis_, n_, k + 1, w_, parts_);
        simt::launch(context_, subtract_projection, dim3(blocks_), dim3(group), 0, basis_, n_, k + 1, w_,
                     parts_, again, squares_, scalars_);
      }
      normalise_to(k + 1);
      const Scalars seen = read();
      std::vector<double> h(seen.h, seen.h + k + 2);
      for (int i = 0; i < k; ++i) {
        const double above = cosine[i] * h[i] + sine[i] * h[i + 1];
        h[i + 1] = cosine[i] * h[i + 1] - sine[i] * h[i];
        h[i] = above;
      }
      const double length = std::hypot(h[k], h[k + 1]);
      cosine.push_back(h[k] / length);
      sine.push_back(h[k + 1] / length);
      h[k] = length;
      rhs.push_back(-sine[k] * rhs[k]);
      rhs[k] *= cosine[k];
      columns.push_back(std::move(h));
      ++k;
      reached = std::fabs(rhs[k]) / (scale_of_rows_ * norm_of_a_ * size_of_x);
      errors.push_back(reached);
      ++report.iterations;
      report.history.push_back(reached);
      if (!(reached > enough())) break;
      if (!in_double_ && slow(errors)) {
        widen_factors();
        normalise_to(k);  // in double too
        errors = {reached};
      } else if (in_double_ && hopeless(errors, k)) {
        return false;
      }
    }
    if (!(reached <= enough())) return false;
    std::vector<double> found(rhs.begin(), rhs.begin() + k);
    for (int i = k - 1; i >= 0; --i) {
      for (int j = i + 1; j < k; ++j) found[i] -= columns[j][i] * found[j];
      found[i] /= columns[i][i];
    }
    context_.device.to_device(coefficients_, found.data(), found.size() * sizeof(double));
    if (singles > 0) {
      simt::launch(context_, correct<float>, dim3(blocks_), dim3(group), 0, single(0), 2 * n64(), n_, singles,
                   coefficients_, y_);
    }
    if (k > singles) {
      simt::launch(context_, correct<double>, dim3(blocks_), dim3(group), 0, directions_ + singles * n64(),
                   n64(), n_, k - singles, coefficients_ + singles, y_);
    }
    return true;
  }

  /// Whether at the last iteration's rate many more would be needed, which must be for the rounding of
  /// directions in float: where the factors are nearly singular, the direction of that outgrows and drowns
  /// all others. Converting the factors costs about as much as an iteration, and in double a few suffice.
  bool slow(const std::vector<double>& errors) const {
    constexpr int many = 8;
    const std::size_t count = errors.size();
    if (count < 2) return false;
    const double gain = std::log2(errors[count - 2] / errors[count - 1]);
    return !(gain > 0 && std::log2(errors[count - 1] / enough()) <= many * gain);
  }
  /// Whether in double too the iterations left will not do at the rate of the last ones. k: all of them, of
  /// which the last ones had these errors.
  bool hopeless(const std::vector<double>& errors, int k) const {
    constexpr std::size_t looked_back = 3;
    const std::size_t count = errors.size();
    if (count <= looked_back) return false;
    const double gain = std::log2(errors[count - 1 - looked_back] / errors[count - 1]) / looked_back;
    // A little beyond what there is: convergence often becomes quicker.
    return !(gain > 0 && k + std::log2(errors[count - 1] / enough()) / gain <= most_iterations + 10);
  }

  Context& context_;
  MatrixView<T> a_;
  int n_;
  unsigned blocks_;
  std::int64_t ld_;
  Workspace& memory_;
  double* wide_;  // the factors in double, once they are
  float* lu_;     // those in float, until then: the second half of the same room
  bool in_double_ = false;
  int* pivots_;  // and info behind them
  std::byte* solving_;
  double *row_scale_, *column_scale_, *w_, *y_, *slices_, *other_slices_, *basis_;
  double* directions_;
  double *parts_, *squares_;
  Scalars* scalars_;
  double* coefficients_;
  double norm_of_a_ = 0;
  double scale_of_rows_ = 1;
  double scale_of_columns_ = 1;
};

}  // namespace gaussweep::cuda::mixed
