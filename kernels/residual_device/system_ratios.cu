// The judge of a batch: a few lanes, a warp or a block a system. Residuals are sums of exact products (in
// double with their rounding errors), right to the square of the unit roundoff.
#include "kernels/residual_device/system_ratios.hpp"

#include <cstring>

#include "kernels/matrix/element.hpp"
#include "kernels/residual_device/device_product.cuh"
#include "kernels/residual_device/system_norms.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND {
namespace {

using namespace judge;
using gaussweep::judge::Totals;

/// A sum of products, high - bias + low. In double the bias is so large that every sum has its exponent:
/// what a product loses in it is a number, and the next operation finds it.
template <class T>
struct Sum {
  double high = 0, low = 0;
  __device__ __forceinline__ void add(double a, double b) {
    const double next = std::fma(a, b, high);  // of floats the product is exact
    if (tiles::splits<T>) low += std::fma(a, b, high - next);
    high = next;
  }
  /// |c - the sum|
  __device__ __forceinline__ double apart_from(double c, double bias) const {
    double off = 0;
    tiles::two_sum(c, bias - high, off);
    return fabs(c + (off - low));
  }
};

/// L, R and C of C - L R, and the sizes that the ratio is over.
template <class T>
struct Residual {
  Elements<T> left, right;
  Wanted<T> wanted;
  Measure measure;
  double factor;    ///< n u
  double whole;     ///< of all columns; of a solution ||A||, which each column's x and b then join
  double smallest;  ///< the smallest normal number of T
  double bias = 0;  ///< of sums
  /// Of a symmetric product, of which only rows from the diagonal on are computed: for each warp so many
  /// numbers as there are columns, all 0. Else null.
  double* mirrored = nullptr;
};

/// max over the columns of (residual / (scale factor)); of squares the residual itself. A lane has a row.
/// @tparam ByColumns of a solution: each column has a scale of its own
template <int Lanes, int Columns, bool ByColumns, class T>
__device__ double ratio_of(Board<Lanes>& board, const Residual<T>& r) {
  using Own = Team<Lanes>;
  const bool adds = r.measure == Measure::squares;
  const int left_unit = r.left.unit_diagonal ? 1 : 0, right_unit = r.right.unit_diagonal ? 1 : 0;
  double(*const right)[most_columns] = board.right[Own::warp()];
  double* const mirrored = r.mirrored == nullptr ? nullptr : r.mirrored + Own::warp() * r.right.cols;
  double ratio = 0;
  for (std::int64_t j0 = static_cast<std::int64_t>(Own::warp()) * Columns; j0 < r.right.cols;
       j0 += static_cast<std::int64_t>(Own::warps()) * Columns) {
    double column[Columns] = {}, of_x[Columns] = {}, of_b[Columns] = {};
    for (std::int64_t i0 = mirrored == nullptr ? 0 : j0 / Lanes * Lanes; i0 < r.left.rows; i0 += Lanes) {
      // The inner indices of which there are terms, for the row and for all of them. Terms of a unit diagonal
      // come last.
      const std::int64_t i = i0 + Own::lane();
      const std::int64_t row_begin = r.left.part == Part::upper ? i + left_unit : 0;
      const std::int64_t row_end = i >= r.left.rows             ? 0
                                   : r.left.part == Part::lower ? min(r.left.cols, i + 1 - left_unit)
                                                                : r.left.cols;
      std::int64_t begin = 0, end = r.left.cols;
      if (r.left.part == Part::lower) end = min(end, i0 + Lanes);
      if (r.left.part == Part::upper) begin = i0;
      if (r.right.part == Part::upper) end = min(end, j0 + Columns);
      if (r.right.part == Part::lower) begin = max(begin, j0);
      // Of these each lane takes all; a lane beyond the last row does as that.
      const std::int64_t all_from = r.left.part == Part::upper ? i0 + Lanes - 1 + left_unit : 0;
      const std::int64_t all_to = r.left.part == Part::lower ? i0 + 1 - left_unit : r.left.cols;
      const T* const left = r.left.data + min(i, r.left.rows - 1) * r.left.down;
      Sum<T> sums[Columns];
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) sums[c].high = r.bias;
      GAUSSWEEP_ROLLED
      for (std::int64_t k0 = begin; k0 < end; k0 += Lanes) {
        const std::int64_t own = k0 + Own::lane();
        T of_right[Columns];
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c) {
          const bool is_term = counts(r.right, own, j0 + c) && !(right_unit != 0 && own == j0 + c);
          of_right[c] = loaded(r.right.data, own * r.right.down + (j0 + c) * r.right.across, is_term);
        }
        __syncwarp(Own::mask());
        GAUSSWEEP_UNROLL
        for (int c = 0; c < Columns; ++c) right[Own::lane()][c] = of_right[c];
        __syncwarp(Own::mask());
        GAUSSWEEP_ROLLED
        for (int first = 0; first < Lanes && k0 + first < end; first += ahead) {
          const std::int64_t k = k0 + first;
          T elements[ahead];
          if (k >= all_from && k + ahead <= all_to) {
            GAUSSWEEP_UNROLL
            for (int u = 0; u < ahead; ++u) elements[u] = left[(k + u) * r.left.across];
          } else {
            GAUSSWEEP_UNROLL
            for (int u = 0; u < ahead; ++u)
              elements[u] = loaded(left, (k + u) * r.left.across, k + u >= row_begin && k + u < row_end);
          }
          GAUSSWEEP_UNROLL
          for (int u = 0; u < ahead; ++u) {
            GAUSSWEEP_UNROLL
            for (int c = 0; c < Columns; ++c) sums[c].add(elements[u], right[first + u][c]);
          }
        }
      }
      if (i >= r.left.rows) continue;
      double of_row = 0;
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) {
        if (j0 + c >= r.right.cols || (mirrored != nullptr && j0 + c > i)) continue;
        if (r.left.unit_diagonal) sums[c].add(1, element(r.right, i, j0 + c));
        if (r.right.unit_diagonal) sums[c].add(element(r.left, i, j0 + c), 1);
        const double wanted = wanted_element(r.wanted, i, j0 + c);
        const double apart = sums[c].apart_from(wanted, r.bias);
        column[c] = r.measure == Measure::largest ? max(column[c], apart)
                                                  : column[c] + (adds ? apart * apart : apart);
        if (ByColumns) of_b[c] = max(of_b[c], fabs(wanted));
        if (j0 + c < i) of_row += apart;
      }
      if (mirrored != nullptr) mirrored[i] += of_row;
    }
    for (std::int64_t k = Own::lane(); ByColumns && k < r.right.rows; k += Lanes) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < Columns; ++c) of_x[c] = max(of_x[c], fabs(element(r.right, k, j0 + c)));
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < Columns; ++c) {
      const double all =
          r.measure == Measure::largest ? largest_of_warp<Lanes>(column[c]) : sum_of_warp<Lanes>(column[c]);
      double whole = r.whole;
      if (ByColumns)
        whole = whole * (largest_of_warp<Lanes>(of_x[c]) + r.smallest) + largest_of_warp<Lanes>(of_b[c]);
      if (mirrored == nullptr) {
        ratio = adds ? ratio + all : max(ratio, share(all, whole * r.factor));
      } else if (j0 + c < r.right.cols &&
                 (j0 + c) % Lanes == Own::lane()) {  // who has the row has the column
        mirrored[j0 + c] += all;
      }
    }
  }
  if (mirrored == nullptr) return together<Lanes>(board, ratio, adds);
  Own::wait();
  for (std::int64_t j = Own::thread(); j < r.right.cols; j += Own::threads()) {
    double all = 0;
    for (int w = 0; w < Own::warps(); ++w) all += r.mirrored[w * r.right.cols + j];
    ratio = max(ratio, share(all, r.whole * r.factor));
  }
  return largest_of_all<Lanes>(board, ratio);
}

