#pragma once
/// The iteration of gesv/mixed_gmres: scaling, the factors in float, and GMRES for one right-hand side at a
/// time.

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/gesv/mixed_steps.cuh"
#include "kernels/getrf/recursive_lu.cuh"
#include "kernels/trsv/block_chain.hpp"

namespace gaussweep::cuda::mixed {

/// Solves A x = b by flexible GMRES in double, preconditioned by LU factors of R A C in float. T is what A, b
/// and x are given in. Every wait for the device is one for a few numbers that the host decides by.
template <class T>
class Refinement {
 public:
  /// `memory`: refinement_bytes(n).
  Refinement(Context& context, MatrixView<T> a, Workspace& memory)
      : context_(context),
        a_(a),
        n_(static_cast<int>(a.rows)),
        blocks_(static_cast<unsigned>(groups(n_))),
        ld_(leading_dimension(n_)),
        memory_(memory),
        lu_(memory.take<float>(ld_ * n_)),
        pivots_(memory.take<int>(n_ + 1)),
        solving_(memory.take<std::byte>(static_cast<std::int64_t>(solve_lu_workspace(n_, 1, sizeof(float))))),
        row_scale_(memory.take<double>(n_)),
        column_scale_(memory.take<double>(n_)),
        w_(memory.take<double>(n_)),
        y_(memory.take<double>(n_)),
        slices_(memory.take<double>(slices * static_cast<std::int64_t>(n_))),
        other_slices_(memory.take<double>(slices * static_cast<std::int64_t>(n_))),
        basis_(memory.take<double>((most_iterations + 1) * static_cast<std::int64_t>(n_))),
        directions_(memory.take<float>(most_iterations * static_cast<std::int64_t>(n_))),
        parts_(memory.take<double>((most_iterations + 1) * groups(n_))),
        squares_(parts_ + most_iterations * groups(n_)),
        scalars_(reinterpret_cast<Scalars*>(memory.take<double>(gaussweep::mixed::scalars))),
        coefficients_(reinterpret_cast<double*>(scalars_ + 1)) {}

  /// Scales and factors. False where refinement is not worth trying: something is not finite or out of range,
  /// a pivot is 0, or the pivots fall so fast that those to come would drown in float's rounding.
  bool prepare() {
    context_.stage("scale");
    clear();
    simt::launch(context_, measure_rows<T>, dim3(blocks_, slices), dim3(group), 0, a_.data, a_.ld, n_,
                 slice_columns(), slices_, other_slices_);
    simt::launch(context_, scale_rows, dim3(blocks_), dim3(group), 0, slices_, other_slices_, n_, row_scale_,
                 scalars_);
    simt::launch(context_, smallest_scale, dim3(1), dim3(group), 0, row_scale_, n_, scalars_);
    const Scalars measured = read();
    norm_of_a_ = value_of(measured.norm_of_a);
    scale_of_rows_ = measured.scale_of_rows;
    constexpr double margin = sizeof(T) == 8 ? 0x1p500 : 0x1p100;
    if (!(norm_of_a_ >= 1 / margin && norm_of_a_ <= margin)) return false;
    simt::launch(context_, scale_columns<T>, dim3(static_cast<unsigned>(std::min(n_, 4096))), dim3(group), 0,
                 a_.data, a_.ld, n_, row_scale_, column_scale_, lu_, ld_);
    int* const info = pivots_ + n_;
    context_.device.fill(info, 0, sizeof(int));
    lu::SplitProducts products(context_, n_, memory_);
    const bool all = lu::RecursiveLu<float>(context_, lu_, ld_, n_, pivots_, info, memory_)
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
    double largest_x = 0;  // not known yet
    double last_error = std::numeric_limits<double>::infinity();
    for (int cycle = 0; cycle < most_cycles; ++cycle) {
      if (!iterate(largest_x)) return false;
      clear();
      multiply(y_);
      simt::launch(context_, gather_slices<T>, dim3(blocks_), dim3(group), 0, slices_, slices, n_, b,
                   row_scale_, w_, squares_, &scalars_->r);
      const Scalars seen = read();
      largest_x = value_of(seen.x);
      const double left = value_of(seen.r);
      const double error = left == 0 ? 0 : left / (norm_of_a_ * largest_x);
      const bool settled = !(error < last_error / 2);  // rounding rules
      if (error <= tolerance() || (settled && error <= std::sqrt(static_cast<double>(n_)) * unit())) {
        simt::launch(context_, unscale<T>, dim3(blocks_), dim3(group), 0, y_, n_, column_scale_, b);
        return true;
      }
      if (settled) return false;  // NaN comes here
      last_error = error;
    }
    return false;
  }

