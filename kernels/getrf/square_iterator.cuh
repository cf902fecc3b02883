#pragma once
/// The order in which forward and back substitution use the square blocks (*squares*) of the triangles L and
/// U, for gesv/batched, posv/batched and geinv/batched.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::lu {

/// An iterator over the squares of both triangles in the order of their use. It first visits the rows of
/// squares of L, from row `first` down, because the right-hand sides are 0 in earlier rows. Then it visits
/// the rows of squares of U, from the last one up. It visits the last diagonal square once, because both
/// substitutions use this square consecutively.
class SquareIterator {
 public:
  __device__ SquareIterator(int first, int squares)
      : first_(first), square_count_(squares), i_(first), j_(first) {}
  __device__ int i() const { return i_; }                  ///< the square's row of squares
  __device__ int j() const { return j_; }                  ///< the square's column of squares
  __device__ bool is_forward() const { return forward_; }  ///< true in the forward substitution with L
  __device__ bool is_done() const { return i_ < 0; }
  /// Returns true if the square is the first one visited in its row of squares.
  __device__ bool begins_row() const { return j_ == (forward_ ? first_ : square_count_ - 1); }
  __device__ bool is_last_row() const { return i_ == square_count_ - 1; }
  /// Moves to the next square: in each row, from the first column to the diagonal (L), or from the last
  /// column to the diagonal (U).
  __device__ void advance() {
    if (forward_ && j_ < i_) {
      ++j_;
    } else if (forward_ && i_ < square_count_ - 1) {
      ++i_;
      j_ = first_;
    } else if (forward_ || j_ == i_) {
      forward_ = false;
      --i_;
      j_ = square_count_ - 1;
    } else {
      --j_;
    }
  }

 private:
  int first_;         ///< the first row of squares
  int square_count_;  ///< squares in a row or column of the matrix
  int i_, j_;
  bool forward_ = true;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::lu