/// Whether sums and products of sizes up to these neither overflow nor lose what a ratio shows.
template <class T>
__device__ __forceinline__ bool is_ordinary(double largest) {
  return largest == 0 || (largest >= 0x1p-200 && largest <= (tiles::splits<T> ? 0x1p200 : 0x1p100));
}

/// The rows of P A, and whether pivots and info are those of the factors (judges::lu_factors).
template <int Lanes, class T>
__device__ bool take_order(Board<Lanes>& board, const Systems<T>& all, std::int64_t s, const T* x,
                           std::int64_t* order, int* pivots) {
  using Own = Team<Lanes>;
  const auto n = static_cast<int>(all.shape.n);
  double zeros_from_end = 0, flaws = 0;
  for (int i = Own::thread(); i < n; i += Own::threads()) {
    const int pivot = all.pivots[s * n + i];
    order[i] = i;
    pivots[i] = pivot;
    if (x[i + static_cast<std::int64_t>(i) * n] == T(0)) zeros_from_end = max(zeros_from_end, n - i * 1.0);
    if (pivot < 0 || pivot >= n) flaws = 1;
  }
  zeros_from_end = largest_of_all<Lanes>(board, zeros_from_end);
  flaws = largest_of_all<Lanes>(board, flaws);
  const int info = zeros_from_end == 0 ? 0 : n + 1 - static_cast<int>(zeros_from_end);
  if (flaws != 0 || (all.infos[s] >= 0 && all.infos[s] != info)) return false;
  Own::wait();
  if (Own::thread() == 0) {
    for (int k = 0; k < n; ++k) {
      const std::int64_t row = order[k];
      order[k] = order[pivots[k]];
      order[pivots[k]] = row;
    }
  }
  Own::wait();
  return true;
}

