#pragma once
/// The numbers that a verdict is made of and that take a pass over a matrix, or a product. They are computed
/// on the CPU, or on the device where the matrices lie (device_reductions.hpp). The same bits on either.

#include <optional>
#include <vector>

#include "kernels/residual/residual.hpp"

namespace gaussweep {

struct Place {
  std::int64_t row, col;
};

/// Whether a matrix has its elements on the host. Of one that lies on a device alone they are released: it
/// has its sizes, and `data` is empty.
template <class T>
bool lies_on_host(const HostMatrix<T>& a) {
  return a.data.size() == static_cast<std::size_t>(a.rows * a.cols);
}
/// The matrix, or those of a product. @throws std::invalid_argument where one has them elsewhere
template <class T>
const HostMatrix<T>& require_on_host(const HostMatrix<T>& a);
template <class T>
void require_on_host(const Factors<T>& factors, const Target<T>& target);

/// Matrices are named by their host copies. @pre of all but first_not_finite and max_norm: what counts is
/// finite @throws std::invalid_argument for a matrix that lies elsewhere
template <class T>
class Reductions {
 public:
  virtual ~Reductions() = default;
  /// The first NaN or Inf, column after column.
  virtual std::optional<Place> first_not_finite(const HostMatrix<T>& a, Part part) = 0;
  /// NaN where there is one.
  virtual double max_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled one_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled infinity_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled symmetric_norm(const HostMatrix<T>& a, Part part) = 0;
  virtual Scaled frobenius_norm(const HostMatrix<T>& a) = 0;
  /// max |a_ij| of every column.
  virtual std::vector<double> column_maxima(const HostMatrix<T>& a) = 0;
  /// @param x_norm, y_norm their max_norm over `part` @pre the same shapes, not empty
  virtual ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, Part part,
                                               double x_norm, double y_norm) = 0;
  virtual std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target<T>& target,
                                                       Measure measure) = 0;
  virtual double largest_share(const Factors<T>& factors, const Target<T>& target,
                               const Allowance& allowance) = 0;
};

/// On the CPU: norms.hpp and residual.hpp.
template <class T>
class HostReductions final : public Reductions<T> {
 public:
  std::optional<Place> first_not_finite(const HostMatrix<T>& a, Part part) override;
  double max_norm(const HostMatrix<T>& a, Part part) override {
    return gaussweep::max_norm(require_on_host(a), part);
  }
  Scaled one_norm(const HostMatrix<T>& a, Part part) override {
    return gaussweep::one_norm(require_on_host(a), part);
  }
  Scaled infinity_norm(const HostMatrix<T>& a, Part part) override {
    return gaussweep::infinity_norm(require_on_host(a), part);
  }
  Scaled symmetric_norm(const HostMatrix<T>& a, Part part) override {
    return gaussweep::symmetric_norm(require_on_host(a), part);
  }
  Scaled frobenius_norm(const HostMatrix<T>& a) override {
    return gaussweep::frobenius_norm(require_on_host(a));
  }
  std::vector<double> column_maxima(const HostMatrix<T>& a) override;
  ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, Part part,
                                       double x_norm, double y_norm) override {
    return gaussweep::element_difference(require_on_host(x), require_on_host(y), part, x_norm, y_norm);
  }
  std::vector<ColumnResidual> residual_columns(const Factors<T>& factors, const Target<T>& target,
                                               Measure measure) override {
    require_on_host(factors, target);
    return gaussweep::residual_columns(factors, target, measure);
  }
  double largest_share(const Factors<T>& factors, const Target<T>& target,
                       const Allowance& allowance) override {
    require_on_host(factors, target);
    return gaussweep::largest_share(factors, target, allowance);
  }
};

}  // namespace gaussweep
