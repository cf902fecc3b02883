#pragma once
/// The Cholesky factorisation. Small matrices and block columns are one launch each (tile_chain.cuh), with
/// recursion in columns between them, so that products have the largest inner sizes.

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

/// Orders at which the ways part, by measurement (docs/notebook/cholesky.md).
struct Widths {
  int one_launch = 0;  ///< up to this order all is one launch; 0: 9216, in float 6144
  int panel = 0;       ///< columns of a launch beyond that; 0: 2048, of large matrices 3072, in float 1024
  int tail = 40;       ///< rows of tiles of a launch's tail: see Schedule
};

/// The updates by the vendor's products.
struct NoUpdates {};

/// One factorisation, A = L L^T in place of the lower triangle, or U^T U of the upper one.
/// @tparam Updates what makes them, where that is not the vendor's products: split_updates.cuh
template <class T, class Updates = NoUpdates>
class RecursiveCholesky {
 public:
  /// `a`: on the device. `info`: 0 at the start, becomes the first pivot, from 1, that is not positive.
  /// `scaled`: a copy is factored, whose diagonal is scaled by powers of two to [1/2, 2].
  /// @throws std::invalid_argument where none is and columns of `a` are not 16 bytes aligned
  RecursiveCholesky(Context& context, const Shape& shape, T* a, std::int64_t lda, int* info,
                    Workspace& workspace, Widths widths = {}, bool scaled = false)
      : context_(context),
        shape_(shape),
        given_(a),
        ld_given_(lda),
        info_(info),
        widths_(widths),
        n_(static_cast<int>(padded(shape.n))),
        count_(n_ / order),
        words_(workspace.take<unsigned>(words(shape.n))),
        handed_(workspace.take<T>(static_cast<std::int64_t>(count_) * handed_size)),
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

  /// Asynchronous on the device's stream.
  void factor() {
    factor_own();
    if (a_ != given_) copy(true);
  }
  /// The same with Updates. After every launch but the last, go_on(columns that are final) is whether it is
  /// worth while to go on. False where it was not.
  bool factor(Updates& updates, const std::function<bool(int)>& go_on) {
    updates_ = &updates;
    go_on_ = go_on;
    factor();
    return !given_up_;
  }
  /// The same, but a copy is not copied back. Where the factor is: in the matrix or, continued by an identity
  /// to whole tiles, in the workspace.
  MatrixView<T> factor_where_it_is() {
    factor_own();
    return {a_, n_, n_, lda_};
  }
  /// The same, and its transpose in the other triangle.
  MatrixView<T> factor_and_mirror() {
    const MatrixView<T> both = factor_where_it_is();
    mirror();
    return both;
  }
  /// After `factor`, its transpose in the other triangle. @pre no copy was factored
  void mirror() { copy_by_squares(a_, lda_, n_, Uplo::upper, true, nullptr); }

 private:
  static constexpr bool by_vendor = std::is_same_v<Updates, NoUpdates>;

  T* at(int row, int column) { return a_ + row + column * lda_; }

  void factor_own() {
    context_.stage("start");
    // The words and, behind them, what is handed on.
    const auto end =
        reinterpret_cast<std::uintptr_t>(handed_ + static_cast<std::int64_t>(count_) * handed_size);
    context_.device.fill(words_, 0xff, end - reinterpret_cast<std::uintptr_t>(words_));
    if (scale_ != nullptr) {
      simt::launch(context_, scale_diagonal<T>, dim3(static_cast<unsigned>((shape_.n + 255) / 256)),
                   dim3(256), 0, given_, ld_given_, static_cast<int>(shape_.n), scale_);
    }
    if (a_ != given_) copy(false);
    constexpr bool in_double = sizeof(T) == sizeof(double);
    const auto given_or = [](int given, int otherwise) { return given > 0 ? given : otherwise; };
    const int panel = given_or(widths_.panel, n_ < 14336 ? 2048 : in_double ? 3072 : 1024);
    panel_ = n_ <= given_or(widths_.one_launch, in_double ? 9216 : 6144) ? n_ : panel;
    factor(0, n_);
  }

