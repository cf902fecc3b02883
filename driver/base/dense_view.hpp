#pragma once
/// Converts a matrix of kernels/ to the view that io/ uses.

#include "io/matrix/matrix_file.hpp"
#include "kernels/core/matrix.hpp"

namespace gaussweep::driver {

/// Returns a view of a matrix without copying it.
template <class T>
io::DenseView<T> dense_view(const HostMatrix<T>& matrix) {
  return {matrix.rows, matrix.cols, matrix.data.data()};
}

}  // namespace gaussweep::driver
