#pragma once
/// What geinv/recursive does beside LU, the inverse of L and the solve: all that moves elements.
///
/// U X = L^-1 is solved as a system with a unit lower triangle: both turned upside down, and each row divided
/// by U's element on the diagonal.

#include <cstdint>

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::inverse {

constexpr int threads = 256;

/// Which element of a matrix of `order` rows a thread has: gridDim.y columns, as many rows as blocks have
/// threads.
struct Place {
  __device__ Place()
      : row(static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)), column(static_cast<int>(blockIdx.y)) {}
  int row, column;
};

/// `to` (order x order) = the n x n matrix `from`, continued by an identity.
template <class T>
__global__ void __launch_bounds__(threads)
    continue_by_identity(const T* from, std::int64_t ld, int n, T* to, int order) {
  const Place p;
  if (p.row >= order) return;
  T value = p.row == p.column ? T(1) : T(0);
  if (p.row < n && p.column < n) value = from[p.row + p.column * ld];
  to[p.row + p.column * static_cast<std::int64_t>(order)] = value;
}

/// The same, launched.
template <class T>
void continue_matrix(Context& context, const T* from, std::int64_t ld, int n, T* to, int order) {
  context.stage("copy");
  const dim3 grid(static_cast<unsigned>((order + threads - 1) / threads), static_cast<unsigned>(order));
  simt::launch(context, continue_by_identity<T>, grid, dim3(threads), 0, from, ld, n, to, order);
}

/// Below the diagonal of `to`: U, upside down, its rows divided by the diagonal, which goes to `diagonal`.
template <class T>
__global__ void __launch_bounds__(threads)
    turn_upper(const T* u, std::int64_t ldu, int order, T* to, T* diagonal) {
  const Place p;  // of U
  if (p.row > p.column) return;
  const T pivot = u[p.row * (ldu + 1)];
  if (p.row == p.column) {
    diagonal[p.row] = pivot;
  } else {
    to[order - 1 - p.row + (order - 1 - p.column) * static_cast<std::int64_t>(order)] =
        u[p.row + p.column * ldu] / pivot;
  }
}

/// L^-1 likewise, column j to where P has its row: column rows_at[j] of `to`.
template <class T>
__global__ void __launch_bounds__(threads)
    turn_inverse(const T* inverse, int order, const T* diagonal, const int* rows_at, T* to, std::int64_t ld) {
  const Place p;
  if (p.row >= order) return;
  to[order - 1 - p.row + rows_at[p.column] * ld] =
      inverse[p.row + p.column * static_cast<std::int64_t>(order)] / diagonal[p.row];
}

/// The n x n matrix `to` = the first rows and columns of `from`, of `order` rows, turned back; both may be
/// one.
template <class T>
__global__ void __launch_bounds__(threads)
    turn_back(const T* from, std::int64_t ld_from, int order, T* to, std::int64_t ld_to, int n) {
  const Place p;
  const int other = order - 1 - p.row;
  if (p.row > other) return;
  const T upper = from[p.row + p.column * ld_from];
  const T lower = from[other + p.column * ld_from];
  if (p.row < n) to[p.row + p.column * ld_to] = lower;
  if (other < n) to[other + p.column * ld_to] = upper;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::inverse
