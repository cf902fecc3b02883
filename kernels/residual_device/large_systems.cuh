#pragma once
/// The judge of systems of any size: a warp or a block each.

#include "kernels/residual_device/system_judge.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::judge {

constexpr int most_threads = 256, most_warps = most_threads / 32;
constexpr int most_columns = 8;  ///< of the right operand, of a warp at a time
constexpr int ahead = 8;         ///< what a lane loads before it uses the first of it
constexpr std::int64_t most_mirrored = 1024;

__device__ __forceinline__ int warp_of_block() {
  return static_cast<int>(threadIdx.x) / 32;
}
__device__ __forceinline__ int warps_of_block() {
  return static_cast<int>(blockDim.x) / 32;
}

/// What a block shares: a number of each warp, and what each is to take of the right operand, in the order of
/// inner indices.
struct SharedStorage {
  double of_warps[most_warps];
  alignas(16) double right[most_warps][32][most_columns];
};

/// One number from each warp's: the largest or the sum, in every thread.
__device__ inline double together(SharedStorage& shared, double of_warp, bool adds) {
  if (warps_of_block() == 1) return of_warp;
  __syncthreads();
  if (lane_of<32>() == 0) shared.of_warps[warp_of_block()] = of_warp;
  __syncthreads();
  double all = 0;
  for (int w = 0; w < warps_of_block(); ++w) {
    const double one = shared.of_warps[w];
    all = adds ? all + one : one > all || one != one ? one : all;
    if (all != all) break;
  }
  return all;
}
__device__ __forceinline__ double largest_of_block(SharedStorage& shared, double value) {
  return together(shared, largest_of_lanes<32>(value), false);
}

/// data[offset] where it counts, else 0. It loads in any case: loads under conditions wait for each other.
template <class T>
__device__ __forceinline__ T loaded(const T* data, std::int64_t offset, bool counts) {
  const T value = data[counts ? offset : 0];
  return counts ? value : T(0);
}

/// visit(c, size) for all elements of `ahead` columns of the warp, c the column of these; then at_end().
template <class T, class Visit, class AtEnd>
__device__ __forceinline__ void for_sizes(const Elements<T>& m, Visit&& visit, AtEnd&& at_end) {
  const auto rows = static_cast<int>(m.rows), cols = static_cast<int>(m.cols);
  for (int j = warp_of_block() * ahead; j < cols; j += warps_of_block() * ahead) {
    const bool is_whole = m.part == Part::all && j + ahead <= cols;
    GAUSSWEEP_ROLLED
    for (int i = lane_of<32>() + (m.part == Part::lower ? j / 32 * 32 : 0); i < rows; i += 32) {
      const T* const at = m.data + (i * m.down + j * m.across);
      T elements[ahead];
      if (is_whole) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < ahead; ++c) elements[c] = at[c * m.across];
      } else {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < ahead; ++c) elements[c] = loaded(at, c * m.across, counts(m, i, j + c));
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c) visit(c, fabs(static_cast<double>(elements[c])));
    }
    at_end();
  }
}

/// Of a matrix.
struct Norms {
  double largest;  ///< element; NaN where one is none
  double columns;  ///< the largest sum of sizes of a column
  double squares;  ///< the sum of squares
};
/// @tparam Columns, Squares whether these are wanted
template <bool Columns, bool Squares, class T>
__device__ Norms norms_of(SharedStorage& shared, const Elements<T>& m) {
  unsigned long long largest = 0;
  double most = 0, squares = 0, sums[ahead] = {};
  for_sizes(
      m,
      [&](int c, double size) {
        largest = max(largest, bits_of(size));
        if (Columns) sums[c] += size;
        if (Squares) squares += size * size;
      },
      [&] {
        GAUSSWEEP_UNROLL
        for (int c = 0; Columns && c < ahead; ++c) {
          most = max(most, sum_of_lanes<32>(sums[c]));
          sums[c] = 0;
        }
      });
  return {largest_of_block(shared, size_of(largest)), Columns ? together(shared, most, false) : 0,
          Squares ? together(shared, sum_of_lanes<32>(squares), true) : 0};
}

/// The largest sum of sizes of a row.
/// @param mirrored the triangle stands for the symmetric matrix
template <class T>
__device__ double largest_row_sum(SharedStorage& shared, const Elements<T>& m, bool mirrored) {
  double most = 0;
  for (std::int64_t i = threadIdx.x; i < m.rows; i += blockDim.x) {
    double sum = 0;
    GAUSSWEEP_ROLLED
    for (std::int64_t first = 0; first < m.cols; first += ahead) {
      T elements[ahead];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c) {
        const std::int64_t j = first + c;
        const bool swapped = mirrored && !counts(m, i, j);
        const std::int64_t row = swapped ? j : i, col = swapped ? i : j;
        elements[c] = loaded(m.data, row * m.down + col * m.across, counts(m, row, col));
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < ahead; ++c) sum += fabs(static_cast<double>(elements[c]));
    }
    most = max(most, sum);
  }
  return largest_of_block(shared, most);
}

