#pragma once
/// The Cholesky factorisation: small matrices and block columns by one launch each (tile_chain.cuh),
/// recursion in columns between them, so that products have the largest inner sizes.

#include <algorithm>

#include "kernels/core/method.hpp"
#include "kernels/potrf/recursive_workspace.hpp"
#include "kernels/potrf/tile_chain.cuh"
#include "kernels/potrf/tile_update.cuh"
#ifdef __CUDACC__
#include "kernels/vendor/cuda_blas.hpp"
#else
#include "kernels/vendor/blas.hpp"
#endif

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

using namespace gaussweep::tiles;

/// Orders at which the ways part, by measurement (docs/notebook/cholesky.md).
struct Widths {
  int one_launch = 4096;  ///< up to this order all is one launch
  int panel = 1024;       ///< columns of a launch beyond that
  int square = 1024;      ///< on the diagonal, by kernels of our own: cuBLAS would write above it
};

/// One factorisation, A = L L^T in place of the lower triangle, or U^T U of the upper one.
template <class T>
class RecursiveCholesky {
 public:
  /// `a`: on the device; `info`: 0 at the start, becomes the first pivot, from 1, that is not positive.
  RecursiveCholesky(Context& context, const Shape& shape, T* a, std::int64_t lda, int* info,
                    Workspace& workspace, Widths widths = {})
      : context_(context),
        shape_(shape),
        given_(a),
        ld_given_(lda),
        info_(info),
        widths_(widths),
        n_(static_cast<int>(padded(shape.n))),
        count_(n_ / order),
        words_(workspace.take<unsigned>(words(shape.n))),
        inverses_(workspace.take<T>(static_cast<std::int64_t>(n_) * 8)),
        a_(a),
        lda_(lda) {
    if (!is_copied(shape)) return;
    lda_ = n_;
    a_ = workspace.take<T>(lda_ * n_);
  }

  /// Asynchronous on the device's stream.
  void factor() {
    factor_own();
    if (a_ != given_) copy(given_, ld_given_, shape_.uplo, true);
  }
  /// The same, and its transpose in the other triangle; where they are: in the matrix or in the workspace.
  MatrixView<T> factor_and_mirror() {
    factor_own();
    copy(a_, lda_, Uplo::upper, true);
    return {a_, shape_.n, shape_.n, lda_};
  }

 private:
  T* at(int row, int column) { return a_ + row + column * lda_; }

  void factor_own() {
    context_.stage("start");
    context_.device.fill(words_, 0, static_cast<std::size_t>(words(shape_.n)) * sizeof(unsigned));
    if (a_ != given_) copy(given_, ld_given_, shape_.uplo, false);
    panel_ = n_ <= widths_.one_launch ? n_ : widths_.panel;
    factor(0, n_);
  }

  /// The triangle `uplo` of a matrix to ours, or back.
  void copy(T* matrix, std::int64_t ld, Uplo uplo, bool back) {
    context_.stage("copy");
    const auto blocks = static_cast<unsigned>(n_ / 32);
    simt::launch(context_, copy_triangle<T>, dim3(blocks, blocks), dim3(256), 0, matrix, ld,
                 static_cast<int>(shape_.n), uplo == Uplo::upper, a_, lda_, back);
  }

  /// Columns [first, first + count), from row `first` down.
  void factor(int first, int count) {
    if (count <= panel_) return chain(first, count);
    int half = panel_;
    while (2 * half < count) half *= 2;
    factor(first, half);
    update(first, half, first + half, count - half);
    factor(first + half, count - half);
  }

  void chain(int first, int count) {
    context_.stage("panel");
    Chain<T> work{};
    work.a = at(first, first);
    work.ld = lda_;
    work.packed = is_packed(work.a, lda_);
    work.rows = (n_ - first) / order;
    work.columns = count / order;
    work.inverses = inverses_ + first * 8;
    work.states = words_ + (first / order) * static_cast<std::int64_t>(count_ + 1);
    work.states_ld = count_;
    work.ticket = words_ + static_cast<std::int64_t>(count_) * count_ + first / order;
    work.abandoned = words_ + words(shape_.n) - 1;
    work.before = first;
    work.info = info_;
    work.patience = 1 << 22;  // seconds, where a launch takes milliseconds
    const int tasks = (work.rows + 1) / 2 * work.columns + 1;
    const auto grid = static_cast<unsigned>(std::min(tasks, 2 * simt::multiprocessors(context_)));
    simt::launch_clusters(context_, factor_chain<T>, 1, grid, dim3(threads), sizeof(ChainMemory<T>), work);
  }

  /// Subtracts what the `inner` columns from `first` on have to be subtracted of, in the `count` columns from
  /// `begin` on and the rows from there down.
  void update(int first, int inner, int begin, int count) {
    context_.stage("update");
    squares(at(begin, first), at(begin, begin), count, inner);
    below_squares(first, inner, begin, count);
    const int rows = n_ - begin - count;
    if (rows > 0)
      product(rows, count, inner, at(begin + count, first), at(begin, first), at(begin + count, begin));
  }
  /// The squares on the diagonal: C -= A A^T in their lower triangles, in the first `rows` rows of C.
  void squares(const T* a, T* c, int rows, int inner) {
    constexpr int columns = 128, in_memory = 4;
    using Product = TileProduct<T, 128, columns, columns / 32>;
    const int size = std::min(widths_.square, rows);
    const int blocks = (rows + size - 1) / size * subtract_blocks(size, columns);
    simt::launch_clusters(context_, subtract_squares<T, columns, in_memory>, 1, static_cast<unsigned>(blocks),
                          dim3(threads), in_memory * Product::piece * sizeof(T), a, c, lda_,
                          is_packed(a, lda_), rows, size, inner);
  }
  /// The same between the squares on the diagonal.
  void below_squares(int first, int inner, int begin, int count) {
    if (count <= widths_.square) return;
    int half = widths_.square;
    while (2 * half < count) half *= 2;
    product(count - half, half, inner, at(begin + half, first), at(begin, first), at(begin + half, begin));
    below_squares(first, inner, begin, half);
    below_squares(first, inner, begin + half, count - half);
  }

  /// C -= A B^T, C m x n.
  void product(int m, int n, int k, const T* a, const T* b, T* c) {
    constexpr auto plain = vendor::Op::none;
    constexpr auto turned = vendor::Op::transpose;
#ifdef __CUDACC__
    vendor::gemm(vendor_handles(context_), plain, turned, m, n, k, T(-1), a, lda_, b, lda_, T(1), c, lda_);
#else
    vendor::gemm(plain, turned, m, n, k, T(-1), a, lda_, b, lda_, T(1), c, lda_);
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
  T* inverses_;
  T* a_;  // the given matrix, or its copy
  std::int64_t lda_;
  int panel_ = 0;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
