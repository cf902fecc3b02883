// The judge of a batch: a block a system. Residuals are sums of exact products (double: of products with
// their errors, added by two-sum), right to the square of the unit roundoff.
#include "kernels/residual_device/system_ratios.hpp"

#include "kernels/device/scratch.hpp"
#include "kernels/residual_device/device_product.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using namespace judge;

constexpr int most_threads = 256, most_warps = most_threads / 32;
constexpr int columns_at_once = 4;

__device__ __forceinline__ int lane() {
  return static_cast<int>(threadIdx.x) % 32;
}
__device__ __forceinline__ int warp() {
  return static_cast<int>(threadIdx.x) / 32;
}
__device__ __forceinline__ int warps() {
  return static_cast<int>(blockDim.x) / 32;
}

/// As Scaled divides: 0 / 0 is 0, and anything else by 0 the largest number.
__device__ __forceinline__ double share(double part, double whole) {
  return part == 0 ? 0 : whole > 0 ? min(part / whole, 1.7976931348623157e308) : 1.7976931348623157e308;
}

__device__ __forceinline__ double sum_of_warp(double value) {
  GAUSSWEEP_UNROLL
  for (int apart = 16; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
}
/// Of sizes; NaN, whose bits are above all others', where there is one.
__device__ __forceinline__ double largest_of_warp(double value) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof bits);
  GAUSSWEEP_UNROLL
  for (int apart = 16; apart > 0; apart /= 2) bits = max(bits, __shfl_xor_sync(0xffffffffu, bits, apart));
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// What the warps of a block tell each other.
struct Board {
  double of_warp[most_warps];
  int first_zero;
  int is_flawed;
};
/// One number from each warp's: the largest or the sum, in every thread.
__device__ double together(Board& board, double of_warp, bool adds) {
  __syncthreads();
  if (lane() == 0) board.of_warp[warp()] = of_warp;
  __syncthreads();
  double all = 0;
  for (int w = 0; w < warps(); ++w) {
    const double one = board.of_warp[w];
    all = adds ? all + one : one > all || one != one ? one : all;
    if (all != all) break;
  }
  return all;
}

/// The largest size of the elements that count, NaN where one is none.
template <class T>
__device__ double largest_element(Board& board, const Elements<T>& m) {
  double most = 0;
  for (std::int64_t j = warp(); j < m.cols; j += warps()) {
    for (std::int64_t i = lane(); i < m.rows; i += 32) {
      const double size = fabs(element(m, i, j));
      if (!(size <= most)) most = size;
      if (most != most) break;
    }
  }
  return together(board, largest_of_warp(most), false);
}

/// The largest sum of sizes of a column, or of a row.
template <class T>
__device__ double largest_column_sum(Board& board, const Elements<T>& m) {
  double most = 0;
  for (std::int64_t j = warp(); j < m.cols; j += warps()) {
    double sum = 0;
    for (std::int64_t i = lane(); i < m.rows; i += 32) sum += fabs(element(m, i, j));
    most = max(most, sum_of_warp(sum));
  }
  return together(board, most, false);
}
/// @param mirrored the triangle stands for the symmetric matrix
template <class T>
__device__ double largest_row_sum(Board& board, const Elements<T>& m, bool mirrored) {
  double most = 0;
  for (std::int64_t i = threadIdx.x; i < m.rows; i += blockDim.x) {
    double sum = 0;
    for (std::int64_t j = 0; j < m.cols; ++j) {
      const bool swapped = mirrored && !counts(m, i, j);
      sum += fabs(swapped ? element(m, j, i) : element(m, i, j));
    }
    most = max(most, sum);
  }
  return together(board, largest_of_warp(most), false);
}
template <class T>
__device__ double sum_of_squares(Board& board, const Elements<T>& m) {
  double sum = 0;
  for (std::int64_t j = warp(); j < m.cols; j += warps()) {
    for (std::int64_t i = lane(); i < m.rows; i += 32) sum += element(m, i, j) * element(m, i, j);
  }
  return together(board, sum_of_warp(sum), true);
}

/// A sum of products, high + low.
template <class T>
struct Sum {
  double high = 0, low = 0;
  __device__ __forceinline__ void add(double a, double b) {
    if (!tiles::splits<T>) {
      high = std::fma(a, b, high);  // the product is exact
      return;
    }
    const double product = a * b;
    double off = 0;
    tiles::two_sum(high, product, off);
    low += off + std::fma(a, b, -product);
  }
  /// |c - the sum|
  __device__ __forceinline__ double apart_from(double c) const {
    double off = 0;
    tiles::two_sum(c, -high, off);
    return fabs(c + (off - low));
  }
};

/// L, R and C of C - L R, and the sizes that the ratio is over.
template <class T>
struct Residual {
  Elements<T> left, right;
  Wanted<T> wanted;
  Measure measure;
  double factor;  ///< n u
  double whole;   ///< of all columns; of a solution ||A||, which each column's x and b then join
  bool by_columns;
  double smallest;  ///< the smallest normal number of T
};

