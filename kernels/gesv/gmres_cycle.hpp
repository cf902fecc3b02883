#pragma once
/// The host part of GMRES for one right-hand side, for gesv/mixed_gmres and posv/mixed_gmres. Solves the
/// least squares problem of the Hessenberg matrix by Givens rotations, and predicts from the residuals how
/// many more iterations are needed.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gaussweep::mixed {

/// One GMRES cycle for one right-hand side: the iterations until the solution is corrected. A *relative
/// residual* is the residual's 2-norm times the factor `scale` of start(). *Directions* are the
/// preconditioned basis vectors of the Krylov space.
class GmresCycle {
 public:
  /// Starts a cycle.
  /// @param norm the 2-norm of the first residual
  /// @param scale the factor that makes a residual's 2-norm relative
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
    const std::size_t k = columns_.size();  // the index of the column, from 0
    std::vector<double> h(column, column + k + 2);
    for (std::size_t i = 0; i < k; ++i) {
      const double rotated = cosine_[i] * h[i] + sine_[i] * h[i + 1];
      h[i + 1] = cosine_[i] * h[i + 1] - sine_[i] * h[i];
      h[i] = rotated;
    }
    // The next rotation makes h[k + 1] 0.
    const double length = std::hypot(h[k], h[k + 1]);
    cosine_.push_back(h[k] / length);
    sine_.push_back(h[k + 1] / length);
    h[k] = length;
    rhs_.push_back(-sine_[k] * rhs_[k]);
    rhs_[k] *= cosine_[k];
    columns_.push_back(std::move(h));
    residuals_.push_back(std::fabs(rhs_.back()) * scale_);
    return residuals_.back();
  }

  /// Returns true if the last residual is at most the target; false if it is NaN.
  bool has_reached_target() const { return !residuals_.empty() && residuals_.back() <= target_; }

  /// Discards all residuals but the last, so that is_slow() and is_hopeless() compute the rate of convergence
  /// only from later ones. Call this if the next directions come from more accurate factors.
  void forget_rate() { residuals_ = {residuals_.back()}; }

  /// Returns true if the target would need more than 8 further iterations that each reduce the residual by
  /// the factor of the last iteration.
  bool is_slow() const {
    constexpr int max_further = 8;
    const std::size_t count = residuals_.size();
    if (count < 2) return false;
    const double gained_bits = std::log2(residuals_[count - 2] / residuals_[count - 1]);  // per iteration
    return !(gained_bits > 0 && missing_bits() <= max_further * gained_bits);
  }
  /// Returns true if `max_iterations` + 10 iterations would not suffice at the mean rate of the last three
  /// iterations. The 10 are added because convergence often accelerates.
  bool is_hopeless(int max_iterations) const {
    constexpr std::size_t window = 3;
    const std::size_t count = residuals_.size();
    if (count <= window) return false;
    const double gained_bits = std::log2(residuals_[count - 1 - window] / residuals_[count - 1]) / window;
    const auto iterations = static_cast<double>(columns_.size());
    return !(gained_bits > 0 && iterations + missing_bits() / gained_bits <= max_iterations + 10);
  }

  /// Returns the coefficients with which the directions are added to the solution, by back substitution.
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
  /// Returns log2 of the factor by which the last residual exceeds the target.
  double missing_bits() const { return std::log2(residuals_.back() / target_); }

  double scale_ = 0, target_ = 0;
  std::vector<std::vector<double>> columns_;  // columns of the Hessenberg matrix's triangular factor R
  std::vector<double> cosine_, sine_;         // the Givens rotations
  std::vector<double> rhs_;  // the rotated right-hand side of the least squares problem; its last element is
                             // the residual's 2-norm up to sign
  std::vector<double> residuals_;  // relative residuals, one per iteration since the last forget_rate()
};

}  // namespace gaussweep::mixed
