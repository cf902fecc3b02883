#pragma once
/// The numbers that a verdict is made of and that take a pass over a matrix, or a product: taken on the CPU,
/// or on the device where the matrices lie (device_reductions.hpp). The same bits on either.

#include <optional>
#include <vector>

#include "kernels/check/residual.hpp"

namespace gaussweep {

struct Place {
  std::int64_t row, col;
};

/// Matrices are named by their host copies. @pre of all but first_not_finite: what counts is finite
template <class T>
class Reductions {
 public:
  virtual ~Reductions() = default;
  /// The first NaN or Inf, column after column.
  virtual std::optional<Place> first_not_finite(const HostMatrix<T>& a, Part part) = 0;
  virtual double max_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled one_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled infinity_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled symmetric_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled frobenius_norm(const HostMatrix<T>& a) = 0;
  /// max |a_ij| of every column.
  virtual std::vector<double> column_maxima(const HostMatrix<T>& a) = 0;
  virtual std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target<T>& target,
                                                       Measure measure) = 0;
  virtual double largest_share(const Factors<T>& factors, const Target<T>& target, double slope,
                               const Scaled& floor) = 0;
};

/// On the CPU: norms.hpp and residual.hpp.
template <class T>
class HostReductions final : public Reductions<T> {
 public:
  std::optional<Place> first_not_finite(const HostMatrix<T>& a, Part part) override;
  double max_norm(const HostMatrix<T>& a, Part part) override { return gaussweep::max_norm(a, part); }
  Scaled one_norm(const HostMatrix<T>& a, Part part) override { return gaussweep::one_norm(a, part); }
  Scaled infinity_norm(const HostMatrix<T>& a, Part part) override {
    return gaussweep::infinity_norm(a, part);
  }
  Scaled symmetric_norm(const HostMatrix<T>& a, Part part) override {
    return gaussweep::symmetric_norm(a, part);
  }
  Scaled frobenius_norm(const HostMatrix<T>& a) override { return gaussweep::frobenius_norm(a); }
  std::vector<double> column_maxima(const HostMatrix<T>& a) override;
  std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target<T>& target,
                                               Measure measure) override {
    return gaussweep::residual_columns(factors, target, measure);
  }
  double largest_share(const Factors<T>& factors, const Target<T>& target, double slope,
                       const Scaled& floor) override {
    return gaussweep::largest_share(factors, target, slope, floor);
  }
};

}  // namespace gaussweep