/// L, R and C of C - L R, and what the ratio is over.
template <class T>
struct Residual {
  Elements<T> left, right, wanted;
  double factor;     ///< n u
  double whole;      ///< of all columns; of a solution ||A||, which each column's x and b then join
  double bias;       ///< of sums
  const int* order;  ///< of the rows of C; null: as they are
  /// Of a symmetric product, of which only rows from the diagonal on are computed; else null. Each warp has
  /// as many numbers as there are columns, all 0.
  double* mirrored;
};

/// max over the columns of (residual / (scale factor)); of a product the sum of squares. A lane has a row.
template <Quotient Q, int Columns, class T>
__device__ double ratio_of(SharedStorage& shared, const Residual<T>& r) {
  constexpr bool is_solution = Q == Quotient::solution, is_product = Q == Quotient::product;
  const int lane = lane_of<32>(), warp = warp_of_block();
  const auto rows = static_cast<int>(r.left.rows), cols = static_cast<int>(r.right.cols);
  const auto terms = static_cast<int>(r.left.cols);
  const Part of_left = r.left.part, of_right = r.right.part;
  double(*const right)[most_columns] = shared.right[warp];
  double* const mirrored =
      Q == Quotient::cholesky_factor && r.mirrored != nullptr ? r.mirrored + warp * cols : nullptr;
  double ratio = 0;
  for (int j0 = warp * Columns; j0 < cols; j0 += warps_of_block() * Columns) {
    double column[Columns] = {}, of_x[Columns] = {}, of_b[Columns] = {};
    for (int i0 = mirrored == nullptr ? 0 : j0 / 32 * 32; i0 < rows; i0 += 32) {
      // The inner indices of which there are terms, for the row and for all of them.
      const int i = i0 + lane;
      const int row_begin = of_left == Part::upper ? i : 0;
      const int row_end = i >= rows ? 0 : of_left == Part::lower ? min(terms, i + 1) : terms;
      int begin = 0, end = terms;
      if (of_left == Part::lower) end = min(end, i0 + 32);
      if (of_left == Part::upper) begin = i0;
      if (of_right == Part::upper) end = min(end, j0 + Columns);
      if (of_right == Part::lower) begin = max(begin, j0);
      // Of these each lane takes all as they are; a lane beyond the last row does as that.
      const int all_from = of_left == Part::upper ? i0 + 32 : 0;
      const int all_to = of_left == Part::lower ? i0 : terms;
      const T* const left = r.left.data + static_cast<std::int64_t>(min(i, rows - 1)) * r.left.down;
      const std::int64_t across = r.left.across;
      Sum<T> sums[Columns];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) sums[c].high = r.bias;
      GAUSSWEEP_ROLLED
      for (int k0 = begin; k0 < end; k0 += 32) {
        const int own = k0 + lane;
        T of_right_row[Columns];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c)
          of_right_row[c] = loaded(r.right.data, own * r.right.down + (j0 + c) * r.right.across,
                                   counts(r.right, own, j0 + c));
        __syncwarp();
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c)
          right[lane][c] = r.right.unit_diagonal && own == j0 + c ? T(1) : of_right_row[c];
        __syncwarp();
        GAUSSWEEP_ROLLED
        for (int first = 0; first < 32 && k0 + first < end; first += ahead) {
          const int k = k0 + first;
          T elements[ahead];
          if (k >= all_from && k + ahead <= all_to) {
            GAUSSWEEP_UNROLL
            for (int u = 0; u < ahead; ++u) elements[u] = left[(k + u) * across];
          } else {
            GAUSSWEEP_UNROLL
            for (int u = 0; u < ahead; ++u)
              elements[u] = loaded(left, (k + u) * across, k + u >= row_begin && k + u < row_end);
            GAUSSWEEP_UNROLL
            for (int u = 0; u < ahead; ++u)
              elements[u] = r.left.unit_diagonal && k + u == i ? T(1) : elements[u];
          }
          GAUSSWEEP_UNROLL
          for (int u = 0; u < ahead; ++u) {
            GAUSSWEEP_UNROLL
            for (int c = 0; c < Columns; ++c) sums[c].add(elements[u], right[first + u][c]);
          }
        }
      }
      T wanted[Columns];
      const int row = i >= rows || r.order == nullptr ? i : r.order[i];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) {
        const int j = j0 + c;
        const bool swapped = Q == Quotient::cholesky_factor && j > i;
        wanted[c] = Q == Quotient::inverse
                        ? T(i == j ? 1 : 0)
                        : loaded(r.wanted.data,
                                 (swapped ? j : row) * r.wanted.down + (swapped ? i : j) * r.wanted.across,
                                 i < rows && j < cols);
      }
      double of_row = 0;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) {
        const int j = j0 + c;
        const bool is_there = i < rows && j < cols && !(mirrored != nullptr && j > i);
        const double apart = is_there ? sums[c].apart_from(wanted[c], r.bias) : 0;
        column[c] = is_solution ? max(column[c], apart) : column[c] + (is_product ? apart * apart : apart);
        if (is_solution) of_b[c] = max(of_b[c], fabs(static_cast<double>(wanted[c])));
        if (j < i) of_row += apart;
      }
      if (mirrored != nullptr && i < rows) mirrored[i] += of_row;
    }
    for (int k = lane; is_solution && k < terms; k += 32) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) of_x[c] = max(of_x[c], fabs(element(r.right, k, j0 + c)));
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) {
      const double all = is_solution ? largest_of_lanes<32>(column[c]) : sum_of_lanes<32>(column[c]);
      if (is_product) {
        ratio += all;
      } else if (is_solution) {
        const double of_column = r.whole * (largest_of_lanes<32>(of_x[c]) + smallest_normal<T>);
        ratio = max(ratio, share(all, (of_column + largest_of_lanes<32>(of_b[c])) * r.factor));
      } else if (mirrored == nullptr) {
        ratio = max(ratio, all);
      } else if (j0 + c < cols && (j0 + c) % 32 == lane) {  // who has the row has the column
        mirrored[j0 + c] += all;
      }
    }
  }
  if (mirrored != nullptr) {
    __syncthreads();
    for (int j = static_cast<int>(threadIdx.x); j < cols; j += static_cast<int>(blockDim.x)) {
      double all = 0;
      for (int w = 0; w < warps_of_block(); ++w) all += r.mirrored[w * cols + j];
      ratio = max(ratio, all);
    }
    ratio = largest_of_lanes<32>(ratio);
  }
  ratio = together(shared, ratio, is_product);
  return is_solution || is_product ? ratio : share(ratio, r.whole * r.factor);
}

