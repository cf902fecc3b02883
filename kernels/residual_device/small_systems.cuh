#pragma once
/// The judge of systems of up to N x N elements: N lanes of a warp each. A lane has a row of the left operand
/// in registers; the right one lies in shared memory.

#include "kernels/residual_device/system_judge.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

constexpr int small_threads = 128;

/// The right operand, column after column. Systems of a warp and columns begin in banks of their own.
template <int N, class T>
struct RightOperand {
  static constexpr int pitch = N + 16 / static_cast<int>(sizeof(T));
  alignas(16) T columns[N * pitch + 32 / sizeof(T)];
};

/// Row `lane`; 0 where nothing counts. It loads in any case: loads under conditions wait for each other.
template <int N, class T>
__device__ __forceinline__ void load_row(const Elements<T>& m, T (&row)[N]) {
  const int i = lane_of<N>(), cols = static_cast<int>(m.cols);
  const int begin = m.part == Part::upper ? i : 0;
  const int end = i >= m.rows ? 0 : m.part == Part::lower ? min(cols, i + 1) : cols;
  const int first = i * static_cast<int>(m.down), across = static_cast<int>(m.across);
  GAUSSWEEP_UNROLL
  for (int j = 0; j < N; ++j) row[j] = m.data[j >= begin && j < end ? first + j * across : 0];
  GAUSSWEEP_UNROLL
  for (int j = 0; j < N; ++j) row[j] = j >= begin && j < end ? row[j] : T(0);
}

/// In every lane; NaN where one is none.
template <int N, class T>
__device__ __forceinline__ double largest_of_rows(const T (&row)[N]) {
  unsigned long long most = 0;
  GAUSSWEEP_UNROLL
  for (int j = 0; j < N; ++j) most = max(most, bits_of(fabs(static_cast<double>(row[j]))));
  return largest_of_lanes<N>(size_of(most));
}

/// In lane j the sum of all lanes' row[j], by halves; j modulo M where there are fewer columns than lanes.
template <int N, int M>
__device__ __forceinline__ double sum_of_column(double (&row)[M]) {
  GAUSSWEEP_UNROLL
  for (int apart = M / 2; apart > 0; apart /= 2) {
    const bool upper = (lane_of<N>() & apart) != 0;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < M / 2; ++j) {
      if (j >= apart) continue;
      const double other = upper ? row[j] : row[j + apart], own = upper ? row[j + apart] : row[j];
      row[j] = own + __shfl_xor_sync(mask_of<N>(), other, apart);
    }
  }
  double sum = row[0];
  GAUSSWEEP_UNROLL
  for (int apart = M; apart < N; apart *= 2) sum += __shfl_xor_sync(mask_of<N>(), sum, apart);
  return sum;
}

/// The largest sum of sizes of a column.
template <int N, class T>
__device__ __forceinline__ double largest_column_sum(const T (&row)[N]) {
  double sizes[N];
  GAUSSWEEP_UNROLL
  for (int j = 0; j < N; ++j) sizes[j] = fabs(static_cast<double>(row[j]));
  return largest_of_lanes<N>(sum_of_column<N>(sizes));
}
template <int N, class T>
__device__ __forceinline__ double sum_of_squares(const T (&row)[N]) {
  double sum = 0;
  GAUSSWEEP_UNROLL
  for (int j = 0; j < N; ++j) sum += static_cast<double>(row[j]) * row[j];
  return sum_of_lanes<N>(sum);
}

/// Which row of A is row `lane` of P A. False where pivots or info are not those of the factors.
template <int N, class T>
__device__ __forceinline__ bool take_row(const Systems<T>& all, std::int64_t s, bool pivot_is_zero,
                                         int& row) {
  const int n = static_cast<int>(all.shape.n), lane = lane_of<N>();
  const int pivot = lane < n ? all.pivots[s * n + lane] : lane;
  const double zeros_from_end = largest_of_lanes<N>(pivot_is_zero && lane < n ? n - lane : 0);
  const double flaws = largest_of_lanes<N>(lane < n && (pivot < 0 || pivot >= n) ? 1 : 0);
  if (flaws != 0 || (all.infos[s] >= 0 && all.infos[s] != info_of(zeros_from_end, n))) return false;
  row = lane;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < N; ++k) {
    const int other = __shfl_sync(mask_of<N>(), pivot, k, N);
    row = __shfl_sync(mask_of<N>(), row, lane == k ? other : lane == other ? k : lane, N);
  }
  return true;
}

