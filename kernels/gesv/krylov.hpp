#pragma once
/// The small part of GMRES for one right-hand side, on the host. It solves the least squares problem of the
/// Hessenberg matrix by rotations, and tells from its residuals how many iterations are to come.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gaussweep::mixed {

/// One cycle of one right-hand side. Residuals are in relation to what they are to be small against.
class Krylov {
 public:
  /// `norm`: of the residual where the cycle begins; `scale`: what makes a norm a residual; `enough`: the
  /// residual that is asked for.
  void start(double norm, double scale, double enough) {
    *this = {};
    scale_ = scale;
    enough_ = enough;
    rhs_ = {norm};
  }

  /// One iteration, by the next column of the Hessenberg matrix: as many elements as iterations, and one.
  /// @return the residual then
  double add(const double* column) {
    const std::size_t k = columns_.size();
    std::vector<double> h(column, column + k + 2);
    for (std::size_t i = 0; i < k; ++i) {
      const double above = cosine_[i] * h[i] + sine_[i] * h[i + 1];
      h[i + 1] = cosine_[i] * h[i + 1] - sine_[i] * h[i];
      h[i] = above;
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

  /// Whether the residual is small enough; not where it is NaN.
  bool reached() const { return !errors_.empty() && errors_.back() <= enough_; }

  /// Directions have become better ones: their rate is not known yet.
  void forget_rate() { errors_ = {errors_.back()}; }

  /// Whether at the last iteration's rate many more would be needed.
  bool slow() const {
    constexpr int many = 8;
    const std::size_t count = errors_.size();
    if (count < 2) return false;
    const double gain = std::log2(errors_[count - 2] / errors_[count - 1]);
    return !(gain > 0 && missing() <= many * gain);
  }
  /// Whether at the rate of the last iterations those that are left, of `most` in all, will not do.
  bool hopeless(int most) const {
    constexpr std::size_t looked_back = 3;
    const std::size_t count = errors_.size();
    if (count <= looked_back) return false;
    const double gain = std::log2(errors_[count - 1 - looked_back] / errors_[count - 1]) / looked_back;
    // A little beyond what there is: convergence often becomes quicker.
    return !(gain > 0 && static_cast<double>(columns_.size()) + missing() / gain <= most + 10);
  }

  /// What the directions contribute to the answer, by back substitution.
  std::vector<double> coefficients() const {
    const std::size_t k = columns_.size();
    std::vector<double> found(rhs_.begin(), rhs_.begin() + static_cast<std::ptrdiff_t>(k));
    for (std::size_t i = k; i-- > 0;) {
      for (std::size_t j = i + 1; j < k; ++j) found[i] -= columns_[j][i] * found[j];
      found[i] /= columns_[i][i];
    }
    return found;
  }

 private:
  /// Binary digits between the residual and what is asked for.
  double missing() const { return std::log2(errors_.back() / enough_); }

  double scale_ = 0, enough_ = 0;
  std::vector<std::vector<double>> columns_;  // of R
  std::vector<double> cosine_, sine_, rhs_, errors_;
};

}  // namespace gaussweep::mixed
