/// Computes the residual C - L R on the CPU in extended precision, without BLAS. The results do not depend on
/// the number of threads or the processor.

#include "kernels/check/residual.hpp"

#include <atomic>
#include <memory>
#include <optional>

#include "kernels/check/exact_sum.hpp"
#include "kernels/check/tile.hpp"
#include "kernels/check/tile_sums.hpp"
#include "kernels/core/parallel_rows.hpp"

namespace gaussweep {
namespace {

using namespace tiles;

/// The largest |element| of every row (or column), and the power of two by which the row is divided so that
/// its elements are at most 1.
class RowScales {
 public:
  explicit RowScales(std::int64_t count)
      : largest_(static_cast<std::size_t>(count), 0.0),
        exponents_(static_cast<std::size_t>(count), 0),
        divisors_(static_cast<std::size_t>(count)) {}
  void observe(std::int64_t i, double value) {
    double& largest = largest_[static_cast<std::size_t>(i)];
    largest = std::max(largest, std::fabs(value));
  }
  /// Computes the exponents. @pre `observe` was called for all elements
  void finalize() {
    for (std::size_t i = 0; i < largest_.size(); ++i) {
      exponents_[i] = exponent_of(largest_[i]);
      divisors_[i] = divisor_of(exponents_[i]);
    }
  }
  int exponent(std::int64_t i) const { return exponents_[static_cast<std::size_t>(i)]; }
  const std::vector<double>& largest() const { return largest_; }
  Divisor divisor(std::int64_t i) const { return divisors_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<double> largest_;
  std::vector<int> exponents_;
  std::vector<Divisor> divisors_;
};

/// A thread's packed operands and the sums of its current tile. tile.hpp defines the packed order, a tile of
/// tile_edge x tile_edge elements, and the tile_depth values of k per call of a microkernel. A microtile has
/// `microtile_rows` x `microtile_cols` elements. splits<T> (tile_sums.hpp) is true for double: each element
/// is then split into a high and a low part.
template <class T>
struct PackedTile {
  static constexpr int left_parts = splits<T> ? 2 : 1;   // doubles per element: high and low part
  static constexpr int right_parts = splits<T> ? 3 : 1;  // high and low part, and their sum (tile.hpp)
  double left[tile_edge * tile_depth * left_parts];
  double right[tile_edge * tile_depth * right_parts];
  double column[tile_edge];
  TileSums tile;
  /// Zeroes the sums of the first `rows` rows of the first `columns` columns. A sum is high + low + lowest.
  /// In double, `high` sums the products of high parts, `low` the other products and the rounding errors of
  /// `high`, and `lowest` the rounding errors of `low`. In float, `high` sums all products, `low` its
  /// rounding errors.
  void clear(int rows, int columns) {
    for (double* const sums : {tile.high, tile.low, tile.lowest}) {
      for (int c = 0; c < columns; ++c) std::fill_n(sums + c * tile_edge, rows, 0.0);
    }
  }
};

/// Computes tiles of a product left * right.
template <class T>
class Multiplier {
 public:
  explicit Multiplier(const ProductOperands<T>& operands)
      : operands_(operands), row_scales_(operands.rows()), col_scales_(operands.cols()) {
    const double cost = 2.0 * static_cast<double>(operands.rows()) * static_cast<double>(operands.terms());
    for_row_ranges(operands.rows(), /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> column(static_cast<std::size_t>(end - begin));
      for (std::int64_t k = 0; k < operands.terms(); ++k) {
        operands_.left.column(begin, end - begin, k, column.data());
        for (std::int64_t i = begin; i < end; ++i) {
          row_scales_.observe(i, column[static_cast<std::size_t>(i - begin)]);
        }
      }
    });
    std::vector<double> column(static_cast<std::size_t>(operands.terms()));
    for (std::int64_t j = 0; j < operands.cols(); ++j) {
      operands_.right.column(/*begin=*/0, operands.terms(), j, column.data());
      for (const double value : column) col_scales_.observe(j, value);
    }
    row_scales_.finalize();
    col_scales_.finalize();
  }

  const RowScales& row_scales() const { return row_scales_; }
  const RowScales& col_scales() const { return col_scales_; }

