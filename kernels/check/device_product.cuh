#pragma once
/// The kernel that computes the residual C - L R on a device. Each element is computed by the same operations
/// in the same order as in residual.cpp, so that the results have the same bits. Portable (compiled for GPUs
/// and for the CPU emulation).
///
/// In double, each operand element is split into a high part of 24 bits and a low part (residual.hpp). A
/// block computes a 64 x 64 tile; a thread computes 16 elements. Per element, registers hold two sums over 32
/// values of k (`high` and `low`) and three sums over all k (as in tiles::TileSums). Per element and k this
/// takes 5 FP64 operations in double and one in float. Tensor cores are not used.

#include <cstring>

#include "kernels/check/device_elements.cuh"
#include "kernels/check/residual.hpp"
#include "kernels/check/tile.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::verification {

using tiles::tile_depth;  // 32: the values of k over which products of high parts are summed exactly
using tiles::tile_edge;   // 64: the rows and columns of a tile

/// The device counterpart of ResidualTarget (residual.hpp).
template <class T>
struct DeviceTarget {
  const T* data;  ///< null: the identity
  std::int64_t row_stride, col_stride;
  MatrixPart stored;          ///< ResidualTarget::stored
  const std::int64_t* order;  ///< ResidualTarget::order
};

/// The arguments of product_kernel.
template <class T>
struct ProductArguments {
  DeviceOperand<T> left, right;
  const double *largest_of_rows, *largest_of_cols;  ///< max |element| of left's rows and of right's columns
  DeviceTarget<T> target;
  Measure measure;
  std::int64_t begin, cols;  ///< the column block [begin, begin + cols); begin is a multiple of tile_edge
};

/// The epilogue of a tile. `columns` stores the measure (sum, maximum or sum of squares) of each column of
/// the residual. `magnitudes` stores the elements of the product |L| |R|. `allowance_ratios` reads the
/// elements of |L| |R| and computes the largest |residual| / (allowed value).
enum class Epilogue { columns, magnitudes, allowance_ratios };

/// An element that the host has to sum exactly, because its error bound is not negligible.
struct UndecidedElement {
  std::int64_t row, col;
  WideNumber allowed;  ///< the allowed |residual| (Allowance in residual.hpp)
};

/// The inputs and results of Epilogue::allowance_ratios. The allowance ratio of an element is |residual| /
/// (allowed value).
struct AllowanceRatios {
  Allowance allowance;
  double error_unit;                    ///< (error bound of an element) / 2^(row exponent + column exponent)
  unsigned long long* largest_bits;     ///< the bits of the largest ratio, a nonnegative double
  unsigned long long* undecided_count;  ///< the number of undecided elements, which may exceed `capacity`
  UndecidedElement* list;               ///< the undecided elements
  unsigned long long capacity;          ///< the maximum length of `list`
};

constexpr int product_threads = 256;
constexpr int chunk = 16;             // k values in shared memory
constexpr int pitch = tile_edge + 2;  // doubles per k in shared memory, padded
constexpr int microtile = 4;          // rows and columns of a thread's microtile
constexpr int loads_per_thread = tile_edge * chunk / product_threads;  // elements of an operand, per chunk
constexpr int residual_pitch = tile_edge + 1;  // mantissas per column of the residual, padded
// Each element of the residual tile has an 8-byte mantissa and a 2-byte exponent, i.e. 5 / 4 doubles.
constexpr int shared_doubles = tile_edge * residual_pitch * 5 / 4;

/// Two doubles, loaded from shared memory by one instruction.
struct alignas(16) Pair {
  double x, y;
};