/// The forward error of a system, by the solution that its right-hand sides were made of.
template <int Lanes, class T>
__device__ double error_of(Board<Lanes>& board, const Systems<T>& all, std::int64_t s, const Elements<T>& x) {
  const std::uint64_t seed = seed_of_system(all.solution_seed, s);
  double apart = 0, largest = 0;
  for (std::int64_t k = Team<Lanes>::thread(); k < x.rows * x.cols; k += Team<Lanes>::threads()) {
    const std::int64_t i = k % x.rows, j = k / x.rows;
    const double known = static_cast<T>(signed_unit(seed, RandomStream::solution, i, j));
    apart = max(apart, fabs(x.data[k] - known));
    largest = max(largest, fabs(known));
  }
  apart = largest_of_all<Lanes>(board, apart);
  return share(apart, largest_of_all<Lanes>(board, largest));
}

/// Whether half of a product is enough, and its sums find room.
template <class T>
__host__ __device__ bool mirrors(const Systems<T>& all) {
  return all.quotient == Quotient::cholesky_factor && all.shape.n <= 1024;
}

/// The ratio, and the forward error, which stays as it is where there is none.
template <int Lanes, class T>
__device__ double judged(Board<Lanes>& board, const Systems<T>& all, std::int64_t s, double& error) {
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
  const double most_a = largest_element<Lanes>(board, a), most_x = largest_element<Lanes>(board, x);
  const double most_b = largest_element<Lanes>(board, b);
  const double sizes = most_a + most_x + most_b;
  if (sizes - sizes != 0) return __longlong_as_double(0x7ff0000000000000ll);
  if (!is_ordinary<T>(most_a) || !is_ordinary<T>(most_x) || !is_ordinary<T>(most_b)) return nan;
  if (all.knows_solution) error = error_of<Lanes>(board, all, s, x);

  const double smallest = tiles::splits<T> ? 0x1p-1022 : 0x1p-126;
  Residual<T> r{a, x, {nullptr, 1, 0, Part::all, nullptr}, Measure::sum, 0, 0, smallest};
  r.factor = static_cast<double>(all.shape.n) * unit;
  double most_left = most_a, most_right = most_x;
  switch (all.quotient) {
    case Quotient::solution:
      r.wanted = {b.data, 1, b.rows, Part::all, nullptr};
      r.measure = Measure::largest;
      r.whole = largest_row_sum<Lanes>(board, a, false);
      break;
    case Quotient::lu_factors: {
      const std::int64_t n = all.shape.n;
      auto* const orders = simt::dynamic_shared<std::int64_t>();
      std::int64_t* const order = orders + Team<Lanes>::seat() * n;
      int* const pivots = reinterpret_cast<int*>(orders + Team<Lanes>::teams * n) + Team<Lanes>::seat() * n;
      if (!take_order<Lanes>(board, all, s, x_data, order, pivots)) return nan;
      r.wanted = {a.data, 1, a.rows, Part::all, order};
      r.left = of(x_data, all.of_x, Part::lower);
      r.right = of(x_data, all.of_x, Part::upper);
      const double norms =
          largest_column_sum<Lanes>(board, r.left) + largest_column_sum<Lanes>(board, r.right) + 1;
      r.whole = largest_column_sum<Lanes>(board, a) + smallest * norms;
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
      r.whole = largest_row_sum<Lanes>(board, a, true);
      most_left = most_x;
      if (mirrors(all)) {
        double* const of_teams = simt::dynamic_shared<double>();
        r.mirrored = of_teams + Team<Lanes>::seat() * Team<Lanes>::warps() * all.shape.n;
        for (std::int64_t k = Team<Lanes>::thread(); k < Team<Lanes>::warps() * all.shape.n;
             k += Team<Lanes>::threads())
          r.mirrored[k] = 0;
        Team<Lanes>::wait();
      }
      break;
    }
    case Quotient::inverse:
      r.whole = largest_column_sum<Lanes>(board, a) * (largest_column_sum<Lanes>(board, x) + smallest);
      break;
    case Quotient::product:
      r.left = a;
      r.right = b;
      r.wanted = {x.data, 1, x.rows, Part::all, nullptr};
      r.measure = Measure::squares;
      r.factor = std::sqrt(static_cast<double>(all.shape.k) + 2) * unit;
      r.whole = std::sqrt(sum_of_squares<Lanes>(board, a)) * std::sqrt(sum_of_squares<Lanes>(board, b));
      most_right = most_b;
      break;
  }
  const auto terms = static_cast<double>(r.left.cols);
  // Half of it, which is the next power of two at least, holds every sum.
  if (tiles::splits<T>) r.bias = 3 * times_power(1, exponent_of(terms * most_left * most_right));
  const bool by_columns = all.quotient == Quotient::solution;
  double ratio = !by_columns         ? ratio_of<Lanes, most_columns, false>(board, r)
                 : r.right.cols == 1 ? ratio_of<Lanes, 1, true>(board, r)
                                     : ratio_of<Lanes, most_columns / 2, true>(board, r);
  if (all.quotient == Quotient::product) {
    ratio = share(std::sqrt(ratio), r.whole * r.factor);
    if (ratio > 0.99) return nan;
  }
  // An element's sum is right to this.
  const double of_sum =
      (tiles::splits<T> ? terms * terms * 0x1p-102 : terms * 0x1p-52) * terms * most_left * most_right;
  const double whole = by_columns ? r.whole * most_x + most_b : r.whole;
  const double bound = share(of_sum * static_cast<double>(r.left.rows), whole * r.factor) + 0x1p-40 * ratio;
  const auto is_open = [&](double limit) { return ratio - bound <= limit && limit < ratio + bound; };
  const bool sharp = bound <= 0x1p-12 * max(1.0, ratio);
  return sharp && !is_open(all.tolerance) && !is_open(10 * all.tolerance) ? ratio : nan;
}