  /// The given triangle to ours, or back.
  void copy(bool back) {
    const int n = static_cast<int>(shape_.n);
    if (shape_.uplo == Uplo::upper || scale_ != nullptr) {
      copy_by_squares(given_, ld_given_, n, shape_.uplo, back, scale_);
    } else if (back) {
      lu::copy_matrix<T>(context_, {a_, lda_, n, true}, given_, ld_given_, n, n);
    } else {
      lu::copy_matrix<T>(context_, {given_, ld_given_, n, true}, a_, lda_, n_, n_);
    }
  }
  /// The same of a matrix of order n, which may have to be turned or scaled.
  void copy_by_squares(T* matrix, std::int64_t ld, int n, Uplo uplo, bool back, const T* scale) {
    context_.stage("copy");
    const auto blocks = static_cast<unsigned>(n_ / 32);
    simt::launch(context_, copy_triangle<T>, dim3(blocks, blocks), dim3(256), 0, matrix, ld, n,
                 uplo == Uplo::upper, a_, lda_, back, scale);
  }

  /// Columns [first, first + count), from row `first` down.
  void factor(int first, int count) {
    if (count <= panel_) {
      chain(first, count);
      given_up_ = go_on_ && first + count < n_ && !go_on_(first + count);
      return;
    }
    int half = panel_;
    while (2 * half < count) half *= 2;
    factor(first, half);
    if (given_up_) return;
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
    work.handed = handed_ + (first / order) * static_cast<std::int64_t>(handed_size);
    work.states = words_ + (first / order) * static_cast<std::int64_t>(count_ + 1);
    work.states_ld = count_;
    work.ticket = words_ + static_cast<std::int64_t>(count_) * count_ + first / order;
    work.abandoned = words_ + words(shape_.n) - 1;
    work.before = first;
    work.info = info_;
    work.patience = 1 << 22;  // seconds, where a launch takes milliseconds
    const int tasks = (work.rows + 1) / 2 * work.columns + 1;
    const auto grid = static_cast<unsigned>(std::min(tasks, simt::multiprocessors(context_)));
    if constexpr (sizeof(T) == sizeof(float)) {
      launch<1>(work, grid);
    } else {
      launch<3>(work, grid);
    }
  }
  template <int Together>
  void launch(const Chain<T>& work, unsigned grid) {
    simt::launch_clusters(context_, factor_chain<T, Together>, 1, grid, dim3(threads),
                          sizeof(ChainMemory<T, Together>), work);
  }

  /// Subtracts the product of the `inner` columns from `first` on from the `count` columns from `begin` on,
  /// and from the rows from there down.
  void update(int first, int inner, int begin, int count) {
    if constexpr (!by_vendor) {
      return updates_->subtract(n_ - begin, inner, at(begin, first), count, at(begin, begin), lda_);
    }
    context_.stage("update");
    constexpr auto plain = vendor::Op::none;
    constexpr auto turned = vendor::Op::transpose;
    const int below = begin + count;
    const int rows = n_ - below;
#ifdef __CUDACC__
    VendorHandles& handles = vendor_handles(context_);
    vendor::syrk(handles, Uplo::lower, plain, count, inner, T(-1), at(begin, first), lda_, T(1),
                 at(begin, begin), lda_);
    if (rows == 0) return;
    vendor::gemm(handles, plain, turned, rows, count, inner, T(-1), at(below, first), lda_, at(begin, first),
                 lda_, T(1), at(below, begin), lda_);
#else
    vendor::syrk(Uplo::lower, plain, count, inner, T(-1), at(begin, first), lda_, T(1), at(begin, begin),
                 lda_);
    if (rows == 0) return;
    vendor::gemm(plain, turned, rows, count, inner, T(-1), at(below, first), lda_, at(begin, first), lda_,
                 T(1), at(below, begin), lda_);
#endif
  }

  Context& context_;
  Shape shape_;
  T* given_;
  std::int64_t ld_given_;
  int* info_;
  Widths widths_;
  int n_;
  int count_;  // tiles in a column
  unsigned* words_;
  T* handed_;
  T* a_;  // the given matrix, or its copy
  std::int64_t lda_;
  T* scale_ = nullptr;
  int panel_ = 0;
  Updates* updates_ = nullptr;
  std::function<bool(int)> go_on_;
  bool given_up_ = false;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
