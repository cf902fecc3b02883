#pragma once
/// LU factorisation with partial pivoting, recursive in columns; a thread-block cluster factors each panel in
/// registers (cluster_panel.cuh).
///
/// Toledo's recursion (S. Toledo, Locality of reference in LU decomposition with partial pivoting, SIAM J.
/// Matrix Anal. Appl. 18, 1997): factor the left half of the columns, update the right half, factor its lower
/// part, exchange the rows of the left half. The products then have the largest possible inner dimension k,
/// for which a GPU's GEMM is fastest. The recursion ends at ranges of several panels (column blocks), whose
/// panels are factored from left to right. While one cluster factors a panel, other clusters of the same
/// launch apply the previous panel to the rest of the column block.

#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/getrf/lu_products.cuh"
#include "kernels/getrf/lu_updates.cuh"
#include "kernels/getrf/workspaces.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using namespace gaussweep::lu;

/// Solves with the lower triangle of rows [first, first + count), recursively, so that most of the work is in
/// large products.
/// @param solve_block solve_block(row, rows): solves with the diagonal block of `rows` rows at `row`; `rows`
/// is at most max_solve_rows_per_launch
/// @param product product(row, rows, before, k): updates the rows [row, row + rows) by the product of L and
/// the k solved rows from `before` on
template <class SolveBlock, class Product>
void solve_by_blocks(int first, int count, const SolveBlock& solve_block, const Product& product) {
  if (count <= max_solve_rows_per_launch) return solve_block(first, count);
  // The rows of the upper part: the largest max_solve_rows_per_launch * 2^i below `count`.
  int upper = max_solve_rows_per_launch;
  while (2 * upper < count) upper *= 2;
  solve_by_blocks(first, upper, solve_block, product);
  product(first + upper, count - upper, first, upper);
  solve_by_blocks(first + upper, count - upper, solve_block, product);
}

/// One factorisation P A = L U in place.
/// @tparam Products computes the large products instead of the vendor's GEMM, with the same accuracy
/// (residue_lu.cuh, half_lu.cuh), or less accurately for a preconditioner (split_products.cuh)
template <class T, class Products = NoProducts>
class RecursiveLu {
  static constexpr bool preconditions = Products::preconditions;

 public:
  /// `a`: n x n on the device. `pivots`: LAPACK's pivots, from 1. `info` must be 0; it is set to the index
  /// (from 1) of the first zero pivot, if any. If Products::preconditions, lda must be leading_dimension(n),
  /// and the padding between columns is overwritten. @pre 1 <= n <= max_panel_rows
  RecursiveLu(Context& context, T* a, std::int64_t lda, std::int64_t n, int* pivots, int* info,
              Workspace& workspace)
      : RecursiveLu(context, a, lda, n, pivots, info, workspace, !preconditions && is_copied(n, sizeof(T))) {}
  /// Like the first constructor. If `copied`, factors a copy of the matrix in the workspace.
  RecursiveLu(Context& context, T* a, std::int64_t lda, std::int64_t n, int* pivots, int* info,
              Workspace& workspace, bool copied)
      : context_(context),
        input_(a),
        ld_input_(lda),
        a_(a),
        lda_(lda),
        n_(static_cast<int>(n)),
        columns_before_merge_(n_ - merged_columns(n_)),
        pivots_(pivots),
        info_(info) {
    int* const ints = workspace.take<int>((2 + 2 * levels) * n);
    row_permutation_ = {ints, ints + n};
    permutations_ = ints + 2 * n;
    if (n > max_exchanges_by_row) buffer_ = workspace.take<T>(column_buffers * n);
    if (!copied) return;
    lda_ = leading_dimension(n);
    a_ = workspace.take<T>(lda_ * n);
  }

  /// Factors the matrix. Asynchronous on the device's stream.
  void factor() {
    start();
    if (a_ != input_) {
      copy_matrix<T>(context_, {input_, ld_input_, n_}, a_, lda_, static_cast<int>(lda_), n_);
    }
    factor(0, n_);
    if (a_ != input_) copy_matrix<T>(context_, {a_, lda_, n_}, input_, ld_input_, n_, n_);
  }
  /// Factors the matrix like factor(), with `products` for the large products.
  void factor(Products& products) {
    products_ = &products;
    if constexpr (!preconditions) {
      // All products with k >= least_inner use `products` (0: `products` decides). Column blocks therefore
      // get at most least_inner columns, because updates within them do not use `products`.
      const std::int64_t least = products.least_inner();
      if (least > 0) max_block_columns_ = static_cast<int>(std::min<std::int64_t>(least, max_rows));
      columns_before_merge_ = n_ - merged_columns(n_);
    }
    factor();
  }
  /// Factors a preconditioner with pivots from a window of rows. After about each eighth of the columns,
  /// calls should_continue with the number of columns in which the diagonal of U is final. Stops and returns
  /// false if should_continue returns false.
  bool factor(Products& products, std::function<bool(int)> should_continue) {
    should_continue_ = std::move(should_continue);
    next_check_ = n_ / 8;
    factor(products);
    return !aborted_;
  }