/// X of A X = B, a column after the other, and the forward error.
template <int N, class T>
__device__ double solution_of_small(const Systems<T>& all, std::int64_t s, RightOperand<N, T>& right_operand,
                                    double& error) {
  const System<T> system(all, s);
  const int lane = lane_of<N>(), rows = static_cast<int>(all.shape.n), cols = static_cast<int>(system.x.cols);
  T left[N];
  load_row<N>(system.a, left);
  const double most_a = largest_of_rows<N>(left);
  double most_x = 0, most_b = 0, of_row = 0;
  const auto at = [&](const Elements<T>& m, int j) {
    const T value = m.data[lane < rows ? lane + j * rows : 0];
    return lane < rows ? static_cast<double>(value) : 0;
  };
  unsigned long long bits_of_x = 0, bits_of_b = 0;
  GAUSSWEEP_ROLLED
  for (int j = 0; j < cols; ++j) {
    bits_of_x = max(bits_of_x, bits_of(fabs(at(system.x, j))));
    bits_of_b = max(bits_of_b, bits_of(fabs(at(system.b, j))));
  }
  most_x = largest_of_lanes<N>(size_of(bits_of_x));
  most_b = largest_of_lanes<N>(size_of(bits_of_b));
  const double words = foregone<T>(most_a, most_x, most_b);
  if (words != 0) return words;
  GAUSSWEEP_UNROLL
  for (int k = 0; k < N; ++k) of_row += fabs(static_cast<double>(left[k]));
  const double norm = largest_of_lanes<N>(of_row);
  const Sizes sizes{static_cast<double>(rows), static_cast<double>(rows), most_a, most_x};
  const double bias = bias_of<T>(sizes), factor = factor_of<Quotient::solution, T>(all.shape);
  const std::uint64_t seed = all.knows_solution ? seed_of_system(all.solution_seed, s) : 0;
  double ratio = 0, off = 0, largest = 0;
  GAUSSWEEP_ROLLED
  for (int j = 0; j < cols; ++j) {
    const double x = at(system.x, j), b = at(system.b, j);
    __syncwarp(mask_of<N>());
    right_operand.columns[lane] = static_cast<T>(x);
    Sum<T> sum;
    sum.high = bias;
    GAUSSWEEP_UNROLL
    for (int k = 0; k < N; ++k) {
      if (k % 8 == 0) __syncwarp(mask_of<N>());  // nothing is loaded further ahead
      sum.add(left[k], right_operand.columns[k]);
    }
    const double apart = largest_of_lanes<N>(lane < rows ? sum.apart_from(b, bias) : 0);
    const double of_x = largest_of_lanes<N>(fabs(x)), of_b = largest_of_lanes<N>(fabs(b));
    ratio = max(ratio, share(apart, (norm * (of_x + smallest_normal<T>)+of_b) * factor));
    if (!all.knows_solution || lane >= rows) continue;
    const double known = static_cast<T>(signed_unit(seed, RandomStream::solution, lane, j));
    off = max(off, fabs(x - known));
    largest = max(largest, fabs(known));
  }
  if (all.knows_solution) error = share(largest_of_lanes<N>(off), largest_of_lanes<N>(largest));
  return settled<T>(ratio, sizes, (norm * most_x + most_b) * factor, all.tolerance);
}