  /// Computes the tile whose first element is (i, j). Each sum is in units of 2^(exponent of its row +
  /// exponent of its column).
  void multiply(std::int64_t i, std::int64_t j, PackedTile<T>& packed) const {
    const auto rows = std::min<std::int64_t>(tile_edge, operands_.rows() - i);
    const auto cols = std::min<std::int64_t>(tile_edge, operands_.cols() - j);
    const int row_groups = static_cast<int>((rows + microtile_rows - 1) / microtile_rows);
    const int col_groups = static_cast<int>((cols + microtile_cols - 1) / microtile_cols);
    packed.clear(row_groups * microtile_rows, col_groups * microtile_cols);
    // The k indices (not rows, despite the type) for which both operands may be nonzero.
    const RowRange k_range = operands_.k_range(i, i + rows, j, j + cols);
    // The microkernel with the longest vectors of this processor.
    static const AddProducts add = splits<T> ? split_products() : plain_products();
    for (std::int64_t k = k_range.begin / tile_depth * tile_depth; k < k_range.end; k += tile_depth) {
      pack_left(i, row_groups, k, packed);
      pack_right(k, j, col_groups, packed);
      add(packed.left, packed.right, row_groups, col_groups, packed.tile);
    }
  }

 private:
  /// Packs rows of the left operand and columns of the right operand for tile_depth values of k, in the order
  /// that the microkernels expect (tile.hpp). Each element is multiplied by 2^-exponent of its row (or
  /// column). A Divisor has this power as two factors, `first` and `second`, because it may exceed the range
  /// of double.
  void pack_left(std::int64_t i, int groups, std::int64_t k, PackedTile<T>& packed) const {
    const int rows = groups * microtile_rows;
    double first[tile_edge], second[tile_edge];
    for (int r = 0; r < rows; ++r) {
      const auto divisor = i + r < operands_.rows() ? row_scales_.divisor(i + r) : divisor_of(/*exponent=*/0);
      first[r] = divisor.first;
      second[r] = divisor.second;
    }
    double* column = packed.column;
    for (int d = 0; d < tile_depth; ++d) {
      if (k + d < operands_.terms()) {
        operands_.left.column(i, rows, k + d, column);  // gives 0 in rows beyond the matrix
      } else {
        std::fill_n(column, rows, 0.0);
      }
      for (int p = 0; p < groups; ++p) {
        double* out = packed.left + (p * tile_depth + d) * microtile_rows * PackedTile<T>::left_parts;
        for (int r = 0; r < microtile_rows; ++r) {
          const int index = p * microtile_rows + r;
          const double x = column[index] * first[index] * second[index];
          if constexpr (splits<T>) {
            out[r] = high_part(x);
            out[r + microtile_rows] = x - out[r];
          } else {
            out[r] = x;
          }
        }
      }
    }
  }
  void pack_right(std::int64_t k, std::int64_t j, int groups, PackedTile<T>& packed) const {
    const int count = static_cast<int>(std::min<std::int64_t>(tile_depth, operands_.terms() - k));
    constexpr int step = microtile_cols * PackedTile<T>::right_parts;
    double* column = packed.column;
    std::fill_n(column, tile_depth, 0.0);
    for (int c = 0; c < groups * microtile_cols; ++c) {
      const bool inside = j + c < operands_.cols();
      const auto divisor = inside ? col_scales_.divisor(j + c) : divisor_of(/*exponent=*/0);
      if (inside) {
        operands_.right.column(k, count, j + c, column);
      } else {
        std::fill_n(column, tile_depth, 0.0);
      }
      double* out = packed.right + c / microtile_cols * tile_depth * step +
                    c % microtile_cols * PackedTile<T>::right_parts;
      for (int d = 0; d < tile_depth; ++d, out += step) {
        const double x = column[d] * divisor.first * divisor.second;
        if constexpr (splits<T>) {
          out[0] = high_part(x);
          out[1] = x - out[0];
          out[2] = x;
        } else {
          out[0] = x;
        }
      }
    }
  }

