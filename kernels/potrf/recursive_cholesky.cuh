#pragma once
/// Recursive Cholesky factorisation of one matrix. A launch of tile_chain.cuh factors a small matrix or a
/// block column. Larger matrices are split recursively into halves of their columns: factors the left half,
/// updates the right half by one product, and factors it. The trailing updates between launches then have a
/// large k range, which runs faster than many updates with a small one.

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kernels/getrf/copy_columns.cuh"
#include "kernels/potrf/recursive_workspace.hpp"
#include "kernels/potrf/tile_chain.cuh"
#include "kernels/potrf/triangle_copy.cuh"
#include "kernels/registry/method.hpp"
#ifdef __CUDACC__
#include "kernels/vendor/cuda_blas.hpp"
#else
#include "kernels/vendor/blas.hpp"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

using namespace gaussweep::tiles;

/// Thresholds of the factorisation; the defaults were measured (docs/notebook/cholesky.md).
struct Thresholds {
  int max_single_launch_order =
      0;  ///< the largest order that is factored in one launch; 0 means 9216, in float 6144
  int panel_columns =
      0;  ///< columns per launch of larger orders; 0 means 2048 if n < 14336, else 3072 (float: 1024)
  int tail_tile_rows = 40;  ///< tile rows that remain where a launch's tail columns begin (Schedule)
};

/// Selects the vendor's GEMM and SYRK for the trailing updates.
struct VendorUpdates {};

/// One factorisation A = L L^T in place of the lower triangle, or A = U^T U in place of the upper one.
/// @tparam Updates VendorUpdates, or a class that computes the updates itself, e.g. SplitUpdates
template <class T, class Updates = VendorUpdates>
class RecursiveCholesky {
 public:
  /// @param a the matrix, in device memory
  /// @param info must be 0; becomes the index, from 1, of the first pivot that is not positive
  /// @param workspace has tiles::workspace_bytes() bytes
  /// @param scaled true: factors a copy whose rows and columns are scaled by powers of two, so that the
  /// diagonal is in [1/2, 2)
  /// @throws std::invalid_argument if `a` itself is factored and its columns are not aligned to 16 bytes
  RecursiveCholesky(Context& context, const Shape& shape, T* a, std::int64_t lda, int* info,
                    Workspace& workspace, Thresholds thresholds = {}, bool scaled = false)
      : context_(context),
        shape_(shape),
        input_(a),
        input_ld_(lda),
        info_(info),
        thresholds_(thresholds),
        n_(static_cast<int>(round_up_to_tiles(shape.n))),
        tiles_per_column_(n_ / tile_order),
        flags_(workspace.take<unsigned>(flag_count(shape.n))),
        mailboxes_(workspace.take<T>(static_cast<std::int64_t>(tiles_per_column_) * mailbox_size)),
        a_(a),
        lda_(lda) {
    if (!is_copied(shape, scaled)) {
      if (!is_packed(a, lda)) throw std::invalid_argument("Cholesky: columns are not 16 bytes aligned");
      return;
    }
    lda_ = n_;
    a_ = workspace.take<T>(lda_ * n_);
    if (scaled) scale_ = workspace.take<T>(n_);
  }

  /// Factors the matrix. Asynchronous on the device's stream.
  void factor() {
    factor_matrix();
    if (a_ != input_) copy(/*back=*/true);
  }
  /// Factors the matrix with `updates`. After every launch except the last, calls should_continue (if it is
  /// not empty) with the number of columns that are final. If should_continue returns false, stops and
  /// returns false.
  bool factor(Updates& updates, const std::function<bool(int)>& should_continue) {
    updates_ = &updates;
    should_continue_ = should_continue;
    factor();
    return !stopped_;
  }
  /// Factors only the first `columns` columns, a panel of n rows, in place, in one launch.
  /// @pre the matrix is not copied; `columns` is a multiple of 64
  void factor_columns(int columns) {
    reset(columns / tile_order);
    factor_in_one_launch(0, columns);
  }
  /// Like factor(), but does not copy the factor back. Returns the factor: the matrix itself, or the copy in
  /// the workspace. An identity pads the copy to whole tiles.
  MatrixView<T> factor_without_copy_back() {
    factor_matrix();
    return {a_, n_, n_, lda_};
  }
  /// Like factor_without_copy_back(), with the transpose of the factor in the other triangle.
  MatrixView<T> factor_and_mirror() {
    const MatrixView<T> factor = factor_without_copy_back();
    mirror();
    return factor;
  }
  /// Stores the transpose of the factor in the other triangle. @pre factor() has factored the matrix itself
  void mirror() { copy_by_squares(a_, lda_, n_, Uplo::upper, /*back=*/true, /*scale=*/nullptr); }

