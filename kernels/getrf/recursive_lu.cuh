#pragma once
/// LU factorisation with partial pivoting: recursive in columns, panels in a cluster's registers.
///
/// Toledo's recursion (S. Toledo, Locality of reference in LU decomposition with partial pivoting, SIAM J.
/// Matrix Anal. Appl. 18, 1997): factor the left half of the columns, update the right half, factor its lower
/// part, exchange the rows of the left half. Products then have the largest inner sizes that there are, which
/// is where a GPU's GEMM is fastest. Blocks of some panels are factored from left to right. While a panel is
/// factored, other clusters of its launch do what the one before left to do in the block.

#include <algorithm>
#include <functional>
#include <utility>

#include "kernels/getrf/lu_products.cuh"
#include "kernels/getrf/lu_updates.cuh"
#include "kernels/getrf/recursive_workspace.hpp"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

using namespace gaussweep::lu;

/// One factorisation, P A = L U in place.
/// @tparam Products what makes its large products, where that is not the vendor's GEMM. It is as right as
/// that (residue_lu.cuh, half_lu.cuh), or for factors that are to precondition, in float (split_products.cuh)
template <class T, class Products = NoProducts>
class RecursiveLu {
  static constexpr bool preconditions = Products::preconditions;

 public:
  /// `a`: n x n on the device; `pivots`: n, LAPACK's, from 1; `info`: 0 at the start, becomes the first zero
  /// pivot, from 1. Where Products precondition the columns are leading_dimension(n) apart, and what lies
  /// between them is written to. @pre 1 <= n <= most_rows
  RecursiveLu(Context& context, T* a, std::int64_t lda, std::int64_t n, int* pivots, int* info,
              Workspace& workspace)
      : RecursiveLu(context, a, lda, n, pivots, info, workspace, !preconditions && is_copied(n, sizeof(T))) {}
  /// The same in a copy of the matrix, which takes its room from the workspace, or not.
  RecursiveLu(Context& context, T* a, std::int64_t lda, std::int64_t n, int* pivots, int* info,
              Workspace& workspace, bool copied)
      : context_(context),
        given_(a),
        ld_given_(lda),
        a_(a),
        lda_(lda),
        n_(static_cast<int>(n)),
        whole_(n_ - beyond_blocks(n_)),
        pivots_(pivots),
        info_(info) {
    int* const ints = workspace.take<int>((2 + 2 * levels) * n);
    exchanges_ = {ints, ints + n};
    rows_at_ = ints + 2 * n;
    if (n > most_at_once) buffer_ = workspace.take<T>(buffers * n);
    if (!copied) return;
    lda_ = leading_dimension(n);
    a_ = workspace.take<T>(lda_ * n);
  }

  /// Asynchronous on the device's stream.
  void factor() {
    context_.stage("start");
    simt::launch(context_, start_permutations<int>, dim3(blocks_of(n_, 256)), dim3(256), 0, rows_at_, n_);
    if (a_ != given_) {
      copy_matrix<T>(context_, {given_, ld_given_, n_}, a_, lda_, static_cast<int>(lda_), n_);
    }
    factor(0, n_);
    if (a_ != given_) copy_matrix<T>(context_, {a_, lda_, n_}, given_, ld_given_, n_, n_);
  }
  /// The same with Products.
  void factor(Products& products) {
    products_ = &products;
    if constexpr (!preconditions) {
      // Within a block there are no products: wider blocks would hide those that were asked for.
      const std::int64_t least = products.least_inner();
      if (least > 0) most_in_block_ = static_cast<int>(std::min<std::int64_t>(least, most_rows));
      whole_ = n_ - beyond_blocks(n_);
    }
    factor();
  }
  /// The same where they precondition: pivots from a window of rows. It is asked now and then, after some
  /// eighths of the columns, whether it is worth while to go on. What is done by then of U's diagonal is
  /// final. False where it was not worth while.
  bool factor(Products& products, std::function<bool(int)> go_on) {
    go_on_ = std::move(go_on);
    next_question_ = n_ / 8;
    factor(products);
    return !given_up_;
  }

  /// After `factor`, for each row of L and U, the one of A that it was, from 0; in the workspace.
  const int* rows_of_all() const { return rows_at_ + 2 * level_of(n_) * static_cast<std::int64_t>(n_); }

 private:
  T* at(int row, int column) { return a_ + row + column * lda_; }
  static unsigned blocks_of(int count, int each) { return static_cast<unsigned>((count + each - 1) / each); }

  /// Rows of a product that go from `row` to the end: a multiple of 8 where the rows below are ours.
  int rows_from(int row) const {
    const int rows = n_ - row;
    return preconditions || a_ != given_ ? (rows + 7) / 8 * 8 : rows;
  }

  /// Elements of T in the registers of a double.
  static constexpr int wide = sizeof(double) / sizeof(T);

