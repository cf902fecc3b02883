#pragma once
/// Conversions between the dense matrices of io/ and of kernels/.

#include <string>

#include "io/matrix/matrix_file.hpp"
#include "kernels/core/matrix.hpp"

namespace gaussweep::driver {

/// Returns the matrix with each element rounded to T; a no-op for double. An element beyond the range of T is
/// an error. An element may become 0 or subnormal only if its row and its column each contain a number that
/// is normal in T. The rounding error of the normal number exceeds this loss. Otherwise a whole row or column
/// could be lost unnoticed.
/// @throws io::InputError naming `file`, the element (counted from 1) and its value
template <class T>
io::Dense<T> rounded(io::Dense<double>&& a, const std::string& file);

/// Returns a view of a matrix without copying it.
template <class T>
io::DenseView<T> dense_view(const HostMatrix<T>& matrix) {
  return {matrix.rows, matrix.cols, matrix.data.data()};
}

}  // namespace gaussweep::driver
