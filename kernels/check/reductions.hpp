#pragma once
/// The interface of the reductions (norms, maxima, residuals) that verification needs. They run on the CPU,
/// or on the device that holds the matrices (device_reductions.hpp). Both implementations give the same bits.

#include <optional>
#include <vector>

#include "kernels/check/residual.hpp"

namespace gaussweep {

/// The indices of an element.
struct ElementIndex {
  std::int64_t row, col;
};

/// Returns true if the matrix's elements are on the host. If they are only on a device, `rows` and `cols` are
/// set and `data` is empty.
template <class T>
bool is_on_host(const HostMatrix<T>& a) {
  return a.data.size() == static_cast<std::size_t>(a.rows * a.cols);
}
/// Check that all elements are on the host. @throws std::invalid_argument if they are not
template <class T>
const HostMatrix<T>& require_on_host(const HostMatrix<T>& a);
template <class T>
void require_on_host(const ProductOperands<T>& operands, const ResidualTarget<T>& target);

/// Reductions of matrices. norms.hpp and residual.hpp document the functions of the same names. The
/// implementation for a device finds the device's copy of a matrix by the address of the HostMatrix.
/// @pre all elements of the part are finite (not required by first_not_finite and max_norm)
/// @throws std::invalid_argument if a matrix's elements are neither on the host nor on this object's device
template <class T>
class Reductions {
 public:
  virtual ~Reductions() = default;
  /// Returns the first NaN or Inf in column-major order.
  virtual std::optional<ElementIndex> first_not_finite(const HostMatrix<T>& a, MatrixPart part) = 0;
  /// Returns max |a_ij|; NaN if an element is NaN.
  virtual double max_norm(const HostMatrix<T>& a, MatrixPart part) = 0;
  virtual WideNumber one_norm(const HostMatrix<T>& a, MatrixPart part) = 0;
  virtual WideNumber infinity_norm(const HostMatrix<T>& a, MatrixPart part) = 0;
  virtual WideNumber symmetric_norm(const HostMatrix<T>& a, MatrixPart part) = 0;
  virtual WideNumber frobenius_norm(const HostMatrix<T>& a) = 0;
  /// Returns max |a_ij| of every column.
  virtual std::vector<double> column_maxima(const HostMatrix<T>& a) = 0;
  /// @param x_norm, y_norm max_norm of x and y over `part`
  /// @pre both have the same shape and are not empty
  virtual ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y,
                                               MatrixPart part, double x_norm, double y_norm) = 0;
  virtual std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                                       const ResidualTarget<T>& target, Measure measure) = 0;
  /// Returns the largest |residual| divided by its allowance.
  virtual double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                                         const Allowance& allowance) = 0;
};

/// Forwards every reduction to another object, which `delegate_for` selects.
template <class T>
class ForwardingReductions : public Reductions<T> {
 public:
  std::optional<ElementIndex> first_not_finite(const HostMatrix<T>& a, MatrixPart part) override {
    return delegate_for(&a).first_not_finite(a, part);
  }
  double max_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return delegate_for(&a).max_norm(a, part);
  }
  WideNumber one_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return delegate_for(&a).one_norm(a, part);
  }
  WideNumber infinity_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return delegate_for(&a).infinity_norm(a, part);
  }
  WideNumber symmetric_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return delegate_for(&a).symmetric_norm(a, part);
  }
  WideNumber frobenius_norm(const HostMatrix<T>& a) override { return delegate_for(&a).frobenius_norm(a); }
  std::vector<double> column_maxima(const HostMatrix<T>& a) override {
    return delegate_for(&a).column_maxima(a);
  }
  ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part,
                                       double x_norm, double y_norm) override {
    return delegate_for(&x).element_difference(x, y, part, x_norm, y_norm);
  }
  std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                               const ResidualTarget<T>& target, Measure measure) override {
    return delegate_for(/*a=*/nullptr).residual_columns(operands, target, measure);
  }
  double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                                 const Allowance& allowance) override {
    return delegate_for(/*a=*/nullptr).largest_allowance_ratio(operands, target, allowance);
  }

 private:
  /// Returns the object that reduces `a`; if `a` is null, the object that computes products.
  virtual Reductions<T>& delegate_for(const HostMatrix<T>* a) = 0;
};

/// Reductions on the CPU (norms.hpp, residual.hpp).
template <class T>
class HostReductions final : public Reductions<T> {
 public:
  std::optional<ElementIndex> first_not_finite(const HostMatrix<T>& a, MatrixPart part) override;
  double max_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return gaussweep::max_norm(require_on_host(a), part);
  }
  WideNumber one_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return gaussweep::one_norm(require_on_host(a), part);
  }
  WideNumber infinity_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return gaussweep::infinity_norm(require_on_host(a), part);
  }
  WideNumber symmetric_norm(const HostMatrix<T>& a, MatrixPart part) override {
    return gaussweep::symmetric_norm(require_on_host(a), part);
  }
  WideNumber frobenius_norm(const HostMatrix<T>& a) override {
    return gaussweep::frobenius_norm(require_on_host(a));
  }
  std::vector<double> column_maxima(const HostMatrix<T>& a) override;
  ElementDifference element_difference(const HostMatrix<T>& x, const HostMatrix<T>& y, MatrixPart part,
                                       double x_norm, double y_norm) override {
    return gaussweep::element_difference(require_on_host(x), require_on_host(y), part, x_norm, y_norm);
  }
  std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                               const ResidualTarget<T>& target, Measure measure) override {
    require_on_host(operands, target);
    return gaussweep::residual_columns(operands, target, measure);
  }
  double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                                 const Allowance& allowance) override {
    require_on_host(operands, target);
    return gaussweep::largest_allowance_ratio(operands, target, allowance);
  }
};

}  // namespace gaussweep