 private:
  static constexpr bool uses_vendor = std::is_same_v<Updates, VendorUpdates>;

  T* at(int row, int column) { return a_ + row + column * lda_; }

  /// Sets all bits of the flags and of the first `mailboxes` mailboxes (tile_factor.cuh), which follow the
  /// flags in memory. All bits set means that nothing has been stored yet.
  void reset(int mailboxes) {
    context_.stage("start");
    const auto end =
        reinterpret_cast<std::uintptr_t>(mailboxes_ + static_cast<std::int64_t>(mailboxes) * mailbox_size);
    context_.device.fill(flags_, /*byte=*/0xff, end - reinterpret_cast<std::uintptr_t>(flags_));
  }

  /// Factors the matrix, or its copy in the workspace.
  void factor_matrix() {
    reset(tiles_per_column_);
    if (scale_ != nullptr) {
      simt::launch(context_, scale_diagonal<T>, dim3(static_cast<unsigned>((shape_.n + 255) / 256)),
                   dim3(256), 0, input_, input_ld_, static_cast<int>(shape_.n), scale_);
    }
    if (a_ != input_) copy(/*back=*/false);
    constexpr bool in_double = sizeof(T) == sizeof(double);
    const auto value_or = [](int value, int fallback) { return value > 0 ? value : fallback; };
    const int panel_columns = value_or(thresholds_.panel_columns, n_ < 14336  ? 2048
                                                                  : in_double ? 3072
                                                                              : 1024);
    max_launch_columns_ =
        n_ <= value_or(thresholds_.max_single_launch_order, in_double ? 9216 : 6144) ? n_ : panel_columns;
    factor(0, n_);
  }

  /// Copies the stored triangle to the workspace, or with `back` the factor from there to the matrix.
  void copy(bool back) {
    const int n = static_cast<int>(shape_.n);
    if (shape_.uplo == Uplo::upper || scale_ != nullptr) {
      copy_by_squares(input_, input_ld_, n, shape_.uplo, back, scale_);
    } else if (back) {
      lu::copy_matrix<T>(context_, {a_, lda_, n, /*lower=*/true}, input_, input_ld_, n, n);
    } else {
      lu::copy_matrix<T>(context_, {input_, input_ld_, n, /*lower=*/true}, a_, lda_, n_, n_);
    }
  }
  /// Like copy(), for a matrix of order n that is transposed or scaled.
  void copy_by_squares(T* matrix, std::int64_t ld, int n, Uplo uplo, bool back, const T* scale) {
    context_.stage("copy");
    const auto blocks = static_cast<unsigned>(n_ / 32);
    simt::launch(context_, copy_triangle<T>, dim3(blocks, blocks), dim3(256), 0, matrix, ld, n,
                 uplo == Uplo::upper, a_, lda_, back, scale);
  }

  /// Factors columns [first, first + count) from row `first` down, recursively.
  void factor(int first, int count) {
    if (count <= max_launch_columns_) {
      factor_in_one_launch(first, count);
      stopped_ = should_continue_ && first + count < n_ && !should_continue_(first + count);
      return;
    }
    // The left half: the largest number max_launch_columns_ * 2^i below `count`.
    int half = max_launch_columns_;
    while (2 * half < count) half *= 2;
    factor(first, half);
    if (stopped_) return;
    update(first, half, first + half, count - half);
    factor(first + half, count - half);
  }