  ProductOperands<T> operands_;
  RowScales row_scales_, col_scales_;
};

/// Returns |c - 2^exponent * (element `index` of the tile)|. A WideNumber has a separate 64-bit exponent and
/// therefore cannot overflow (scaled.hpp).
WideNumber tile_residual(double c, const TileSums& tile, int index, std::int64_t exponent) {
  return residual_of(c, tile.high[index], tile.low[index] + tile.lowest[index], exponent);
}

/// Returns true if |exponent| is so small that a residual computed in double has the same bits as one
/// computed in WideNumber.
bool has_same_bits_in_double(int exponent) {
  return exponent >= -200 && exponent <= 200;
}

/// Returns the measure (maximum or sum) of the residual's |elements| in rows [0, rows) of the tile's column
/// c. Computes it in double. This is faster than tile_residual and include (tile_sums.hpp), which adds an
/// element to a measure in WideNumber, and gives the same bits. Returns nullopt for Measure::squares, and if
/// doubles might overflow or underflow.
/// @param targets the column of C
/// @param powers 2^(row exponent), or 0 if this exponent is not moderate
/// @param exponent the column's exponent
std::optional<WideNumber> plain_double_measure(const TileSums& tile, const double* targets,
                                               const double* powers, int rows, int c, int exponent,
                                               Measure measure) {
  if (!has_same_bits_in_double(exponent) || measure == Measure::squares) return std::nullopt;
  const double power = times_power(1, exponent);
  double result = 0;
  bool in_range = true;
  // `in_range` becomes false if an operation below might overflow or underflow.
  for (int r = 0; r < rows; ++r) {
    const int index = c * tile_edge + r;
    const double target = targets[r], magnitude = std::fabs(target), scale = powers[r] * power;
    const double low = tile.low[index] + tile.lowest[index];
    in_range = in_range && scale != 0 && (magnitude == 0 || (magnitude > 0x1p-400 && magnitude < 0x1p400)) &&
               (low == 0 || std::fabs(low) > 0x1p-500);
    const double product = tile.high[index] * scale;
    double total = target, rounding_error = 0;
    two_sum(total, -product, rounding_error);
    const double residual = std::fabs(total + (rounding_error - low * scale));
    result = measure == Measure::largest ? std::max(result, residual) : result + residual;
  }
  if (!in_range) return std::nullopt;
  return WideNumber(result);
}

/// Computes all tiles on several threads and calls work(i, j, packed, t) for each tile. Here (i, j) is the
/// tile's first element, and t is the tile's index in column-major order.
template <class T, class Work>
void for_tiles(const Multiplier<T>& multiplier, const ProductOperands<T>& operands, Work&& work) {
  const std::int64_t tile_rows = (operands.rows() + tile_edge - 1) / tile_edge;
  const std::int64_t tile_cols = (operands.cols() + tile_edge - 1) / tile_edge;
  const double cost = 2.0 * static_cast<double>(operands.rows()) * static_cast<double>(operands.cols()) *
                      static_cast<double>(operands.terms());
  for_row_ranges(tile_rows * tile_cols, /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    // make_unique would initialize the whole struct, but small products use only a fraction of it.
    const std::unique_ptr<PackedTile<T>> packed(new PackedTile<T>);
    for (std::int64_t step = begin; step < end; ++step) {
      // Takes tiles from both ends alternately: in products of triangles the last tiles have the most work.
      const std::int64_t t = step % 2 == 0 ? step / 2 : tile_rows * tile_cols - 1 - step / 2;
      const std::int64_t i = t % tile_rows * tile_edge, j = t / tile_rows * tile_edge;
      multiplier.multiply(i, j, *packed);
      work(i, j, *packed, t);
    }
  });
}

}  // namespace

/// Returns element (i, j) of |C - L R|, where c is this element of C.
template <class T>
WideNumber exact_element(const ProductOperands<T>& operands, double c, std::int64_t i, std::int64_t j) {
  ExactSum sum;
  const RowRange k_range = operands.k_range(i, i + 1, j, j + 1);  // both operands may be nonzero
  sum.add(c, 1);
  for (std::int64_t k = k_range.begin; k < k_range.end; ++k) {
    sum.add(-operands.left.at(i, k), operands.right.at(k, j));
  }
  return sum.magnitude();
}

