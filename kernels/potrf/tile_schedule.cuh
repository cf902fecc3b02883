#pragma once
/// Which tasks a factorisation by tiles has, and in which order blocks take them: see tile_chain.cuh.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int group = 8;         ///< tile columns that updates subtract together
constexpr int least_share = 16;  ///< of a group's updates that can wait, beside one diagonal

enum class Kind { none, diagonal, panel, update };
struct Task {
  Kind kind;
  int i, j;
  int from, to;  ///< columns of tiles whose product is subtracted
};

__host__ __device__ constexpr int pairs(int count) {
  return (count + 1) / 2;
}
/// 1 + 2 + … + count.
__host__ __device__ constexpr int sum_up_to(int count) {
  return count * (count + 1) / 2;
}

/// Tasks in the order of tickets, step by step; step j has what comes about when diagonal j is in work.
///
/// The last columns, which have `rows_of_tail` rows or up to half a group more or less, are the tail. Their
/// operations do not keep all blocks at work. So no task there waits for an update: diagonals and panels
/// subtract all products from the tail's first column on.
/// @tparam Together groups of columns that an update of far ones subtracts at once
template <int Together>
class Schedule {
 public:
  __host__ __device__ Schedule(int rows, int columns, int rows_of_tail)
      : rows_(rows),
        columns_(columns),
        tail_(max_of(rows - rows_of_tail + group / 2 - 1, 0) / group * group) {
    begin_step();
  }

  /// @pre no ticket less than that of the call before
  __host__ __device__ Task task(unsigned ticket) {
    while (ticket - first_ >= static_cast<unsigned>(diagonal_ + panels_ + urgent_ + others_)) {
      first_ += static_cast<unsigned>(diagonal_ + panels_ + urgent_ + others_);
      if (++step_ > columns_) return {Kind::none, 0, 0, 0, 0};
      begin_step();
    }
    int number = static_cast<int>(ticket - first_);
    const int left = min_of((step_ - 1) / group * group, tail_);  // where the sums of the column before begin
    if (number < diagonal_) return {Kind::diagonal, step_, step_, step_ > 0 ? left : 0, max_of(step_ - 1, 0)};
    number -= diagonal_;
    const bool others_first = step_ % group != 0;
    if (others_first && number < others_) return other(number);
    if (others_first) number -= others_;
    if (number < panels_) {
      return {Kind::panel, first_of_panel() + 2 * number, step_ - 1, left, step_ - 1};
    }
    number -= panels_;
    if (number < urgent_) return in_columns(number, step_, step_ - group, step_);
    return other(number - urgent_);
  }

 private:
  __host__ __device__ static int max_of(int a, int b) { return a > b ? a : b; }
  __host__ __device__ static int min_of(int a, int b) { return a < b ? a : b; }
  /// Below column step - 1's diagonal; what the diagonal's own task does is left out.
  __host__ __device__ int first_of_panel() const { return step_ < columns_ ? step_ + 1 : step_; }
  /// Updates of a group of columns. A pair of columns has one less than the pair before.
  __host__ __device__ int updates(int column) const {
    return sum_up_to(pairs(rows_) - column / 2) -
           sum_up_to(pairs(rows_) - pairs(min_of(column + group, columns_)));
  }
  /// How far apart groups of columns are that have their turn: all have it where the tail begins.
  __host__ __device__ int apart() const { return own() == tail_ ? group : Together * group; }
  __host__ __device__ int own() const { return step_ / group * group; }  ///< the step's group
  __host__ __device__ void begin_step() {
    diagonal_ = step_ < columns_ ? 1 : 0;
    panels_ = step_ > 0 ? pairs(max_of(rows_ - first_of_panel(), 0)) : 0;
    urgent_ = others_ = first_other_ = 0;
    if (own() == 0 || step_ >= columns_ || own() > tail_) return;
    if (step_ == own()) {
      urgent_ = updates(own());
      of_group_ = 0;
      for (int column = own() + group; column < columns_; column += apart()) of_group_ += updates(column);
    }
    const int share = max_of((of_group_ + group - 1) / group, least_share);
    first_other_ = share * (step_ - own());
    others_ = max_of(min_of(of_group_ - first_other_, share), 0);
  }
  /// One of each `Together` groups of columns loses all that was not subtracted from it. The others' turn
  /// comes in later steps. So the next group always lacks the current one alone.
  __host__ __device__ Task other(int number) const {
    number += first_other_;
    int column = own() + group;
    for (; number >= updates(column); column += apart()) number -= updates(column);
    const int lacking = (Together - (column - own()) / group % Together) % Together + 1;
    const int from = max_of(own() - lacking * group, 0);
    // Of large matrices the L2 cache has not all rows' operands.
    const bool by_rows = Together > 1 && own() < tail_;
    return by_rows ? in_rows(number, column, from, own()) : in_columns(number, column, from, own());
  }
  /// Update number `number` of the columns from `column` on.
  __host__ __device__ Task in_columns(int number, int column, int from, int to) const {
    for (;; column += 2) {
      const int count = pairs(rows_ - column);
      if (number < count) return {Kind::update, column + 2 * number, column, from, to};
      number -= count;
    }
  }

  /// The same row by row, so that updates that run at a time share operands of both sides.
  __host__ __device__ Task in_rows(int number, int column, int from, int to) const {
    const int wide = pairs(min_of(group, columns_ - column));
    int row = 0;  // pairs of rows: the first one has one update, each further one more, up to `wide`
    for (; row < wide && number > row; ++row) number -= row + 1;
    if (row == wide) {
      row += number / wide;
      number %= wide;
    }
    return {Kind::update, column + 2 * row, column + 2 * number, from, to};
  }

  int rows_, columns_;
  int tail_;  ///< its first column
  int step_ = 0;
  unsigned first_ = 0;  ///< the step's first ticket
  int diagonal_ = 0, panels_ = 0, urgent_ = 0, others_ = 0;
  int of_group_ = 0;     ///< updates that steps of a group share
  int first_other_ = 0;  ///< of the step's part of them
};

/// The tiles that a task has: rows and columns of its operands, of its result those (row, column) that count.
struct Tiles {
  int row, next_row, column, next_column;
  int after;  ///< the diagonal's tile after the group is left to that diagonal's task; -1: there is none

  __host__ __device__ Tiles(const Task& task, int rows, int columns)
      : row(task.i),
        next_row(task.kind != Kind::diagonal && task.i + 1 < rows ? task.i + 1 : task.i),
        column(task.kind == Kind::diagonal && task.j > 0 ? task.j - 1 : task.j),
        next_column(task.kind == Kind::update && task.j + 1 < columns ? task.j + 1 : task.j),
        after(task.kind == Kind::update ? task.to : -1) {}
  /// Of the four: k % 2 the row, k / 2 the column.
  __host__ __device__ int row_of(int k) const { return k % 2 == 0 ? row : next_row; }
  __host__ __device__ int column_of(int k) const { return k / 2 == 0 ? column : next_column; }
  /// Those that there are not, or only as one that was before, are none that count.
  __host__ __device__ bool counts(int k) const {
    const int i = row_of(k), j = column_of(k);
    return i >= j && !(i == j && i == after) && (k % 2 == 0 || i != row) && (k / 2 == 0 || j != column);
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