  /// Factors only the first `columns` columns, i.e. a panel of n rows, in place. @pre the matrix is not
  /// copied
  void factor_columns(int columns) {
    start();
    columns_before_merge_ = columns;
    factor(0, columns);
  }

  /// Returns a device array: for every row of L and U, the index of the row in A (from 0). Valid after
  /// `factor`.
  const int* row_order() const { return row_order(n_); }
  /// Returns the same array after factor_columns(columns). It is the first permutation of the level on which
  /// all columns are a single part: this permutation has accumulated the exchanges of all panels.
  const int* row_order(int columns) const {
    return permutations_ + 2 * level_of(columns) * static_cast<std::int64_t>(n_);
  }

 private:
  T* at(int row, int column) { return a_ + row + column * lda_; }
  void start() {
    context_.stage("start");
    simt::launch(context_, start_permutations<int>, dim3(blocks_of(n_, 256)), dim3(256), 0, permutations_,
                 n_);
  }
  static unsigned blocks_of(int count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
  }

  /// Returns the number of rows of a product from `row` to the end. If the padding between columns may be
  /// overwritten, rounds this number up to a multiple of 8, with which FP16 products are faster.
  int rows_from(int row) const {
    const int rows = n_ - row;
    return preconditions || a_ != input_ ? (rows + 7) / 8 * 8 : rows;
  }

  /// The number of elements of T in the registers of a double. Panels of floats have twice as many columns.
  static constexpr int elements_per_double = sizeof(double) / sizeof(T);

  /// Returns the number of columns of the panel whose first row is `row`. A panel with more rows has fewer
  /// columns, because it must fit in the registers of one cluster. The number is constant within 32 rows, so
  /// that panels end at the ends of column blocks.
  int panel_columns(int row) const {
    const int rows = n_ - row / 32 * 32;
    if (rows <= max_cluster_panel_rows || preconditions) return 32;
    return elements_per_double * (rows <= 2 * max_cluster_panel_rows   ? 16
                                  : rows <= 4 * max_cluster_panel_rows ? 8
                                  : rows <= 8 * max_cluster_panel_rows ? 4
                                                                       : 2);
  }
  /// Returns the number of columns of a column block whose first row is `row`. The update by a panel within
  /// the column block runs concurrently with the next panel and should not take longer than that panel. The
  /// column block is therefore narrower if there are more rows.
  int block_columns(int row) const {
    const int rows = n_ - row;
    const int panels = preconditions || rows > 2 * max_cluster_panel_rows ? 8
                       : rows > max_cluster_panel_rows / 2                ? 16
                                                                          : 32;
    return std::max(64, std::min(max_block_columns_, panels * panel_columns(row)));
  }

  /// Returns the number of columns beyond the last full column block if they are merged into this block, else
  /// 0. They are merged if they are at most an eighth of its width. As a separate column block, they would
  /// need as many launches as a full one.
  int merged_columns(int n) const {
    const int block = block_columns(n - 1), remainder = n % block;
    return preconditions || n < block || remainder > block / 8 ? 0 : remainder;
  }

  /// Factors columns [first, first + count) from row `first` down.
  void factor(int first, int count) {
    // Columns that merged_columns() adds to the last column block do not count for the split.
    const int unmerged = std::min(first + count, columns_before_merge_) - first;
    if (unmerged <= block_columns(first)) return factor_block(first, count);
    int left_count = 32;  // columns of the left part: the largest 32 * 2^i below `unmerged`
    while (2 * left_count < unmerged) left_count *= 2;
    const int right = first + left_count;
    const int right_count = count - left_count;
    factor(first, left_count);
    if (should_continue_ && !aborted_ && right >= next_check_) {
      aborted_ = !should_continue_(right);
      // Checks more often from n / 2 to 5 n / 8: half of U's diagonal is known, but most of the work remains.
      next_check_ = right + (2 * right >= n_ && 8 * right < 5 * n_ ? n_ / 32 : n_ / 8);
    }
    if (aborted_) return;
    // Applies the left part to the right columns: row exchanges, rows of U, product.
    exchange(first, left_count, /*width=*/left_count, right, right_count);
    solve(first, left_count, right, right_count);
    product(rows_from(right), right_count, left_count, at(right, first), at(first, right), at(right, right));
    factor(right, right_count);
    if (aborted_) return;
    // The left columns get the exchanges of the right part.
    exchange(right, right_count, /*width=*/left_count, first, left_count);
  }

