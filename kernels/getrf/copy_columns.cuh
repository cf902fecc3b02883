#pragma once
/// A matrix to where its columns lie further apart, and back.

#include <algorithm>
#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// The columns of a matrix to where they are `ld_to` apart, and zeros below their `rows` rows, `filled` in
/// all. A block takes 1024 rows of every gridDim.y-th column.
template <class T>
__global__ void __launch_bounds__(256) copy_columns(const T* from, std::int64_t ld_from, T* to,
                                                    std::int64_t ld_to, int rows, int filled, int columns) {
  constexpr int each = 4;
  const int begin = static_cast<int>(blockIdx.x) * each * 256 + static_cast<int>(threadIdx.x);
  for (int j = static_cast<int>(blockIdx.y); j < columns; j += static_cast<int>(gridDim.y)) {
    T value[each];
    GAUSSWEEP_UNROLL
    for (int i = 0; i < each; ++i) {
      const int row = begin + i * 256;
      value[i] = row < rows ? from[row + j * ld_from] : T(0);
    }
    GAUSSWEEP_UNROLL
    for (int i = 0; i < each; ++i) {
      const int row = begin + i * 256;
      if (row < filled) to[row + j * ld_to] = value[i];
    }
  }
}

/// The `rows` x `columns` matrix at `from`, and zeros below it up to `filled` rows.
template <class T>
void copy_matrix(Context& context, const T* from, std::int64_t ld_from, T* to, std::int64_t ld_to, int rows,
                 int filled, int columns) {
  context.stage("copy");
  const dim3 grid(static_cast<unsigned>((filled + 1023) / 1024),
                  static_cast<unsigned>(std::min(columns, 32768)));
  simt::launch(context, copy_columns<T>, grid, dim3(256), 0, from, ld_from, to, ld_to, rows, filled, columns);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