template <class T>
std::vector<ColumnResidual> residual_columns(const ProductOperands<T>& operands,
                                             const ResidualTarget<T>& target, Measure measure) {
  const Multiplier<T> multiplier(operands);
  const std::int64_t tile_rows = (operands.rows() + tile_edge - 1) / tile_edge;
  const std::int64_t tile_cols = (operands.cols() + tile_edge - 1) / tile_edge;
  // parts[t * tile_edge + c] is the measure of column c of tile t.
  std::vector<WideNumber> parts(static_cast<std::size_t>(tile_rows * tile_cols * tile_edge));
  for_tiles(
      multiplier, operands, [&](std::int64_t i, std::int64_t j, const PackedTile<T>& packed, std::int64_t t) {
        const std::int64_t rows = std::min<std::int64_t>(tile_edge, operands.rows() - i);
        const std::int64_t cols = std::min<std::int64_t>(tile_edge, operands.cols() - j);
        double powers[tile_edge], targets[tile_edge];
        for (std::int64_t r = 0; r < rows; ++r) {
          const int exponent = multiplier.row_scales().exponent(i + r);
          powers[r] = has_same_bits_in_double(exponent) ? times_power(1, exponent) : 0;
        }
        for (std::int64_t c = 0; c < cols; ++c) {
          WideNumber& part = parts[static_cast<std::size_t>(t * tile_edge + c)];
          const int col_exponent = multiplier.col_scales().exponent(j + c);
          for (std::int64_t r = 0; r < rows; ++r) targets[r] = target(i + r, j + c);
          const auto fast_measure = plain_double_measure(packed.tile, targets, powers, static_cast<int>(rows),
                                                         static_cast<int>(c), col_exponent, measure);
          if (fast_measure) {
            part = *fast_measure;
            continue;
          }
          for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t exponent = multiplier.row_scales().exponent(i + r) + col_exponent;
            include(part,
                    tile_residual(targets[r], packed.tile, static_cast<int>(c * tile_edge + r), exponent),
                    measure);
          }
        }
      });
  std::vector<ColumnResidual> columns(static_cast<std::size_t>(operands.cols()));
  for (std::int64_t j = 0; j < operands.cols(); ++j) {
    ColumnResidual& column = columns[static_cast<std::size_t>(j)];
    for (std::int64_t d = 0; d < tile_rows; ++d) {
      const WideNumber& part =
          parts[static_cast<std::size_t>((j / tile_edge * tile_rows + d) * tile_edge + j % tile_edge)];
      column.value = measure == Measure::largest ? std::max(column.value, part) : column.value + part;
    }
  }
  set_bounds(operands, multiplier.row_scales().largest(), multiplier.col_scales().largest(), measure,
             columns);
  return columns;
}

template <class T>
void set_bounds(const ProductOperands<T>& operands, const std::vector<double>& largest_of_rows,
                const std::vector<double>& largest_of_cols, Measure measure,
                std::vector<ColumnResidual>& columns) {
  // The measure (e.g. the sum over all rows) of (largest |element| of a row) * (terms of the row).
  WideNumber row_bounds;
  for (std::size_t i = 0; i < largest_of_rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const RowRange k_range = operands.k_range(row, row + 1, 0, operands.cols());
    const WideNumber row_bound(static_cast<double>(k_range.end - k_range.begin),
                               exponent_of(largest_of_rows[i]));
    if (largest_of_rows[i] != 0) include(row_bounds, row_bound, measure);
  }
  const WideNumber term_error(error_of_term<T>);
  for (std::size_t j = 0; j < columns.size(); ++j) {
    if (largest_of_cols[j] == 0) continue;
    const WideNumber factor = term_error * WideNumber(1, exponent_of(largest_of_cols[j]));
    columns[j].bound = row_bounds * (measure == Measure::squares ? factor * factor : factor);
  }
}