/// max over the columns of (residual / (scale factor)); of squares the residual itself.
template <class T>
__device__ double ratio_of(Board& board, const Residual<T>& r) {
  const bool adds = r.measure == Measure::squares;
  double ratio = 0;
  for (std::int64_t j0 = static_cast<std::int64_t>(warp()) * columns_at_once; j0 < r.right.cols;
       j0 += static_cast<std::int64_t>(warps()) * columns_at_once) {
    double column[columns_at_once] = {}, of_x[columns_at_once] = {}, of_b[columns_at_once] = {};
    for (std::int64_t i = lane(); i < r.left.rows; i += 32) {
      std::int64_t begin = 0, end = r.left.cols;
      if (r.left.part == Part::lower) end = min(end, i + 1);
      if (r.left.part == Part::upper) begin = i;
      if (r.right.part == Part::upper) end = min(end, j0 + columns_at_once);
      if (r.right.part == Part::lower) begin = max(begin, j0);
      Sum<T> sums[columns_at_once];
      for (std::int64_t k = begin; k < end; ++k) {
        const double l = element(r.left, i, k);
        GAUSSWEEP_UNROLL
        for (int c = 0; c < columns_at_once; ++c) sums[c].add(l, element(r.right, k, j0 + c));
      }
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns_at_once; ++c) {
        if (j0 + c >= r.right.cols) continue;
        const double wanted = wanted_element(r.wanted, i, j0 + c);
        const double apart = sums[c].apart_from(wanted);
        column[c] = r.measure == Measure::largest ? max(column[c], apart)
                                                  : column[c] + (adds ? apart * apart : apart);
        of_b[c] = max(of_b[c], fabs(wanted));
      }
    }
    for (std::int64_t k = lane(); r.by_columns && k < r.right.rows; k += 32) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < columns_at_once; ++c) of_x[c] = max(of_x[c], fabs(element(r.right, k, j0 + c)));
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < columns_at_once; ++c) {
      const double all = r.measure == Measure::largest ? largest_of_warp(column[c]) : sum_of_warp(column[c]);
      double whole = r.whole;
      if (r.by_columns) whole = whole * (largest_of_warp(of_x[c]) + r.smallest) + largest_of_warp(of_b[c]);
      ratio = adds ? ratio + all : max(ratio, share(all, whole * r.factor));
    }
  }
  return together(board, ratio, adds);
}

/// Whether sums and products of sizes up to these neither overflow nor lose what a ratio shows.
__device__ __forceinline__ bool is_ordinary(double largest) {
  return largest == 0 || (largest >= 0x1p-200 && largest <= 0x1p200);
}

/// The rows of P A, and whether pivots and info are those of the factors (judges::lu_factors).
template <class T>
__device__ bool take_order(Board& board, const Systems<T>& all, std::int64_t s, const T* x,
                           std::int64_t* order) {
  const auto n = static_cast<int>(all.shape.n);
  if (threadIdx.x == 0) {
    board.first_zero = n;
    board.is_flawed = 0;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    order[i] = i;
    if (x[i + static_cast<std::int64_t>(i) * n] == T(0)) atomicMin(&board.first_zero, i);
    const int pivot = all.pivots[s * n + i];
    if (pivot < 0 || pivot >= n) board.is_flawed = 1;
  }
  __syncthreads();
  const int info = board.first_zero == n ? 0 : board.first_zero + 1;
  const bool is_right = board.is_flawed == 0 && (all.infos[s] < 0 || all.infos[s] == info);
  if (threadIdx.x == 0 && is_right) {
    for (int k = 0; k < n; ++k) {
      const int pivot = all.pivots[s * n + k];
      const std::int64_t row = order[k];
      order[k] = order[pivot];
      order[pivot] = row;
    }
  }
  __syncthreads();
  return is_right;
}