  /// Columns of the panel that begins at `row`; the same within 32 rows, so that panels end where blocks do.
  int panel_columns(int row) const {
    const int rows = n_ - row / 32 * 32;
    if (rows <= cluster_rows || preconditions) return 32;
    return wide * (rows <= 2 * cluster_rows ? 16 : rows <= 4 * cluster_rows ? 8 : 4);
  }
  /// Columns of a block of panels. What a panel leaves to do in the block is done beside the next one. It
  /// costs nothing as long as it takes no longer than that: the more rows, the narrower.
  int block_columns(int row) const {
    const int rows = n_ - row;
    const int panels = preconditions || rows > 2 * cluster_rows ? 8 : rows > cluster_rows / 2 ? 16 : 32;
    return std::max(64, std::min(most_in_block_, panels * panel_columns(row)));
  }

  /// Columns at the end that belong to the last block. As a part of their own they would take as many
  /// launches as that.
  int beyond_blocks(int n) const {
    const int block = block_columns(n - 1), beyond = n % block;
    return preconditions || n < block || beyond > block / 8 ? 0 : beyond;
  }

  /// Columns [first, first + count), from row `first` down.
  void factor(int first, int count) {
    const int whole = std::min(first + count, whole_) - first;
    if (whole <= block_columns(first)) return factor_block(first, count);
    int half = 32;
    while (2 * half < whole) half *= 2;
    const int right = first + half;
    const int rest = count - half;
    factor(first, half);
    if (go_on_ && !given_up_ && right >= next_question_) {
      given_up_ = !go_on_(right);
      // Often where much was done, but most is still to do.
      next_question_ = right + (2 * right >= n_ && 8 * right < 5 * n_ ? n_ / 32 : n_ / 8);
    }
    if (given_up_) return;
    exchange(first, half, half, right, rest);
    solve(first, half, right, rest);
    product(rows_from(right), rest, half, at(right, first), at(first, right), at(right, right));
    factor(right, rest);
    if (given_up_) return;
    exchange(right, rest, half, first, half);
  }

  void factor_block(int first, int count) {
    int before = 0;  // columns of the panel before
    int cols = 0;
    for (int j = first; j < first + count; j += cols) {
      cols = std::min(panel_columns(j), first + count - j);
      const int after = j + cols - first;
      if constexpr (preconditions) {
        window_panel(j, cols);
        follow_panel(first, count, j, cols, after);
        const int below = j + cols;
        if (after < count && below < n_) {
          product(rows_from(below), count - after, cols, at(below, j), at(j, below), at(below, below));
        }
      } else {
        const int previous = j - before;
        panel(j, cols,
              {before, previous - first, count - after, exchanges_of(previous), rows_at_, n_,
               parities_of(previous)});
        before = cols;
      }
    }
    if (!preconditions) follow_panel(first, count, first + count - cols, cols, count);
  }

  /// Which of each pair of permutations is in use in column j.
  unsigned parities_of(int j) const {
    unsigned parities = 0;
    const int column = std::min(j, whole_ - 1);
    for (int i = 0; i < levels; ++i) parities |= static_cast<unsigned>(column / (64 << i) % 2) << i;
    return parities;
  }

  /// What the panel of `cols` columns at j leaves to do in the block's `count` columns from `first`, but for
  /// the product. This is left of it, and from the block's column `after` on.
  void follow_panel(int first, int count, int j, int cols, int after) {
    const int before = j - first;
    const int beyond = preconditions ? std::max(0, n_ - j - window) : 0;
    const int blocks = levels / 4 + (before + 3) / 4 + (count - after + 3) / 4 + (beyond + 31) / 32;
    context_.stage("exchange_and_solve");
    simt::launch(context_, exchange_and_solve<T>, dim3(static_cast<unsigned>(blocks)), dim3(32), 0,
                 a_ + first * lda_, lda_, at(j, j), j, cols, before, after, count, exchanges_of(j), rows_at_,
                 n_, parities_of(j), at(j + window, j), beyond);
  }

  void window_panel(int first, int cols) {
    context_.stage("panel");
    simt::launch(context_, factor_window<T>, dim3(1), dim3(window), sizeof(WindowMemory<T>), at(first, first),
                 lda_, std::min(n_ - first, window), cols, first, pivots_ + first, exchanges_of(first),
                 info_);
  }