/// The rows of P A, and whether pivots and info are those of the factors (judges::lu_factors).
template <class T>
__device__ bool take_order(SharedStorage& shared, const Systems<T>& all, std::int64_t s, const T* x,
                           int* order, int* pivots) {
  const auto n = static_cast<int>(all.shape.n);
  double zeros_from_end = 0, flaws = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const int pivot = all.pivots[s * n + i];
    order[i] = i;
    pivots[i] = pivot;
    if (x[i + static_cast<std::int64_t>(i) * n] == T(0)) zeros_from_end = max(zeros_from_end, n - i * 1.0);
    if (pivot < 0 || pivot >= n) flaws = 1;
  }
  zeros_from_end = largest_of_block(shared, zeros_from_end);
  flaws = largest_of_block(shared, flaws);
  if (flaws != 0 || (all.infos[s] >= 0 && all.infos[s] != info_of(zeros_from_end, n))) return false;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 0; k < n; ++k) {
      const int row = order[k];
      order[k] = order[pivots[k]];
      order[pivots[k]] = row;
    }
  }
  __syncthreads();
  return true;
}

/// The forward error of a system, by the solution that its right-hand sides were made of.
template <class T>
__device__ double error_of(SharedStorage& shared, const Systems<T>& all, std::int64_t s,
                           const Elements<T>& x) {
  const std::uint64_t seed = seed_of_system(all.solution_seed, s);
  double apart = 0, largest = 0;
  for (std::int64_t k = threadIdx.x; k < x.rows * x.cols; k += blockDim.x) {
    const std::int64_t i = k % x.rows, j = k / x.rows;
    const double known = static_cast<T>(signed_unit(seed, RandomStream::solution, i, j));
    apart = max(apart, fabs(x.data[k] - known));
    largest = max(largest, fabs(known));
  }
  apart = largest_of_block(shared, apart);
  return share(apart, largest_of_block(shared, largest));
}

/// Whether half of a product is enough, and its sums find room.
template <Quotient Q>
__host__ __device__ constexpr bool mirrors(const Shape& shape) {
  return Q == Quotient::cholesky_factor && shape.n <= most_mirrored;
}

