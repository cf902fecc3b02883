// Implements reductions.hpp: reductions on the CPU, and checks that elements are on the host.

#include "kernels/check/reductions.hpp"

#include <stdexcept>

namespace gaussweep {

template <class T>
const HostMatrix<T>& require_on_host(const HostMatrix<T>& a) {
  if (is_on_host(a)) return a;
  throw std::invalid_argument("check: a matrix of " + std::to_string(a.rows) + " x " +
                              std::to_string(a.cols) + " has only " + std::to_string(a.data.size()) +
                              " of its elements on the host");
}

template <class T>
void require_on_host(const ProductOperands<T>& operands, const ResidualTarget<T>& target) {
  require_on_host(*operands.left.matrix);
  require_on_host(*operands.right.matrix);
  if (target.matrix != nullptr) require_on_host(*target.matrix);
}

template <class T>
std::optional<ElementIndex> HostReductions<T>::first_not_finite(const HostMatrix<T>& a, MatrixPart part) {
  require_on_host(a);
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!std::isfinite(a(i, j))) return ElementIndex{i, j};
    }
  }
  return std::nullopt;
}

template <class T>
std::vector<double> HostReductions<T>::column_maxima(const HostMatrix<T>& a) {
  require_on_host(a);
  std::vector<double> maxima;
  for (std::int64_t j = 0; j < a.cols; ++j) {
    double largest = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(a(i, j))));
    }
    maxima.push_back(largest);
  }
  return maxima;
}

template const HostMatrix<float>& require_on_host(const HostMatrix<float>&);
template const HostMatrix<double>& require_on_host(const HostMatrix<double>&);
template void require_on_host(const ProductOperands<float>&, const ResidualTarget<float>&);
template void require_on_host(const ProductOperands<double>&, const ResidualTarget<double>&);
template class HostReductions<float>;
template class HostReductions<double>;

}  // namespace gaussweep