  /// Factors columns [first, first + count) from row `first` down, in one launch.
  void factor_in_one_launch(int first, int count) {
    context_.stage("panel");
    LaunchArguments<T> arguments{};
    arguments.a = at(first, first);
    arguments.ld = lda_;
    arguments.rows = (n_ - first) / tile_order;
    arguments.columns = count / tile_order;
    arguments.tail_rows = thresholds_.tail_tile_rows;
    arguments.mailboxes = mailboxes_ + (first / tile_order) * static_cast<std::int64_t>(mailbox_size);
    // flags_ has the states of all tiles by columns, one ticket per tile column, and the time-out flag. A
    // launch uses the ticket of its first column.
    arguments.states = flags_ + (first / tile_order) * static_cast<std::int64_t>(tiles_per_column_ + 1);
    arguments.states_ld = tiles_per_column_;
    arguments.ticket =
        flags_ + static_cast<std::int64_t>(tiles_per_column_) * tiles_per_column_ + first / tile_order;
    arguments.timed_out = flags_ + flag_count(shape_.n) - 1;
    arguments.first_column = first;
    arguments.by_division = shape_.n <= 8;
    arguments.info = info_;
    arguments.max_polls = 1 << 22;  // 2^22 polls take seconds, a launch only milliseconds
    // An upper limit of the number of concurrent tasks: one diagonal task, and one panel task per column and
    // pair of tile rows.
    const int tasks = (arguments.rows + 1) / 2 * arguments.columns + 1;
    const auto grid = static_cast<unsigned>(std::min(tasks, simt::multiprocessors(context_)));
    // In double, three groups per update are the fastest number (docs/notebook/cholesky.md).
    if constexpr (sizeof(T) == sizeof(float)) {
      launch</*GroupsPerUpdate=*/1>(arguments, grid);
    } else {
      launch</*GroupsPerUpdate=*/3>(arguments, grid);
    }
  }
  template <int GroupsPerUpdate>
  void launch(const LaunchArguments<T>& arguments, unsigned grid) {
    simt::launch_clusters(context_, factor_chain<T, GroupsPerUpdate>, /*blocks=*/1, grid, dim3(threads),
                          sizeof(SharedStorage<T, GroupsPerUpdate>), arguments);
  }

  /// Subtracts P P^T from the `count` columns beginning at `begin`, in rows from `begin` on. P has the `k`
  /// columns beginning at `first`.
  void update(int first, int k, int begin, int count) {
    // cuBLAS's syrk runs at a tenth of its rate if the k columns span more than 2^31 elements.
    const int max_k = static_cast<int>((std::int64_t{1} << 31) / lda_ / tile_order * tile_order);
    if (uses_vendor && k > max_k) {
      update(first, max_k, begin, count);
      return update(first + max_k, k - max_k, begin, count);
    }
    if constexpr (!uses_vendor) {
      return updates_->subtract(n_ - begin, k, at(begin, first), count, at(begin, begin), lda_);
    }
    context_.stage("update");
    constexpr auto no_transpose = vendor::Op::none;
    constexpr auto transposed = vendor::Op::transpose;
    const int rows_begin = begin + count;
    const int rows = n_ - rows_begin;
#ifdef __CUDACC__
    VendorHandles& handles = vendor_handles(context_);
    vendor::syrk(handles, Uplo::lower, no_transpose, count, k, T(-1), at(begin, first), lda_, T(1),
                 at(begin, begin), lda_);
    if (rows == 0) return;
    vendor::gemm(handles, no_transpose, transposed, rows, count, k, T(-1), at(rows_begin, first), lda_,
                 at(begin, first), lda_, T(1), at(rows_begin, begin), lda_);
#else
    vendor::syrk(Uplo::lower, no_transpose, count, k, T(-1), at(begin, first), lda_, T(1), at(begin, begin),
                 lda_);
    if (rows == 0) return;
    vendor::gemm(no_transpose, transposed, rows, count, k, T(-1), at(rows_begin, first), lda_,
                 at(begin, first), lda_, T(1), at(rows_begin, begin), lda_);
#endif
  }

  Context& context_;
  Shape shape_;
  T* input_;  // the matrix of the caller
  std::int64_t input_ld_;
  int* info_;
  Thresholds thresholds_;
  int n_;  // order of the matrix, rounded up to whole tiles
  int tiles_per_column_;
  unsigned* flags_;
  T* mailboxes_;
  T* a_;  // the matrix that is factored: input_ or its copy in the workspace
  std::int64_t lda_;
  T* scale_ = nullptr;          // factors for rows and columns, if the copy is scaled
  int max_launch_columns_ = 0;  // maximum number of columns per launch
  Updates* updates_ = nullptr;
  std::function<bool(int)> should_continue_;
  bool stopped_ = false;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