/// The ratio, and the forward error, which stays as it is where there is none.
template <Quotient Q, class T>
__device__ double judged(SharedStorage& shared, const Systems<T>& all, std::int64_t s, double& error) {
  const System<T> system(all, s);
  const Elements<T>&a = system.a, &x = system.x, &b = system.b;
  constexpr bool is_lu = Q == Quotient::lu_factors, is_product = Q == Quotient::product;
  const Norms of_a = norms_of < is_lu || Q == Quotient::inverse, is_product > (shared, a);
  const Norms of_x = norms_of<Q == Quotient::inverse, false>(shared, x);
  const Norms of_b = Q == Quotient::solution || is_product ? norms_of<false, is_product>(shared, b) : Norms{};
  const double words = foregone<T>(of_a.largest, of_x.largest, of_b.largest);
  if (words != 0) return words;
  if (Q == Quotient::solution && all.knows_solution) error = error_of(shared, all, s, x);

  Residual<T> r{a, x, b, factor_of<Q, T>(all.shape), 0, 0, nullptr, nullptr};
  double most_left = of_a.largest, most_right = of_x.largest;
  if constexpr (Q == Quotient::solution) {
    r.whole = largest_row_sum(shared, a, false);
  } else if constexpr (is_lu) {
    const std::int64_t n = all.shape.n;
    int* const order = simt::dynamic_shared<int>();
    if (!take_order(shared, all, s, x.data, order, order + n)) return size_of(bits_of_nan);
    r.order = order;
    r.wanted = a;
    r.left = in_part(x, Part::lower);
    r.right = in_part(x, Part::upper);
    (all.unit_lower ? r.left : r.right).unit_diagonal = true;
    most_left = most_right = max(of_x.largest, 1.0);
    // Factors so large beside A that rounding to the smallest numbers shows are left to the CPU.
    r.whole = of_a.columns;
    const double of_smallest = smallest_normal<T> * 4 * static_cast<double>(n) * most_left;
    if (of_smallest > 0x1p-20 * r.whole && r.whole > 0) return size_of(bits_of_nan);
  } else if constexpr (Q == Quotient::cholesky_factor) {
    double flaws = 0;
    for (std::int64_t i = threadIdx.x; i < x.rows; i += blockDim.x) {
      if (!(x.data[i * (x.rows + 1)] > T(0))) flaws = 1;
    }
    if (largest_of_block(shared, flaws) != 0) return size_of(bits_of_nan);
    r.wanted = as_lower(a);
    r.left = as_lower(x);
    r.right = transposed(r.left);
    r.whole = largest_row_sum(shared, a, true);
    most_left = most_right;
    if (mirrors<Q>(all.shape)) {
      r.mirrored = simt::dynamic_shared<double>();
      for (std::int64_t k = threadIdx.x; k < warps_of_block() * all.shape.n; k += blockDim.x)
        r.mirrored[k] = 0;
      __syncthreads();
    }
  } else if constexpr (Q == Quotient::inverse) {
    r.whole = of_a.columns * (of_x.columns + smallest_normal<T>);
  } else {
    r.right = b;
    r.wanted = x;
    most_right = of_b.largest;
    r.whole = std::sqrt(of_a.squares) * std::sqrt(of_b.squares);
  }
  const Sizes sizes{static_cast<double>(r.left.rows), static_cast<double>(r.left.cols), most_left,
                    most_right};
  r.bias = bias_of<T>(sizes);
  double ratio = 0;
  if constexpr (Q == Quotient::inverse) {
    return ratio_of_sides(all.second_look, [&](bool x_first) {
      r.left = x_first ? x : a;
      r.right = x_first ? a : x;
      return settled<T>(ratio_of<Q, most_columns>(shared, r), sizes, r.whole * r.factor, all.tolerance);
    });
  } else if constexpr (Q == Quotient::solution) {
    ratio = r.right.cols == 1 ? ratio_of<Q, 1>(shared, r) : ratio_of<Q, 4>(shared, r);
  } else {
    ratio = ratio_of<Q, most_columns>(shared, r);
  }
  double whole = r.whole * r.factor;
  if (Q == Quotient::solution) whole = (r.whole * of_x.largest + of_b.largest) * r.factor;
  if (is_product) {
    ratio = share(std::sqrt(ratio), whole);
    if (ratio > 0.99) return size_of(bits_of_nan);
  }
  return settled<T>(ratio, sizes, whole, all.tolerance);
}

template <Quotient Q, class T>
__global__ void __launch_bounds__(most_threads, 2)
    large_kernel(Systems<T> all, double* ratios, Totals* totals) {
  __shared__ SharedStorage shared;
  double error = -1;
  const double ratio = judged<Q>(shared, all, blockIdx.x, error);
  if (threadIdx.x == 0) note(all, blockIdx.x, ratio, error, ratios, totals);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::judge