__device__ __forceinline__ unsigned long long bits_of(double size) {
  unsigned long long bits = 0;
  memcpy(&bits, &size, sizeof bits);
  return bits;
}
__device__ __forceinline__ void take_larger(unsigned long long* most, unsigned long long own) {
  if (own > simt::load_volatile(most)) atomicMax(most, own);
}

template <int Lanes, class T>
__global__ void __launch_bounds__(most_threads, 2)
    ratios_kernel(Systems<T> all, double* ratios, Totals* totals) {
  using Own = Team<Lanes>;
  __shared__ Board<Lanes> boards[Own::teams];
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * Own::teams + Own::seat();
  if (s >= all.shape.batch) return;
  double error = -1;
  const double ratio = judged<Lanes>(boards[Own::seat()], all, s, error);
  if (Own::thread() != 0) return;
  ratios[s] = ratio;
  if (error >= 0) take_larger(&totals->most_error, bits_of(error) + 1);
  if (all.infos[s] == 0 && ratio <= all.tolerance) {
    take_larger(&totals->most, bits_of(ratio));
  } else {
    atomicAdd(&totals->others, 1ull);
  }
}

/// The worst of those that pass, and the ratios of `count` systems at equal distances.
template <class = void>  // so that the name may be one of two
__global__ void summary_kernel(const double* ratios, const int* infos, double tolerance, std::int64_t batch,
                               std::int64_t count, double* sample, Totals* totals) {
  const std::int64_t s = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (s < count) sample[s] = ratios[batch * s / count];
  if (s < batch && infos[s] == 0 && ratios[s] <= tolerance && bits_of(ratios[s]) == totals->most)
    atomicMin(&totals->worst, static_cast<unsigned long long>(s));
}

