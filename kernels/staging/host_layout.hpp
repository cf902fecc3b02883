#pragma once
/// Converts between column-major matrices on the host and row-major matrices on a device, one row panel at a
/// time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/core/matrix.hpp"
#include "kernels/core/parallel_rows.hpp"
#include "kernels/device/gapped_layout.hpp"

namespace gaussweep::host_layout {

/// Calls copy(i, j) for every element, tile by tile, on several threads. In a transposition, a tile of the
/// source and a tile of the destination fit in cache together.
template <class Copy>
void transpose_blocked(std::int64_t rows, std::int64_t cols, Copy copy) {
  constexpr std::int64_t tile = 32;
  const double cost = static_cast<double>(rows) * static_cast<double>(cols);
  for_row_ranges((rows + tile - 1) / tile, /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i0 = begin * tile; i0 < std::min(end * tile, rows); i0 += tile) {
      const std::int64_t i1 = std::min(i0 + tile, rows);
      for (std::int64_t j0 = 0; j0 < cols; j0 += tile) {
        const std::int64_t j1 = std::min(j0 + tile, cols);
        for (std::int64_t i = i0; i < i1; ++i) {
          for (std::int64_t j = j0; j < j1; ++j) copy(i, j);
        }
      }
    }
  });
}

/// Returns the number of rows per panel of 64 MiB. Matrices are converted panel by panel, so that the host
/// needs no second copy of a large matrix.
inline std::int64_t panel_rows(std::int64_t row_bytes) {
  constexpr std::int64_t panel_bytes = std::int64_t{64} << 20;
  return std::max<std::int64_t>(32, panel_bytes / std::max<std::int64_t>(1, row_bytes) / 32 * 32);
}

/// Writes rows i0 to i0 + count - 1 of the matrices `parts`, side by side, to a row-major matrix. Fills the
/// padding behind each row, up to `ld`, with the pattern of `padding`. If `padding` is null, the padding
/// stays unchanged.
template <class T>
void pack_rows(T* to, std::int64_t ld, const std::vector<MatrixView<const T>>& parts,
               const MemoryGap* padding, std::int64_t i0, std::int64_t count) {
  std::int64_t width = 0;
  for (const MatrixView<const T>& part : parts) {
    const T* from = part.data + i0;
    T* first = to + width;
    transpose_blocked(count, part.cols,
                      [&](std::int64_t i, std::int64_t j) { first[i * ld + j] = from[i + j * part.rows]; });
    width += part.cols;
  }
  if (padding == nullptr) return;
  padding->write(to + width, padding->stride, static_cast<std::size_t>(i0), static_cast<std::size_t>(count));
}

/// Copies `count` dense row-major rows to rows i0, i0 + 1, ... of a column-major matrix.
template <class T>
void unpack_rows(const MatrixView<T>& to, const T* rows, std::int64_t i0, std::int64_t count) {
  T* column = to.data + i0;
  transpose_blocked(count, to.cols,
                    [&](std::int64_t i, std::int64_t j) { column[i + j * to.rows] = rows[i * to.cols + j]; });
}

/// Uploads the matrices `parts`, side by side, as one row-major matrix. `padding`: see pack_rows.
template <class T>
void upload_rows(Device& device, T* destination, std::int64_t ld,
                 const std::vector<MatrixView<const T>>& parts, const MemoryGap* padding) {
  const std::int64_t rows = parts.front().rows;
  const std::int64_t step = std::min(rows, panel_rows(ld * static_cast<std::int64_t>(sizeof(T))));
  std::vector<T> panel(static_cast<std::size_t>(step * ld));
  for (std::int64_t i0 = 0; i0 < rows; i0 += step) {
    const std::int64_t count = std::min(step, rows - i0);
    pack_rows(panel.data(), ld, parts, padding, i0, count);
    device.to_device(destination + i0 * ld, panel.data(), static_cast<std::size_t>(count * ld) * sizeof(T));
  }
}

/// Downloads a row-major view into a column-major matrix.
template <class T>
void download_rows(Device& device, const MatrixView<T>& to, const T* source, std::int64_t ld) {
  const std::int64_t width = to.cols;
  const auto width_bytes = static_cast<std::size_t>(width) * sizeof(T);
  const std::int64_t step = std::min(to.rows, panel_rows(static_cast<std::int64_t>(width_bytes)));
  std::vector<T> panel(static_cast<std::size_t>(step * width));
  for (std::int64_t i0 = 0; i0 < to.rows; i0 += step) {
    const std::int64_t count = std::min(step, to.rows - i0);
    device.to_host_2d(panel.data(), width_bytes, source + i0 * ld, static_cast<std::size_t>(ld) * sizeof(T),
                      width_bytes, static_cast<std::size_t>(count));
    unpack_rows(to, panel.data(), i0, count);
  }
}

}  // namespace gaussweep::host_layout
