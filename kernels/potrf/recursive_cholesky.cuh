#pragma once
/// The recursive Cholesky factorisation. Small matrices and block columns are one launch each
/// (tile_chain.cuh). The recursion splits columns, so that the updates between launches have the largest k.

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
struct Widths {
  int one_launch = 0;  ///< the largest order that is factored in one launch; 0: 9216, in float 6144
  int panel = 0;       ///< columns per launch beyond that; 0: 2048, from n = 14336 on 3072, in float 1024
  int tail = 40;       ///< rows of tiles of a launch's tail: see Schedule
};

/// Selects updates by the vendor's products.
struct NoUpdates {};

/// One factorisation A = L L^T in place of the lower triangle, or A = U^T U in place of the upper one.
/// @tparam Updates the class that computes updates in place of the vendor's products, e.g. split_updates.cuh
template <class T, class Updates = NoUpdates>
class RecursiveCholesky {
 public:
  /// `a` is on the device. `info`, 0 at the start, becomes the first pivot, from 1, that is not positive.
  /// `scaled`: factors a copy with a diagonal that is scaled by powers of two to [1/2, 2].
  /// @throws std::invalid_argument if `a` itself is factored and its columns are not 16 bytes aligned
  RecursiveCholesky(Context& context, const Shape& shape, T* a, std::int64_t lda, int* info,
                    Workspace& workspace, Widths widths = {}, bool scaled = false)
      : context_(context),
        shape_(shape),
        input_(a),
        input_ld_(lda),
        info_(info),
        widths_(widths),
        n_(static_cast<int>(padded(shape.n))),
        count_(n_ / order),
        flags_(workspace.take<unsigned>(flag_words(shape.n))),
        mailboxes_(workspace.take<T>(static_cast<std::int64_t>(count_) * mailbox_size)),
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

  /// Factors. Asynchronous on the device's stream.
  void factor() {
    factor_matrix();
    if (a_ != input_) copy(true);
  }
  /// The same with Updates. After every launch except the last it calls go_on(number of final columns) and
  /// stops if the result is false. Returns false if it stopped.
  bool factor(Updates& updates, const std::function<bool(int)>& go_on) {
    updates_ = &updates;
    continue_ = go_on;
    factor();
    return !stopped_;
  }
  /// The same, but does not copy a copy back. Returns the factor: the matrix itself, or the copy in the
  /// workspace, which an identity extends to whole tiles.
  MatrixView<T> factor_where_it_is() {
    factor_matrix();
    return {a_, n_, n_, lda_};
  }
  /// The same, with the transpose of the factor in the other triangle.
  MatrixView<T> factor_and_mirror() {
    const MatrixView<T> both = factor_where_it_is();
    mirror();
    return both;
  }
  /// Stores the transpose of the factor in the other triangle, after `factor`. @pre no copy was factored
  void mirror() { copy_by_squares(a_, lda_, n_, Uplo::upper, true, nullptr); }

 private:
  static constexpr bool uses_vendor = std::is_same_v<Updates, NoUpdates>;

  T* at(int row, int column) { return a_ + row + column * lda_; }

  void factor_matrix() {
    context_.stage("start");
    // The flags and, behind them, the mailboxes.
    const auto end =
        reinterpret_cast<std::uintptr_t>(mailboxes_ + static_cast<std::int64_t>(count_) * mailbox_size);
    context_.device.fill(flags_, 0xff, end - reinterpret_cast<std::uintptr_t>(flags_));
    if (scale_ != nullptr) {
      simt::launch(context_, scale_diagonal<T>, dim3(static_cast<unsigned>((shape_.n + 255) / 256)),
                   dim3(256), 0, input_, input_ld_, static_cast<int>(shape_.n), scale_);
    }
    if (a_ != input_) copy(false);
    constexpr bool in_double = sizeof(T) == sizeof(double);
    const auto value_or = [](int given, int otherwise) { return given > 0 ? given : otherwise; };
    const int panel = value_or(widths_.panel, n_ < 14336 ? 2048 : in_double ? 3072 : 1024);
    panel_ = n_ <= value_or(widths_.one_launch, in_double ? 9216 : 6144) ? n_ : panel;
    factor(0, n_);
  }

