#include "kernels/check/reductions.hpp"

namespace gaussweep {

template <class T>
std::optional<Place> HostReductions<T>::first_not_finite(const HostMatrix<T>& a, Part part) {
  for (std::int64_t j = 0; j < a.cols; ++j) {
    const RowRange range = rows_of(part, a.rows, j);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!std::isfinite(a(i, j))) return Place{i, j};
    }
  }
  return std::nullopt;
}

template <class T>
std::vector<double> HostReductions<T>::column_maxima(const HostMatrix<T>& a) {
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

template class HostReductions<float>;
template class HostReductions<double>;

}  // namespace gaussweep