template <class T>
__device__ double judged(Board& board, const Systems<T>& all, std::int64_t s) {
  const double nan = __longlong_as_double(0x7ff8000000000000ll);
  const double unit = tiles::splits<T> ? 0x1p-53 : 0x1p-24;
  const auto of = [](const T* data, const Extent& extent, Part part) {
    return Elements<T>{data, 1, extent.rows, extent.rows, extent.cols, part, false, false};
  };
  const T* const x_data = all.x + s * all.of_x.rows * all.of_x.cols;
  const Elements<T> a = of(all.a + s * all.of_a.rows * all.of_a.cols, all.of_a, all.part_of_a);
  const Elements<T> x = of(x_data, all.of_x, all.part_of_x);
  const Elements<T> b =
      of(all.b + (all.b == nullptr ? 0 : s * all.of_b.rows * all.of_b.cols), all.of_b, Part::all);
  const double most_a = largest_element(board, a), most_x = largest_element(board, x);
  const double most_b = largest_element(board, b);
  const double sizes = most_a + most_x + most_b;
  if (sizes - sizes != 0) return __longlong_as_double(0x7ff0000000000000ll);
  if (!is_ordinary(most_a) || !is_ordinary(most_x) || !is_ordinary(most_b)) return nan;

  const double smallest = tiles::splits<T> ? 0x1p-1022 : 0x1p-126;
  Residual<T> r{a, x, {nullptr, 1, 0, Part::all, nullptr}, Measure::sum, 0, 0, false, smallest};
  r.factor = static_cast<double>(all.shape.n) * unit;
  double most_left = most_a, most_right = most_x;
  switch (all.quotient) {
    case Quotient::solution:
      r.wanted = {b.data, 1, b.rows, Part::all, nullptr};
      r.measure = Measure::largest;
      r.by_columns = true;
      r.whole = largest_row_sum(board, a, false);
      break;
    case Quotient::lu_factors: {
      auto* const order = simt::dynamic_shared<std::int64_t>();
      if (!take_order(board, all, s, x_data, order)) return nan;
      r.wanted = {a.data, 1, a.rows, Part::all, order};
      r.left = of(x_data, all.of_x, Part::lower);
      r.right = of(x_data, all.of_x, Part::upper);
      const double norms = largest_column_sum(board, r.left) + largest_column_sum(board, r.right) + 1;
      r.whole = largest_column_sum(board, a) + smallest * norms;
      (all.unit_lower ? r.left : r.right).unit_diagonal = true;
      most_left = most_right = max(most_x, 1.0);
      break;
    }
    case Quotient::cholesky_factor: {
      r.wanted = {a.data, 1, a.rows, all.part_of_a, nullptr};
      const bool lower = all.part_of_x == Part::lower;
      Elements<T> transposed = x;
      transposed.down = x.across;
      transposed.across = 1;
      transposed.part = lower ? Part::upper : Part::lower;
      r.left = lower ? x : transposed;
      r.right = lower ? transposed : x;
      r.whole = largest_row_sum(board, a, true);
      most_left = most_x;
      break;
    }
    case Quotient::inverse:
      r.whole = largest_column_sum(board, a) * (largest_column_sum(board, x) + smallest);
      break;
    case Quotient::product:
      r.left = a;
      r.right = b;
      r.wanted = {x.data, 1, x.rows, Part::all, nullptr};
      r.measure = Measure::squares;
      r.factor = std::sqrt(static_cast<double>(all.shape.k) + 2) * unit;
      r.whole = std::sqrt(sum_of_squares(board, a)) * std::sqrt(sum_of_squares(board, b));
      most_right = most_b;
      break;
  }
  double ratio = ratio_of(board, r);
  if (all.quotient == Quotient::product) {
    ratio = share(std::sqrt(ratio), r.whole * r.factor);
    if (ratio > 0.99) return nan;
  }
  // An element's sum is right to this.
  const auto terms = static_cast<double>(r.left.cols);
  const double of_sum =
      (tiles::splits<T> ? terms * terms * 0x1p-104 : terms * 0x1p-52) * terms * most_left * most_right;
  const double whole = r.by_columns ? r.whole * most_x + most_b : r.whole;
  const double bound = share(of_sum * static_cast<double>(r.left.rows), whole * r.factor) + 0x1p-40 * ratio;
  const auto is_open = [&](double limit) { return ratio - bound <= limit && limit < ratio + bound; };
  const bool sharp = bound <= 0x1p-12 * max(1.0, ratio);
  return sharp && !is_open(all.tolerance) && !is_open(10 * all.tolerance) ? ratio : nan;
}

template <class T>
__global__ void __launch_bounds__(most_threads) ratios_kernel(Systems<T> all, double* ratios) {
  __shared__ Board board;
  const double ratio = judged(board, all, static_cast<std::int64_t>(blockIdx.x));
  if (threadIdx.x == 0) ratios[blockIdx.x] = ratio;
}

}  // namespace

template <class T>
std::vector<double> ratios_of(Context& context, const Systems<T>& all) {
  const std::int64_t size = std::max(all.of_a.rows, all.of_x.cols), batch = all.shape.batch;
  const unsigned threads = size <= 32 ? 32 : size <= 128 ? 128 : most_threads;
  const bool has_order = all.quotient == Quotient::lu_factors;
  std::vector<double> ratios(static_cast<std::size_t>(batch));
  const Scratch::Piece piece = scratch_of(context).take(ratios.size() * sizeof(double));
  simt::launch(context, ratios_kernel<T>, dim3(static_cast<unsigned>(batch)), dim3(threads),
               has_order ? static_cast<std::size_t>(all.shape.n) * sizeof(std::int64_t) : 0, all,
               piece.as<double>());
  context.device.to_host(ratios.data(), piece.as<double>(), ratios.size() * sizeof(double));
  return ratios;
}

template std::vector<double> ratios_of(Context&, const Systems<float>&);
template std::vector<double> ratios_of(Context&, const Systems<double>&);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