 private:
  static constexpr double unit() { return sizeof(T) == 8 ? 0x1p-53 : 0x1p-24; }
  /// Of |b - A x| in relation to |A| |x|, in the largest norm.
  static constexpr double tolerance() { return 4 * unit(); }
  static double value_of(Largest bits) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  /// The same of the 2-norm, by which a cycle ends; what the largest norm really is, is looked at then.
  double enough() const { return tolerance() * std::max(1.0, std::sqrt(static_cast<double>(n_)) / 8); }
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
                 slice_columns(), y, column_scale_, slices_, &scalars_->x);
  }

  /// Whether the pivots of the columns so far let expect factors that are good for something.
  bool promising(int columns) {
    const int window = std::max(32, n_ / 256);
    const int distance = std::max(64, n_ / 32);
    if (columns < window + distance) return true;
    context_.stage("inspect");
    simt::launch(context_, inspect_pivots, dim3(1), dim3(group), 0, lu_, ld_, columns, window, distance,
                 scalars_);
    const Scalars seen = read();
    if (!(seen.largest_pivot < most_growth)) return false;
    if (!(seen.smallest_pivot > (columns <= n_ / 2 ? 0x1p-20 : 0x1p-30))) return false;
    // Scaled, a matrix has pivots of about 1 as long as float holds what is left of it. Where they fall
    // evenly, as those of a geometric sequence of singular values do, they would go on to do so.
    const double fall = std::min(0.0, (seen.last_window - seen.first_window) / distance);  // log2 a column
    const double end = seen.last_window + fall * (n_ - columns + window / 2);
    return seen.last_window > -0.25 || (seen.last_window > least_level && end > least_end);
  }
  static constexpr double most_growth = 2048;  ///< of elements: half of what a half holds, scaled
  static constexpr double least_level = -10;   ///< log2 of pivots; below, float's rounding errors rule them
  static constexpr double least_end = -12.5;   ///< the same of the last ones

  /// One cycle from the residual in w_, whose groups' squares are known: y_ += what it found. False where it
  /// makes no headway. `largest_x`: of x so far, 0 at the start.
  bool iterate(double largest_x) {
    IterationReport& report = context_.report;
    const std::int64_t n = n_;
    simt::launch(context_, normalise, dim3(blocks_), dim3(group), 0, w_, n_, squares_, basis_, directions_, 0,
                 scalars_);
    std::vector<std::vector<double>> columns;  // of R, from the rotations
    std::vector<double> cosine, sine, rhs, errors;
    double reached = 0;
    int k = 0;
    while (k < std::min(most_iterations, n_)) {
      float* const z = directions_ + k * n;
      solve_lu(context_, n, 1, lu_, ld_, pivots_, z, n, solving_, pivots_ + n_);
      context_.device.fill(&scalars_->x, 0, sizeof(Largest));
      multiply(z);
      double* const next = basis_ + (k + 1) * n;
      simt::launch(context_, gather_slices<T>, dim3(blocks_), dim3(group), 0, slices_, slices, n_,
                   static_cast<const T*>(nullptr), row_scale_, w_, static_cast<double*>(nullptr),
                   static_cast<Largest*>(nullptr));
      if (k == 0) {  // before h is overwritten
        const Scalars seen = read();
        if (seen.h[0] == 0) return true;  // b = 0
        rhs.push_back(seen.h[0]);
        if (largest_x == 0) largest_x = seen.h[0] * value_of(seen.x);
      }
      for (const bool again : {false, true}) {
        simt::launch(context_, project, dim3(blocks_), dim3(group), 0, basis_, n_, k + 1, w_, parts_);
        simt::launch(context_, subtract_projection, dim3(blocks_), dim3(group), 0, basis_, n_, k + 1, w_,
                     parts_, again, squares_, scalars_);
      }
      simt::launch(context_, normalise, dim3(blocks_), dim3(group), 0, w_, n_, squares_, next,
                   k + 1 < most_iterations ? z + n : static_cast<float*>(nullptr), k + 1, scalars_);
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
      reached = std::fabs(rhs[k]) / (scale_of_rows_ * norm_of_a_ * largest_x);
      errors.push_back(reached);
      ++report.iterations;
      report.history.push_back(reached);
      if (!(reached > enough())) break;
      if (hopeless(errors)) return false;
    }
    if (!(reached <= enough())) return false;
    std::vector<double> found(rhs.begin(), rhs.begin() + k);
    for (int i = k - 1; i >= 0; --i) {
      for (int j = i + 1; j < k; ++j) found[i] -= columns[j][i] * found[j];
      found[i] /= columns[i][i];
    }
    context_.device.to_device(coefficients_, found.data(), found.size() * sizeof(double));
    simt::launch(context_, correct, dim3(blocks_), dim3(group), 0, directions_, n_, k, coefficients_, y_);
    return true;
  }

  /// Whether the iterations left will not do at the rate of the last ones.
  bool hopeless(const std::vector<double>& errors) const {
    constexpr int looked_back = 4;
    const int k = static_cast<int>(errors.size());
    if (k <= looked_back) return false;
    const double gain = std::log2(errors[k - 1 - looked_back] / errors[k - 1]) / looked_back;
    return !(gain > 0 && k + std::log2(errors[k - 1] / tolerance()) / gain <= 2 * most_iterations);
  }

  Context& context_;
  MatrixView<T> a_;
  int n_;
  unsigned blocks_;
  std::int64_t ld_;
  Workspace& memory_;
  float* lu_;
  int* pivots_;  // and info behind them
  std::byte* solving_;
  double *row_scale_, *column_scale_, *w_, *y_, *slices_, *other_slices_, *basis_;
  float* directions_;
  double *parts_, *squares_;
  Scalars* scalars_;
  double* coefficients_;
  double norm_of_a_ = 0;
  double scale_of_rows_ = 1;
};

}  // namespace gaussweep::cuda::mixed