template <int Lanes, class T>
void launch_ratios(Context& context, const Systems<T>& all, unsigned threads, double* ratios,
                   Totals* totals) {
  const std::int64_t teams = Team<Lanes>::teams, blocks = (all.shape.batch + teams - 1) / teams;
  const std::size_t warps = Lanes < 32 ? 1 : threads / 32;  // of a team
  const std::size_t of_row = all.quotient == Quotient::lu_factors ? sizeof(std::int64_t) + sizeof(int)
                             : mirrors(all)                       ? warps * sizeof(double)
                                                                  : 0;
  simt::launch(context, ratios_kernel<Lanes, T>, dim3(static_cast<unsigned>(blocks)), dim3(threads),
               static_cast<std::size_t>(teams * all.shape.n) * of_row, all, ratios, totals);
}

}  // namespace

template <class T>
void start_ratios(Context& context, const Systems<T>& all, std::int64_t count, double* ratios,
                  Totals* totals) {
  const std::int64_t size = std::max(all.of_a.rows, all.of_x.cols);
  const bool is_narrow = all.quotient == Quotient::solution && all.of_x.cols <= 4;
  if (size <= 8) {
    launch_ratios<8>(context, all, most_threads / 2, ratios, totals);
  } else if (size <= 16) {
    launch_ratios<16>(context, all, most_threads / 2, ratios, totals);
  } else {
    launch_ratios<32>(context, all,
                      size <= 32 || is_narrow ? 32
                      : size <= 128           ? 128
                                              : most_threads,
                      ratios, totals);
  }
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((all.shape.batch + threads - 1) / threads);
  simt::launch(context, summary_kernel<>, dim3(blocks), dim3(threads), 0, static_cast<const double*>(ratios),
               all.infos, all.tolerance, all.shape.batch, count, reinterpret_cast<double*>(totals + 1),
               totals);
}

template void start_ratios(Context&, const Systems<float>&, std::int64_t, double*, Totals*);
template void start_ratios(Context&, const Systems<double>&, std::int64_t, double*, Totals*);

}  // namespace gaussweep::GAUSSWEEP_BACKEND
