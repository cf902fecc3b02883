#pragma once
/// Copies a matrix to memory with a different leading dimension, and pads it.

#include <algorithm>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// A column-major matrix that copy_columns copies and pads with an identity.
template <class T>
struct CopySource {
  const T* from;
  std::int64_t ld;
  int order;           ///< order of the matrix; elements beyond the matrix are those of the identity
  bool lower = false;  ///< elements above the diagonal are neither read nor written
};

/// Copies the first `rows` rows and `columns` columns of the padded matrix to `to`. A block of 256 threads
/// copies 1024 rows of every gridDim.y-th column.
template <class T>
__global__ void __launch_bounds__(256)
    copy_columns(CopySource<T> m, T* to, std::int64_t ld_to, int rows, int columns) {
  constexpr int rows_per_thread = 4;
  const int begin = static_cast<int>(blockIdx.x) * rows_per_thread * 256 + static_cast<int>(threadIdx.x);
  for (int j = static_cast<int>(blockIdx.y); j < columns; j += static_cast<int>(gridDim.y)) {
    const int first = m.lower ? j : 0;  // the first row to copy
    if (begin + (rows_per_thread - 1) * 256 < first) continue;
    T value[rows_per_thread];
    GAUSSWEEP_UNROLL
    for (int i = 0; i < rows_per_thread; ++i) {
      const int row = begin + i * 256;
      const bool inside = row >= first && row < m.order && j < m.order;
      value[i] = inside ? m.from[row + j * m.ld] : T(row == j ? 1 : 0);
    }
    GAUSSWEEP_UNROLL
    for (int i = 0; i < rows_per_thread; ++i) {
      const int row = begin + i * 256;
      if (row >= first && row < rows) to[row + j * ld_to] = value[i];
    }
  }
}

/// Copies a matrix as copy_columns does. Asynchronous.
template <class T>
void copy_matrix(Context& context, const CopySource<T>& matrix, T* to, std::int64_t ld_to, int rows,
                 int columns) {
  context.stage("copy");
  // gridDim.y is at most 65535; copy_columns therefore loops over the columns.
  const dim3 grid(static_cast<unsigned>((rows + 1023) / 1024),
                  static_cast<unsigned>(std::min(columns, 32768)));
  simt::launch(context, copy_columns<T>, grid, dim3(256), 0, matrix, to, ld_to, rows, columns);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