template <class T>
WideNumber exact_column(const ProductOperands<T>& operands, const ResidualTarget<T>& target, Measure measure,
                        std::int64_t j) {
  std::vector<WideNumber> residuals(static_cast<std::size_t>(operands.rows()));
  const double cost = 16.0 * static_cast<double>(operands.rows()) * static_cast<double>(operands.terms());
  for_row_ranges(operands.rows(), /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      residuals[static_cast<std::size_t>(i)] = exact_element(operands, target(i, j), i, j);
    }
  });
  WideNumber total;
  for (const WideNumber& residual : residuals) include(total, residual, measure);
  return total;
}

template <class T>
double largest_allowance_ratio(const ProductOperands<T>& operands, const ResidualTarget<T>& target,
                               const Allowance& allowance) {
  ProductOperands<T> absolute = operands;
  absolute.left.absolute = absolute.right.absolute = true;
  const Multiplier<T> multiplier(operands), absolute_multiplier(absolute);
  const WideNumber error_unit(error_of_term<T> * static_cast<double>(operands.terms()));
  const std::int64_t tile_count =
      (operands.rows() + tile_edge - 1) / tile_edge * ((operands.cols() + tile_edge - 1) / tile_edge);
  std::vector<double> largest(static_cast<std::size_t>(tile_count), 0.0);
  const double max_exact_elements = allowance.max_exact_terms / static_cast<double>(operands.terms());
  std::atomic<std::int64_t> exact_elements{0};
  for_tiles(multiplier, operands,
            [&](std::int64_t i, std::int64_t j, const PackedTile<T>& packed, std::int64_t t) {
              const std::unique_ptr<PackedTile<T>> absolute_packed(new PackedTile<T>);
              absolute_multiplier.multiply(i, j, *absolute_packed);
              const std::int64_t rows = std::min<std::int64_t>(tile_edge, operands.rows() - i);
              const std::int64_t cols = std::min<std::int64_t>(tile_edge, operands.cols() - j);
              for (std::int64_t c = 0; c < cols; ++c) {
                for (std::int64_t r = 0; r < rows; ++r) {
                  const int index = static_cast<int>(c * tile_edge + r);
                  const std::int64_t exponent =
                      multiplier.row_scales().exponent(i + r) + multiplier.col_scales().exponent(j + c);
                  const double element = target(i + r, j + c);
                  const WideNumber magnitude(
                      absolute_packed->tile.high[index] + absolute_packed->tile.low[index], exponent);
                  const WideNumber allowed = WideNumber(allowance.product_factor) * magnitude +
                                             WideNumber(allowance.target_factor) * WideNumber(element) +
                                             allowance.absolute_term;
                  WideNumber residual = tile_residual(element, packed.tile, index, exponent);
                  // If the rounding error is not negligible, sum this element exactly.
                  if (!(error_unit * WideNumber(1, exponent) < WideNumber(allowance.negligible) * allowed)) {
                    if (static_cast<double>(++exact_elements) > max_exact_elements) continue;
                    residual = exact_element(operands, element, i + r, j + c);
                  }
                  double& tile_max = largest[static_cast<std::size_t>(t)];
                  tile_max = std::max(tile_max, (residual / allowed).value());
                }
              }
            });
  if (static_cast<double>(exact_elements) > max_exact_elements)
    return std::numeric_limits<double>::quiet_NaN();
  return *std::max_element(largest.begin(), largest.end());
}

#define GAUSSWEEP_RESIDUAL(T)                                                                          \
  template std::vector<ColumnResidual> residual_columns<T>(const ProductOperands<T>&,                  \
                                                           const ResidualTarget<T>&, Measure);         \
  template WideNumber exact_element<T>(const ProductOperands<T>&, double, std::int64_t, std::int64_t); \
  template WideNumber exact_column<T>(const ProductOperands<T>&, const ResidualTarget<T>&, Measure,    \
                                      std::int64_t);                                                   \
  template void set_bounds<T>(const ProductOperands<T>&, const std::vector<double>&,                   \
                              const std::vector<double>&, Measure, std::vector<ColumnResidual>&);      \
  template double largest_allowance_ratio<T>(const ProductOperands<T>&, const ResidualTarget<T>&,      \
                                             const Allowance&);
GAUSSWEEP_RESIDUAL(float)
GAUSSWEEP_RESIDUAL(double)
#undef GAUSSWEEP_RESIDUAL

}  // namespace gaussweep