  /// Factors a column block, panel by panel, from row `first` down.
  void factor_block(int first, int count) {
    int previous_cols = 0;  // columns of the previous panel
    int cols = 0;
    for (int j = first; j < first + count; j += cols) {
      cols = std::min(panel_columns(j), first + count - j);
      const int after = j + cols - first;  // the first column right of the panel, counted from `first`
      if constexpr (preconditions) {
        window_panel(j, cols);
        launch_exchange_and_solve(first, count, j, cols, after);
        const int below = j + cols;
        if (after < count && below < n_) {
          product(rows_from(below), count - after, cols, at(below, j), at(j, below), at(below, below));
        }
      } else {
        const int previous = j - previous_cols;
        panel(j, cols,
              {previous_cols, /*columns_left=*/previous - first, /*columns_right=*/count - after,
               exchanges_of(previous), permutations_, /*order=*/n_, parities_of(previous)});
        previous_cols = cols;
      }
    }
    // No later panel applies the last panel's exchanges to the column block and to the permutations.
    if (!preconditions) launch_exchange_and_solve(first, count, first + count - cols, cols, count);
  }

  /// Returns PreviousPanelUpdate::parities for column j: bit l selects one of the two permutations of level
  /// l.
  unsigned parities_of(int j) const {
    unsigned parities = 0;
    const int column = std::min(j, columns_before_merge_ - 1);
    for (int level = 0; level < levels; ++level)
      parities |= static_cast<unsigned>(column / (64 << level) % 2) << level;  // parity of the part's index
    return parities;
  }

  /// Applies the panel of `cols` columns at column j to its column block of `count` columns from column
  /// `first` on, except for the product. In the column block, the columns left of the panel and the columns
  /// from index `after` on get the row exchanges. The latter also get the triangular solve.
  void launch_exchange_and_solve(int first, int count, int j, int cols, int after) {
    const int before = j - first;
    const int rows_below_window = preconditions ? std::max(0, n_ - j - pivot_window_rows) : 0;
    const int blocks =
        levels / 4 + (before + 3) / 4 + (count - after + 3) / 4 + (rows_below_window + 31) / 32;
    context_.stage("exchange_and_solve");
    simt::launch(context_, exchange_and_solve<T>, dim3(static_cast<unsigned>(blocks)), dim3(32), 0,
                 a_ + first * lda_, lda_, at(j, j), j, cols, before, after, count, exchanges_of(j),
                 permutations_, n_, parities_of(j), at(j + pivot_window_rows, j), rows_below_window);
  }

  /// Factors the panel at column `first` with pivots from a window (window_panel.cuh).
  void window_panel(int first, int cols) {
    context_.stage("panel");
    simt::launch(context_, factor_window<T>, dim3(1), dim3(pivot_window_rows), sizeof(WindowMemory<T>),
                 at(first, first), lda_, std::min(n_ - first, pivot_window_rows), cols, first,
                 pivots_ + first, exchanges_of(first), info_);
  }

  /// Applies `update` and factors the panel at column `first` (cluster_panel.cuh). Chooses the template
  /// arguments of launch_panel (columns, rows per thread, threads per block) such that the panel fits in the
  /// registers of a cluster.
  void panel(int first, int cols, const PreviousPanelUpdate& update) {
    context_.stage("panel");
    const int rows = n_ - first;
    if (rows <= panel_threads) {
      return launch_panel<32, 1, panel_threads, Senders::block>(first, rows, cols, update);
    }
    if (rows <= max_cluster_panel_rows / 8) {
      return launch_panel<32, 1, panel_threads / 2, Senders::warps>(first, rows, cols, update);
    }
    if (rows <= max_cluster_panel_rows / 4)
      return launch_panel<32, 1, panel_threads / 2>(first, rows, cols, update);
    if (rows <= max_cluster_panel_rows / 2)
      return launch_panel<32, 1, panel_threads>(first, rows, cols, update);
    if (rows <= max_cluster_panel_rows) return launch_panel<32, 2, panel_threads>(first, rows, cols, update);
    if (rows <= 2 * max_cluster_panel_rows)
      return launch_panel<16 * elements_per_double, 4, panel_threads>(first, rows, cols, update);
    if (rows <= 4 * max_cluster_panel_rows)
      return launch_panel<8 * elements_per_double, 8, panel_threads>(first, rows, cols, update);
    if (rows <= 8 * max_cluster_panel_rows)
      return launch_panel<4 * elements_per_double, 16, panel_threads>(first, rows, cols, update);
    launch_panel<2 * elements_per_double, 32, panel_threads>(first, rows, cols, update);
  }