  void panel(int first, int cols, const Update& update) {
    context_.stage("panel");
    const int rows = n_ - first;
    if (rows <= panel_threads) {
      return launch_panel<32, 1, panel_threads, Senders::block>(first, rows, cols, update);
    }
    if (rows <= cluster_rows / 8) {
      return launch_panel<32, 1, panel_threads / 2, Senders::warps>(first, rows, cols, update);
    }
    if (rows <= cluster_rows / 4) return launch_panel<32, 1, panel_threads / 2>(first, rows, cols, update);
    if (rows <= cluster_rows / 2) return launch_panel<32, 1, panel_threads>(first, rows, cols, update);
    if (rows <= cluster_rows) return launch_panel<32, 2, panel_threads>(first, rows, cols, update);
    if (rows <= 2 * cluster_rows) return launch_panel<16 * wide, 4, panel_threads>(first, rows, cols, update);
    if (rows <= 4 * cluster_rows) return launch_panel<8 * wide, 8, panel_threads>(first, rows, cols, update);
    launch_panel<4 * wide, 16, panel_threads>(first, rows, cols, update);
  }

  template <int Columns, int RowsPerThread, int Threads, Senders By = Senders::blocks>
  void launch_panel(int first, int rows, int cols, const Update& update) {
    unsigned blocks =
        By == Senders::block ? 1 : 2;  // compute-sanitizer knows no messages within a cluster of one
    while (static_cast<int>(blocks) * Threads * RowsPerThread < rows) blocks *= 2;
    const unsigned clusters = update.cols == 0 ? 1 : 1 + exchangers<By> + blocks_of(update.beyond, Columns);
    simt::launch_clusters(context_, factor_panel<T, Columns, RowsPerThread, Threads, By>, blocks, clusters,
                          dim3(Threads), sizeof(PanelMemory<T, Columns, RowsPerThread, Threads, By>),
                          at(first, first), lda_, rows, cols, first, pivots_ + first, exchanges_of(first),
                          info_, update);
  }

  Exchanges exchanges_of(int first) const { return {exchanges_.source + first, exchanges_.target + first}; }

  /// C -= A B, C m x n.
  void product(int m, int n, int k, const T* a, const T* b, T* c) {
    if (m <= 0 || n <= 0) return;
    subtract_product(context_, products_, m, n, k, a, lda_, b, lda_, c, lda_);
  }

  /// Of the permutations, those of `width` columns.
  static int level_of(int width) {
    int level = 0;
    while (64 << level < width) ++level;
    return level;
  }
  /// What the columns [first, first + count) exchanged, in the columns [begin, begin + columns). Called once
  /// for every part of the recursion, right after it was factored. `width` is the part's, of which the last
  /// one of the matrix may have fewer columns. The permutations of narrower parts may be out of date: within
  /// a block nothing restarts them.
  void exchange(int first, int count, int width, int begin, int columns) {
    context_.stage("exchange");
    const int level = level_of(width);
    const int slot = first / width;
    int* const rows_at = rows_at_ + (2 * level + slot % 2) * static_cast<std::int64_t>(n_);
    int* const previous = rows_at_ + (2 * level + (slot + 1) % 2) * static_cast<std::int64_t>(n_);
    const int previous_count = slot > 0 && first + count < n_ ? width : 0;  // at the end nothing comes
    if (count <= most_at_once) {
      simt::launch(context_, exchange_few<T, 4>, dim3(blocks_of(columns, 4)), dim3(blocks_of(count, 32) * 32),
                   0, at(0, begin), lda_, first, count, columns, pivots_, rows_at, previous, previous_count);
    } else {
      simt::launch(context_, exchange_many<T>, dim3(static_cast<unsigned>(std::min(columns, buffers))),
                   dim3(1024), 0, at(0, begin), lda_, first, n_ - first, columns, pivots_, rows_at, previous,
                   previous_count, buffer_);
    }
  }

  /// U of the rows [first, first + count) in the columns [begin, begin + columns).
  void solve(int first, int count, int begin, int columns) {
    if constexpr (preconditions) {
      if (count == solve_rows) {
        return products_->solve(first / solve_rows, at(first, first), lda_, at(first, begin), lda_, columns);
      }
    }
    if (count <= solve_rows) {
      return solve_at_once(context_, at(first, first), lda_, count, at(first, begin), lda_, columns);
    }
    int half = solve_rows;
    while (2 * half < count) half *= 2;
    solve(first, half, begin, columns);
    product(count - half, columns, half, at(first + half, first), at(first, begin), at(first + half, begin));
    solve(first + half, count - half, begin, columns);
  }

  Context& context_;
  T* given_;
  std::int64_t ld_given_;
  T* a_;  // the given matrix, or its copy
  std::int64_t lda_;
  int n_;
  int most_in_block_ = most_rows;  ///< columns, but 64 at least; block_columns needs it, whole_ that
  int whole_;                      // columns but for those beyond the last block
  int* pivots_;
  int* info_;
  Exchanges exchanges_{};
  int* rows_at_ = nullptr;
  T* buffer_ = nullptr;
  Products* products_ = nullptr;
  std::function<bool(int)> go_on_;
  int next_question_ = 0;
  bool given_up_ = false;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
