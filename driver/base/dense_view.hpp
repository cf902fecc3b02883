#pragma once
/// A matrix of kernels/ as io/ takes it.

#include "io/matrix/matrix_file.hpp"
#include "kernels/core/matrix.hpp"

namespace gaussweep::driver {

template <class T>
io::DenseView<T> dense_view(const HostMatrix<T>& matrix) {
  return {matrix.rows, matrix.cols, matrix.data.data()};
}

}  // namespace gaussweep::driver