  /// Launches factor_panel with the smallest cluster whose threads together hold `rows` rows.
  template <int Columns, int RowsPerThread, int Threads, Senders SentBy = Senders::blocks>
  void launch_panel(int first, int rows, int cols, const PreviousPanelUpdate& update) {
    // At least 2, because compute-sanitizer does not support messages within a cluster of one block.
    unsigned blocks = SentBy == Senders::block ? 1 : 2;
    while (static_cast<int>(blocks) * Threads * RowsPerThread < rows) blocks *= 2;
    const unsigned clusters =
        update.cols == 0 ? 1 : 1 + row_exchange_clusters<SentBy> + blocks_of(update.columns_right, Columns);
    simt::launch_clusters(context_, factor_panel<T, Columns, RowsPerThread, Threads, SentBy>, blocks,
                          clusters, dim3(Threads),
                          sizeof(PanelMemory<T, Columns, RowsPerThread, Threads, SentBy>), at(first, first),
                          lda_, rows, cols, first, pivots_ + first, exchanges_of(first), info_, update);
  }

  RowPermutation exchanges_of(int first) const {
    return {row_permutation_.source + first, row_permutation_.target + first};
  }

  /// Computes C -= A B (C is m x n).
  void product(int m, int n, int k, const T* a, const T* b, T* c) {
    if (m <= 0 || n <= 0) return;
    subtract_product(context_, products_, m, n, k, a, lda_, b, lda_, c, lda_);
  }

  /// Returns the recursion level of parts of `width` columns: parts of level l have up to 64 * 2^l columns.
  static int level_of(int width) {
    int level = 0;
    while (64 << level < width) ++level;
    return level;
  }
  /// Applies the row exchanges of columns [first, first + count), a part of the recursion, to columns [begin,
  /// begin + columns). Called once per part, right after the part was factored. `width`: the number of
  /// columns of such parts; the last part of the matrix may be narrower. Levels whose parts are within a
  /// column block have no such calls, so their permutations are not reset and must not be used.
  void exchange(int first, int count, int width, int begin, int columns) {
    context_.stage("exchange");
    const int level = level_of(width);
    const int part = first / width;  // index of the part
    int* const source_rows = permutations_ + (2 * level + part % 2) * static_cast<std::int64_t>(n_);
    // The permutation of the part before this one. It is no longer needed, and is reset for the next part.
    int* const previous = permutations_ + (2 * level + (part + 1) % 2) * static_cast<std::int64_t>(n_);
    const int previous_columns = part > 0 && first + count < n_ ? width : 0;  // no part follows the last one
    if (count <= max_exchanges_by_row) {
      constexpr int columns_per_block = 4;
      simt::launch(context_, exchange_rows_by_element<T, columns_per_block>,
                   dim3(blocks_of(columns, columns_per_block)), dim3(blocks_of(count, 32) * 32), 0,
                   at(0, begin), lda_, first, count, columns, pivots_, source_rows, previous,
                   previous_columns);
    } else {
      simt::launch(context_, exchange_rows_by_column_buffer<T>,
                   dim3(static_cast<unsigned>(std::min(columns, column_buffers))), dim3(1024), 0,
                   at(0, begin), lda_, first, n_ - first, columns, pivots_, source_rows, previous,
                   previous_columns, buffer_);
    }
  }

  /// Computes U in rows [first, first + count) and columns [begin, begin + columns).
  void solve(int first, int count, int begin, int columns) {
    const auto solve_block = [&](int row, int rows) {
      if constexpr (preconditions) {
        if (rows == max_solve_rows_per_launch)
          return products_->solve(row / max_solve_rows_per_launch, at(row, row), lda_, at(row, begin), lda_,
                                  columns);
      }
      solve_in_one_launch(context_, at(row, row), lda_, rows, at(row, begin), lda_, columns);
    };
    solve_by_blocks(first, count, solve_block, [&](int row, int rows, int before, int k) {
      product(rows, columns, k, at(row, before), at(before, begin), at(row, begin));
    });
  }

  Context& context_;
  T* input_;  // the caller's matrix
  std::int64_t ld_input_;
  T* a_;  // input_, or its copy
  std::int64_t lda_;
  int n_;
  // Limit for block_columns (at least 64). Declared before columns_before_merge_, whose initialisation uses
  // it.
  int max_block_columns_ = max_rows;
  int columns_before_merge_;  // n_ - merged_columns(n_), or the columns of factor_columns
  int* pivots_;
  int* info_;
  RowPermutation row_permutation_{};
  int* permutations_ = nullptr;  // two per level; see PreviousPanelUpdate::source_rows
  T* buffer_ = nullptr;          // column_buffers columns for exchange_rows_by_column_buffer
  Products* products_ = nullptr;
  std::function<bool(int)> should_continue_;
  int next_check_ = 0;  // the column from which should_continue_ is called next
  bool aborted_ = false;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