  /// Copies the given triangle to the workspace, or back.
  void copy(bool back) {
    const int n = static_cast<int>(shape_.n);
    if (shape_.uplo == Uplo::upper || scale_ != nullptr) {
      copy_by_squares(input_, input_ld_, n, shape_.uplo, back, scale_);
    } else if (back) {
      lu::copy_matrix<T>(context_, {a_, lda_, n, true}, input_, input_ld_, n, n);
    } else {
      lu::copy_matrix<T>(context_, {input_, input_ld_, n, true}, a_, lda_, n_, n_);
    }
  }
  /// The same for a matrix of order n that may be transposed or scaled.
  void copy_by_squares(T* matrix, std::int64_t ld, int n, Uplo uplo, bool back, const T* scale) {
    context_.stage("copy");
    const auto blocks = static_cast<unsigned>(n_ / 32);
    simt::launch(context_, copy_triangle<T>, dim3(blocks, blocks), dim3(256), 0, matrix, ld, n,
                 uplo == Uplo::upper, a_, lda_, back, scale);
  }

  /// Factors columns [first, first + count) from row `first` down.
  void factor(int first, int count) {
    if (count <= panel_) {
      chain(first, count);
      stopped_ = continue_ && first + count < n_ && !continue_(first + count);
      return;
    }
    int half = panel_;
    while (2 * half < count) half *= 2;
    factor(first, half);
    if (stopped_) return;
    update(first, half, first + half, count - half);
    factor(first + half, count - half);
  }

  void chain(int first, int count) {
    context_.stage("panel");
    Chain<T> work{};
    work.a = at(first, first);
    work.ld = lda_;
    work.rows = (n_ - first) / order;
    work.columns = count / order;
    work.rows_of_tail = widths_.tail;
    work.mailboxes = mailboxes_ + (first / order) * static_cast<std::int64_t>(mailbox_size);
    work.states = flags_ + (first / order) * static_cast<std::int64_t>(count_ + 1);
    work.states_ld = count_;
    work.ticket = flags_ + static_cast<std::int64_t>(count_) * count_ + first / order;
    work.abandoned = flags_ + flag_words(shape_.n) - 1;
    work.before = first;
    work.in_order = shape_.n <= 8;
    work.info = info_;
    work.max_polls = 1 << 22;  // polls, which take seconds; a launch takes milliseconds
    const int tasks = (work.rows + 1) / 2 * work.columns + 1;
    const auto grid = static_cast<unsigned>(std::min(tasks, simt::multiprocessors(context_)));
    if constexpr (sizeof(T) == sizeof(float)) {
      launch<1>(work, grid);
    } else {
      launch<3>(work, grid);
    }
  }
  template <int GroupsPerUpdate>
  void launch(const Chain<T>& work, unsigned grid) {
    simt::launch_clusters(context_, factor_chain<T, GroupsPerUpdate>, 1, grid, dim3(threads),
                          sizeof(ChainMemory<T, GroupsPerUpdate>), work);
  }

  /// Subtracts the product of the `k` columns beginning at `first` from the `count` columns beginning at
  /// `begin`, in rows from `begin` on.
  void update(int first, int k, int begin, int count) {
    if constexpr (!uses_vendor) {
      return updates_->subtract(n_ - begin, k, at(begin, first), count, at(begin, begin), lda_);
    }
    context_.stage("update");
    constexpr auto as_is = vendor::Op::none;
    constexpr auto transposed = vendor::Op::transpose;
    const int below = begin + count;
    const int rows = n_ - below;
#ifdef __CUDACC__
    VendorHandles& handles = vendor_handles(context_);
    vendor::syrk(handles, Uplo::lower, as_is, count, k, T(-1), at(begin, first), lda_, T(1), at(begin, begin),
                 lda_);
    if (rows == 0) return;
    vendor::gemm(handles, as_is, transposed, rows, count, k, T(-1), at(below, first), lda_, at(begin, first),
                 lda_, T(1), at(below, begin), lda_);
#else
    vendor::syrk(Uplo::lower, as_is, count, k, T(-1), at(begin, first), lda_, T(1), at(begin, begin), lda_);
    if (rows == 0) return;
    vendor::gemm(as_is, transposed, rows, count, k, T(-1), at(below, first), lda_, at(begin, first), lda_,
                 T(1), at(below, begin), lda_);
#endif
  }

  Context& context_;
  Shape shape_;
  T* input_;
  std::int64_t input_ld_;
  int* info_;
  Widths widths_;
  int n_;
  int count_;  // tiles per column
  unsigned* flags_;
  T* mailboxes_;
  T* a_;  // the given matrix or its copy
  std::int64_t lda_;
  T* scale_ = nullptr;
  int panel_ = 0;
  Updates* updates_ = nullptr;
  std::function<bool(int)> continue_;
  bool stopped_ = false;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