/// Returns a * b + c. @pre the product or the result is exact, so that an FMA gives the same bits
__device__ __forceinline__ double add_exact_product(double a, double b, double c) {
#ifdef __CUDACC__
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// Returns element (i, j) of C (ResidualTarget::operator()).
template <class T>
__device__ __forceinline__ double target_element(const DeviceTarget<T>& target, std::int64_t i,
                                                 std::int64_t j) {
  if (target.data == nullptr) return i == j ? 1 : 0;
  const bool swapped =
      (target.stored == MatrixPart::lower && i < j) || (target.stored == MatrixPart::upper && i > j);
  const std::int64_t row = swapped ? j : i, col = swapped ? i : j;
  return target.data[(target.order == nullptr ? row : target.order[row]) * target.row_stride +
                     col * target.col_stride];
}

/// Loads an operand for a thread. A line is a row of the left operand or a column of the right one. A block
/// loads 64 lines x 16 values of k (a chunk) at a time, and each thread loads `loads_per_thread` of these
/// elements. Neighbouring threads load neighbouring addresses. Elements stay in registers until
/// `store_to_shared`, so that the loads of a chunk overlap the products of the previous one.
template <class T>
struct OperandLoader {
  /// @param first the first line
  /// @param begin the first k
  __device__ __forceinline__ OperandLoader(const DeviceOperand<T>& m, LineKind kind, std::int64_t first,
                                           std::int64_t begin)
      : along_lines((kind == LineKind::rows ? m.row_stride : m.col_stride) == 1),
        absolute(m.absolute),
        unit_diagonal(m.unit_diagonal),
        k_from_line(m.part == (kind == LineKind::rows ? MatrixPart::upper : MatrixPart::lower)),
        k_to_line(m.part == (kind == LineKind::rows ? MatrixPart::lower : MatrixPart::upper)),
        lines(static_cast<int>(kind == LineKind::rows ? m.rows : m.cols)),
        terms(static_cast<int>(kind == LineKind::rows ? m.cols : m.rows)) {
    const auto t = static_cast<int>(threadIdx.x);
    line = along_lines ? t % tile_edge : t / chunk;
    k_in_chunk = along_lines ? t / tile_edge : t % chunk;
    first_line = static_cast<int>(first);
    k = static_cast<int>(begin) + k_in_chunk;
    const std::int64_t line_stride = kind == LineKind::rows ? m.row_stride : m.col_stride,
                       k_stride = kind == LineKind::rows ? m.col_stride : m.row_stride;
    pointer = m.data + (first + line) * line_stride + (begin + k_in_chunk) * k_stride;
    load_stride = along_lines ? k_stride * k_step : line_stride * line_step;
    step = k_stride * chunk;
  }
  /// Starts the loads of the next chunk.
  __device__ __forceinline__ void load() {
    GAUSSWEEP_UNROLL
    for (int f = 0; f < loads_per_thread; ++f) {
      const int element_line = first_line + line + (along_lines ? 0 : f * line_step);
      const int element_k = k + (along_lines ? f * k_step : 0);
      const bool diagonal = unit_diagonal && element_k == element_line;
      const bool inside = element_line < lines && element_k < terms &&
                          !(k_from_line && element_k < element_line) &&
                          !(k_to_line && element_k > element_line);
      values[f] = diagonal ? T(1) : T(0);
      if (inside && !diagonal) values[f] = pointer[f * load_stride];
    }
    k += chunk;
    pointer += step;
  }
  /// Divides the elements by the powers of two of their lines and stores them to shared memory. In double, an
  /// element is split into its high and low parts.
  __device__ __forceinline__ void store_to_shared(const tiles::Divisor* divisors, double* high,
                                                  double* low) const {
    GAUSSWEEP_UNROLL
    for (int f = 0; f < loads_per_thread; ++f) {
      const int element_line = line + (along_lines ? 0 : f * line_step);
      const int offset = (k_in_chunk + (along_lines ? f * k_step : 0)) * pitch + element_line;
      const double value = absolute ? fabs(static_cast<double>(values[f])) : static_cast<double>(values[f]);
      const double x = value * divisors[element_line].first * divisors[element_line].second;
      if (tiles::splits<T>) {
        const double leading = tiles::high_part(x);
        high[offset] = leading;
        low[offset] = x - leading;
      } else {
        high[offset] = x;
      }
    }
  }

  static constexpr int line_step = product_threads / chunk, k_step = product_threads / tile_edge;
  bool along_lines;  ///< true: neighbouring threads load elements of neighbouring lines; false: of one line
  bool absolute, unit_diagonal;
  bool k_from_line, k_to_line;  ///< triangular operands: the line is zero for k < line, or for k > line
  int lines, terms;             ///< the number of lines of the operand, and of values of k
  int first_line;               ///< the first line of the block
  int line, k_in_chunk;         ///< the thread's first element, relative to the block and the chunk
  int k;                        ///< the k of this element in the next chunk
  const T* pointer;             ///< the address of this element
  std::int64_t load_stride;     ///< the distance between the thread's elements in a chunk
  std::int64_t step;            ///< the distance from one chunk to the next
  T values[loads_per_thread];
};

/// Loads a thread's four elements for one k from shared memory: the pair at line[first] and the pair
/// `distance` elements later.
__device__ __forceinline__ void load_fragment(const double* line, int first, int distance,
                                              double out[microtile]) {
  const Pair pair = *reinterpret_cast<const Pair*>(line + first);
  const Pair next_pair = *reinterpret_cast<const Pair*>(line + first + distance);
  out[0] = pair.x;
  out[1] = pair.y;
  out[2] = next_pair.x;
  out[3] = next_pair.y;
}

/// Computes a tile of C - L R per block. With Epilogue::columns, parts[r * p.cols + c] receives the measure
/// of column c within tile row r. The other epilogues write or read `magnitudes`, a column-major matrix.
template <class T, Epilogue epilogue>
__global__ void __launch_bounds__(product_threads)
    product_kernel(ProductArguments<T> p, WideNumber* parts, double* magnitudes,
                   AllowanceRatios allowance_ratios) {
  __shared__ Pair shared[shared_doubles / 2];
  __shared__ int row_exponents[tile_edge], col_exponents[tile_edge];
  __shared__ tiles::Divisor row_divisors[tile_edge], col_divisors[tile_edge];
  double* const left_high = reinterpret_cast<double*>(shared);
  double* const right_high = left_high + chunk * pitch;
  double* const left_low = right_high + chunk * pitch;
  double* const right_low = left_low + chunk * pitch;
  const auto t = static_cast<int>(threadIdx.x);

  // Blocks with low indices start first. For triangles they get the tiles with the longest k range.
  const std::int64_t tile_rows = (p.left.rows + tile_edge - 1) / tile_edge,
                     tile_cols = (p.cols + tile_edge - 1) / tile_edge;
  std::int64_t tile_row = blockIdx.x % tile_rows, tile_col = blockIdx.x / tile_rows;
  if (p.left.part == MatrixPart::lower) tile_row = tile_rows - 1 - tile_row;
  if (p.right.part == MatrixPart::upper) tile_col = tile_cols - 1 - tile_col;
  const std::int64_t i0 = tile_row * tile_edge, j0 = p.begin + tile_col * tile_edge;
  const std::int64_t rows = min(static_cast<std::int64_t>(tile_edge), p.left.rows - i0);
  const std::int64_t cols = min(static_cast<std::int64_t>(tile_edge), p.begin + p.cols - j0);
  if (t < tile_edge) {
    row_exponents[t] = t < rows ? exponent_of(p.largest_of_rows[i0 + t]) : 0;
    col_exponents[t] = t < cols ? exponent_of(p.largest_of_cols[j0 + t]) : 0;
    row_divisors[t] = tiles::divisor_of(row_exponents[t]);
    col_divisors[t] = tiles::divisor_of(col_exponents[t]);
  }
  // The k range, as in ProductOperands::k_range.
  std::int64_t begin = 0, end = p.left.cols;
  if (p.left.part == MatrixPart::lower) end = min(end, i0 + rows);
  if (p.left.part == MatrixPart::upper) begin = max(begin, i0);
  if (p.right.part == MatrixPart::lower) begin = max(begin, j0);
  if (p.right.part == MatrixPart::upper) end = min(end, j0 + cols);

  const std::int64_t first_k = begin / tile_depth * tile_depth;
  OperandLoader<T> left(p.left, LineKind::rows, i0, first_k), right(p.right, LineKind::columns, j0, first_k);

  // A warp computes 32 rows x 16 columns. A thread's rows and columns form pairs, so that the loads of a
  // warp cover whole 128-byte rows of shared memory.
  const int lane = t % 32, warp = t / 32;
  const int first_row = warp % 2 * 32 + lane % 8 * 2, first_col = warp / 2 * 16 + lane / 8 * 2;
  // The sums over all k: high_sum + low_sum + lowest_sum.
  double high_sum[microtile][microtile] = {}, low_sum[microtile][microtile] = {},
         lowest_sum[microtile][microtile] = {};
  if (first_k < end) {
    left.load();
    right.load();
  }
  for (std::int64_t k0 = first_k; k0 < end; k0 += tile_depth) {
    // The sums over tile_depth values of k: `high` adds the products of two high parts, exactly; `low` adds
    // all other products.
    double high[microtile][microtile] = {}, low[microtile][microtile] = {};
    for (int chunk_index = 0; chunk_index < tile_depth / chunk; ++chunk_index) {
      __syncthreads();
      left.store_to_shared(row_divisors, left_high, left_low);
      right.store_to_shared(col_divisors, right_high, right_low);
      __syncthreads();
      // Loads the next chunk, unless this is the last one. A step of tile_depth has two chunks.
      if (chunk_index == 0 || k0 + tile_depth < end) {
        left.load();
        right.load();
      }
      for (int d = 0; d < chunk; ++d) {
        double a_high[microtile], b_high[microtile];
        load_fragment(left_high + d * pitch, first_row, /*distance=*/16, a_high);
        load_fragment(right_high + d * pitch, first_col, /*distance=*/8, b_high);
        double a_low[microtile] = {}, b_low[microtile] = {}, b_sum[microtile] = {};
        if (tiles::splits<T>) {
          load_fragment(left_low + d * pitch, first_row, /*distance=*/16, a_low);
          load_fragment(right_low + d * pitch, first_col, /*distance=*/8, b_low);
          GAUSSWEEP_UNROLL
          for (int c = 0; c < microtile; ++c) b_sum[c] = b_high[c] + b_low[c];
        }
        GAUSSWEEP_UNROLL
        for (int c = 0; c < microtile; ++c) {
          GAUSSWEEP_UNROLL
          for (int r = 0; r < microtile; ++r) {
            high[c][r] = add_exact_product(a_high[r], b_high[c], high[c][r]);
            if (tiles::splits<T>) low[c][r] = low[c][r] + (a_high[r] * b_low[c] + a_low[r] * b_sum[c]);
          }
        }
      }
    }
    GAUSSWEEP_UNROLL
    for (int c = 0; c < microtile; ++c) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < microtile; ++r) {
        double error_high = 0, error_low = 0, error_both = 0;
        tiles::two_sum(high_sum[c][r], high[c][r], error_high);
        if (tiles::splits<T>) {
          tiles::two_sum(low_sum[c][r], low[c][r], error_low);
          tiles::two_sum(low_sum[c][r], error_high, error_both);
          lowest_sum[c][r] += error_low + error_both;
        } else {
          low_sum[c][r] += error_high;
        }
      }
    }
  }

  __syncthreads();
  // From here on, the residuals replace the operands in shared memory.
  double* const mantissas = left_high;
  auto* const exponents = reinterpret_cast<short*>(mantissas + tile_edge * residual_pitch);
  double largest_allowance_ratio = 0;
  GAUSSWEEP_UNROLL
  for (int c = 0; c < microtile; ++c) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < microtile; ++r) {
      const int row = first_row + r % 2 + r / 2 * 16, col = first_col + c % 2 + c / 2 * 8;
      if (row >= rows || col >= cols) continue;
      const std::int64_t i = i0 + row, j = j0 + col;
      const std::int64_t magnitude_index = i + (j - p.begin) * p.left.rows;
      if (epilogue == Epilogue::magnitudes) {
        magnitudes[magnitude_index] = high_sum[c][r] + low_sum[c][r];
        continue;
      }
      const std::int64_t exponent = static_cast<std::int64_t>(row_exponents[row]) + col_exponents[col];
      const double target = target_element(p.target, i, j);
      const WideNumber residual =
          tiles::residual_of(target, high_sum[c][r], low_sum[c][r] + lowest_sum[c][r], exponent);
      if (epilogue == Epilogue::columns) {
        mantissas[col * residual_pitch + row] = residual.mantissa;
        exponents[col * residual_pitch + row] = static_cast<short>(residual.exponent);
        continue;
      }
      const Allowance& allowance = allowance_ratios.allowance;
      const WideNumber allowed =
          WideNumber(allowance.product_factor) * WideNumber(magnitudes[magnitude_index], exponent) +
          WideNumber(allowance.target_factor) * WideNumber(target) + allowance.absolute_term;
      if (WideNumber(allowance_ratios.error_unit, exponent) < WideNumber(allowance.negligible) * allowed) {
        largest_allowance_ratio = max(largest_allowance_ratio, (residual / allowed).value());
      } else {
        const unsigned long long slot = atomicAdd(allowance_ratios.undecided_count, 1ull);
        if (slot < allowance_ratios.capacity) allowance_ratios.list[slot] = UndecidedElement{i, j, allowed};
      }
    }
  }
  if (epilogue == Epilogue::allowance_ratios && largest_allowance_ratio > 0) {
    unsigned long long bits = 0;
    memcpy(&bits, &largest_allowance_ratio, sizeof bits);
    atomicMax(allowance_ratios.largest_bits, bits);
  }
  if (epilogue != Epilogue::columns) return;
  __syncthreads();
  if (t >= cols) return;
  WideNumber part;
  for (int row = 0; row < rows; ++row) {
    WideNumber magnitude;
    magnitude.mantissa = mantissas[t * residual_pitch + row];
    magnitude.exponent = exponents[t * residual_pitch + row];
    tiles::include(part, magnitude, p.measure);
  }
  parts[tile_row * p.cols + (j0 - p.begin) + t] = part;
}

/// Combines the measures of a column's tiles, from the first tile row to the last.
template <class = void>  // a template, so that a header may define it
__global__ void combine_partial_sums_kernel(const WideNumber* parts, std::int64_t tile_rows,
                                            std::int64_t cols, Measure measure, WideNumber* columns) {
  const std::int64_t j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= cols) return;
  WideNumber column;
  for (std::int64_t tile_row = 0; tile_row < tile_rows; ++tile_row) {
    const WideNumber part = parts[tile_row * cols + j];
    if (measure != Measure::largest) {
      column = column + part;
    } else if (column < part) {
      column = part;
    }
  }
  columns[j] = column;
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::verification
