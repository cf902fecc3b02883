#pragma once
/// The host part of GMRES for one right-hand side: solves the least squares problem of the Hessenberg matrix
/// by Givens rotations, and predicts the number of remaining iterations from the residuals.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gaussweep::mixed {

/// One cycle for one right-hand side. All residuals are relative.
class Krylov {
 public:
  /// Starts a cycle. @param norm the 2-norm of the first residual @param scale relative residual / 2-norm
  /// @param target the relative residual at which the cycle ends
  void start(double norm, double scale, double target) {
    *this = {};
    scale_ = scale;
    target_ = target;
    rhs_ = {norm};
  }

  /// Adds the next column of the Hessenberg matrix; in iteration k (from 1) it has k + 1 elements.
  /// @return the relative residual after this iteration
  double add(const double* column) {
    const std::size_t k = columns_.size();
    std::vector<double> h(column, column + k + 2);
    for (std::size_t i = 0; i < k; ++i) {
      const double rotated = cosine_[i] * h[i] + sine_[i] * h[i + 1];
      h[i + 1] = cosine_[i] * h[i + 1] - sine_[i] * h[i];
      h[i] = rotated;
    }
    const double length = std::hypot(h[k], h[k + 1]);
    cosine_.push_back(h[k] / length);
    sine_.push_back(h[k + 1] / length);
    h[k] = length;
    rhs_.push_back(-sine_[k] * rhs_[k]);
    rhs_[k] *= cosine_[k];
    columns_.push_back(std::move(h));
    errors_.push_back(std::fabs(rhs_.back()) * scale_);
    return errors_.back();
  }

  /// Returns true if the residual has reached the target; false if it is NaN.
  bool reached() const { return !errors_.empty() && errors_.back() <= target_; }

  /// Forgets the rate of convergence. Call this if the next directions come from more accurate factors.
  void forget_rate() { errors_ = {errors_.back()}; }

  /// Returns true if more than 8 further iterations would be needed at the rate of the last one.
  bool slow() const {
    constexpr int max_further = 8;
    const std::size_t count = errors_.size();
    if (count < 2) return false;
    const double gain = std::log2(errors_[count - 2] / errors_[count - 1]);
    return !(gain > 0 && missing_bits() <= max_further * gain);
  }
  /// Returns true if `max_iterations` iterations would not suffice at the mean rate of the last three
  /// iterations.
  bool hopeless(int max_iterations) const {
    constexpr std::size_t window = 3;
    const std::size_t count = errors_.size();
    if (count <= window) return false;
    const double gain = std::log2(errors_[count - 1 - window] / errors_[count - 1]) / window;
    // Allows 10 more iterations than the limit, because convergence often accelerates.
    return !(gain > 0 && static_cast<double>(columns_.size()) + missing_bits() / gain <= max_iterations + 10);
  }

  /// Returns the coefficients of the directions in the correction, by back substitution.
  std::vector<double> coefficients() const {
    const std::size_t k = columns_.size();
    std::vector<double> solution(rhs_.begin(), rhs_.begin() + static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = k; i-- > 0;) {
      for (std::size_t j = i + 1; j < k; ++j) solution[i] -= columns_[j][i] * solution[j];
      solution[i] /= columns_[i][i];
    }
    return solution;
  }

 private:
  /// Returns log2 of residual / target.
  double missing_bits() const { return std::log2(errors_.back() / target_); }

  double scale_ = 0, target_ = 0;
  std::vector<std::vector<double>> columns_;  // columns of the triangular factor R
  std::vector<double> cosine_, sine_, rhs_, errors_;
};

}  // namespace gaussweep::mixed