/// A product beside what it should be.
/// @param x_first inverse: X A instead of A X
template <Quotient Q, int N, class T>
__device__ double ratio_of_small(const Systems<T>& all, std::int64_t s, RightOperand<N, T>& right_operand,
                                 bool x_first) {
  constexpr int group = 4, pitch = RightOperand<N, T>::pitch;  // columns at a time
  constexpr bool is_lu = Q == Quotient::lu_factors, is_cholesky = Q == Quotient::cholesky_factor;
  const System<T> system(all, s);
  const int lane = lane_of<N>();
  const Elements<T> wanted = Q == Quotient::product ? system.x : is_cholesky ? as_lower(system.a) : system.a;
  T left[N];
  double whole = 0, most_wanted = 0, most_left = 0, most_right = 0;
  int row = lane;
  if (is_lu || is_cholesky) {
    load_row<N>(wanted, left);
    most_wanted = largest_of_rows<N>(left);
    double of_row = 0, sizes[N];
    GAUSSWEEP_UNROLL
    for (int j = 0; j < N; ++j) {
      sizes[j] = fabs(static_cast<double>(left[j]));
      if (is_cholesky) of_row += sizes[j];
      if (is_cholesky && j == lane) sizes[j] = 0;
    }
    whole = largest_of_lanes<N>(of_row + sum_of_column<N>(sizes));
    load_row<N>(is_lu ? system.x : as_lower(system.x), left);
    most_left = most_right = largest_of_rows<N>(left);
    const double words = foregone<T>(most_wanted, most_left, 0);
    if (words != 0) return words;
  }
  if (is_lu) {
    bool pivot_is_zero = false;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < N; ++j) {
      const bool on = j == lane;
      pivot_is_zero = pivot_is_zero || (on && left[j] == T(0));
      const T diagonal = on ? left[j] : T(0);
      right_operand.columns[j * pitch + lane] = j > lane ? left[j] : on && !all.unit_lower ? T(1) : diagonal;
      left[j] = j < lane ? left[j] : on && all.unit_lower ? T(1) : diagonal;
    }
    // Factors so large beside A that rounding to the smallest numbers shows are left to the CPU.
    most_left = most_right = max(most_left, 1.0);
    if (smallest_normal<T> * 4 * N * most_left > 0x1p-20 * whole && whole > 0) return size_of(bits_of_nan);
    if (!take_row<N>(all, s, pivot_is_zero, row)) return size_of(bits_of_nan);
  } else if (is_cholesky) {
    bool is_flaw = false;
    GAUSSWEEP_UNROLL
    for (int j = 0; j < N; ++j) is_flaw = is_flaw || (j == lane && lane < all.shape.n && !(left[j] > T(0)));
    if (largest_of_lanes<N>(is_flaw ? 1 : 0) != 0) return size_of(bits_of_nan);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < N; ++k) right_operand.columns[lane * pitch + k] = left[k];
  } else {
    const Elements<T> right = Q == Quotient::product ? system.b : x_first ? system.a : system.x;
    load_row<N>(right, left);
    __syncwarp(mask_of<N>());  // the other side has been read
    GAUSSWEEP_UNROLL
    for (int j = 0; j < N; ++j) right_operand.columns[j * pitch + lane] = left[j];
    most_right = largest_of_rows<N>(left);
    const double of_right = Q == Quotient::product ? sum_of_squares<N>(left) : largest_column_sum<N>(left);
    if (Q == Quotient::product) {
      load_row<N>(wanted, left);
      most_wanted = largest_of_rows<N>(left);
    }
    load_row<N>(x_first ? system.x : system.a, left);
    most_left = largest_of_rows<N>(left);
    whole = Q == Quotient::product ? std::sqrt(sum_of_squares<N>(left)) * std::sqrt(of_right)
                                   : largest_column_sum<N>(left) * (of_right + smallest_normal<T>);
    const double words = foregone<T>(most_left, most_right, most_wanted);
    if (words != 0) return words;
  }
  __syncwarp(mask_of<N>());

  const int rows = static_cast<int>(system.a.rows),
            cols = static_cast<int>(Q == Quotient::product ? system.b.cols : rows);
  const Sizes sizes{static_cast<double>(rows), static_cast<double>(system.a.cols), most_left, most_right};
  const double bias = bias_of<T>(sizes);
  double own = 0, of_row = 0;  // of column `lane`
  GAUSSWEEP_ROLLED
  for (int j0 = 0; j0 < cols; j0 += group) {
    double c[group], apart[group];
    GAUSSWEEP_UNROLL
    for (int g = 0; g < group; ++g) {
      const int j = j0 + g;
      const bool is_there = lane < rows && j < cols && !(is_cholesky && j > lane);
      c[g] =
          Q == Quotient::inverse
              ? (j == lane ? 1 : 0)
              : wanted
                    .data[is_there ? row * static_cast<int>(wanted.down) + j * static_cast<int>(wanted.across)
                                   : 0];
    }
    Sum<T> sums[group];
    GAUSSWEEP_UNROLL
    for (int g = 0; g < group; ++g) sums[g].high = bias;
    GAUSSWEEP_UNROLL
    for (int k0 = 0; k0 < N; k0 += 8) {
      if ((is_lu || is_cholesky) && k0 >= j0 + group) continue;  // the right operand is 0 there
      GAUSSWEEP_UNROLL
      for (int k = k0; k < k0 + 8; ++k) {
        GAUSSWEEP_UNROLL
        for (int g = 0; g < group; ++g) sums[g].add(left[k], right_operand.columns[(j0 + g) * pitch + k]);
      }
    }
    GAUSSWEEP_UNROLL
    for (int g = 0; g < group; ++g) {
      const int j = j0 + g;
      const bool is_there = lane < rows && j < cols && !(is_cholesky && j > lane);
      apart[g] = is_there ? sums[g].apart_from(c[g], bias) : 0;
      if (Q == Quotient::product) apart[g] *= apart[g];
      if (is_cholesky && j < lane) of_row += apart[g];  // as in the other triangle
    }
    const double of_column = sum_of_column<N>(apart);
    if (lane / group == j0 / group) own = of_column;
  }
  const double scale = whole * factor_of<Q, T>(all.shape);
  double ratio = 0;
  if (Q == Quotient::product) {
    ratio = share(std::sqrt(sum_of_lanes<N>(own)), scale);
    if (ratio > 0.99) return size_of(bits_of_nan);
  } else {
    ratio = share(largest_of_lanes<N>(own + of_row), scale);
  }
  return settled<T>(ratio, sizes, scale, all.tolerance);
}

template <Quotient Q, int N, class T>
__global__ void __launch_bounds__(small_threads, N == 8 ? 6 : 4)
    small_kernel(Systems<T> all, double* ratios, Totals* totals) {
  constexpr int teams = small_threads / N;
  __shared__ RightOperand<N, T> right_operands[teams];
  const int seat = static_cast<int>(threadIdx.x) / N;
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * teams + seat;
  if (s >= all.shape.batch) return;
  double error = -1, ratio = 0;
  if constexpr (Q == Quotient::solution) {
    ratio = solution_of_small<N>(all, s, right_operands[seat], error);
  } else if constexpr (Q == Quotient::inverse) {
    ratio = ratio_of_sides(all.second_look, [&](bool x_first) {
      return ratio_of_small<Q, N>(all, s, right_operands[seat], x_first);
    });
  } else {
    ratio = ratio_of_small<Q, N>(all, s, right_operands[seat], false);
  }
  if (lane_of<N>() == 0) note(all, s, ratio, error, ratios, totals);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
