#pragma once
/// The tasks of a tiled Cholesky factorisation (tile_chain.cuh), and the order in which thread blocks take
/// them. All rows and columns in this file are tile rows and tile columns.

#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int group_columns = 8;  ///< tile columns per group; an update subtracts products of whole groups
/// The minimum number of deferred updates per step (Schedule), while the group has that many left.
constexpr int min_deferred_per_step = 16;

/// The kinds of tasks (tile_chain.cuh); `none` means that no task is left.
enum class TaskKind { none, diagonal, panel, update };
/// One task of a thread block.
struct Task {
  TaskKind kind;
  int i, j;            ///< row and column of the first changed tile; a diagonal task also changes (j, j - 1)
  int k_begin, k_end;  ///< the product of tile columns [k_begin, k_end) is subtracted
};

/// Returns the number of pairs of tiles in `count` tiles; the last pair may have only one tile.
__host__ __device__ constexpr int pairs(int count) {
  return (count + 1) / 2;
}
__host__ __device__ constexpr int triangular_number(int count) {
  return count * (count + 1) / 2;
}

/// The tasks in the order of tickets (numbers that thread blocks take from a counter), step by step. Step j
/// has diagonal task j, the panel tasks of column j - 1, and update tasks. When a group of columns becomes
/// the current one, its *required* updates subtract the product of the previous group from it. Updates of
/// later groups are *deferred*: they are spread over the steps of the current group, so that they
/// overlap with its diagonal tasks.
///
/// The last columns are the tail columns. They begin at the group where the number of remaining rows is
/// nearest to `tail_rows`. The tail has too few operations to keep all thread blocks busy, and its tasks
/// would wait for updates. No update task therefore subtracts products of tail columns; diagonal and panel
/// tasks subtract them.
/// @tparam GroupsPerUpdate the number of groups whose product a deferred update subtracts
template <int GroupsPerUpdate>
class Schedule {
 public:
  __host__ __device__ Schedule(int rows, int columns, int tail_rows)
      : rows_(rows),
        columns_(columns),
        tail_begin_(max_of(rows - tail_rows + group_columns / 2 - 1, 0) / group_columns * group_columns) {
    begin_step();
  }

  /// Returns the task of a ticket. @pre `ticket` is larger than in the previous call
  __host__ __device__ Task task(unsigned ticket) {
    while (ticket - first_ticket_ >= static_cast<unsigned>(diagonal_ + panels_ + required_ + deferred_)) {
      first_ticket_ += static_cast<unsigned>(diagonal_ + panels_ + required_ + deferred_);
      if (++step_ > columns_) return {TaskKind::none, 0, 0, 0, 0};
      begin_step();
    }
    int number = static_cast<int>(ticket - first_ticket_);
    // The first column whose products the diagonal and panel tasks subtract. Updates subtract the products of
    // earlier columns.
    const int first_column = min_of((step_ - 1) / group_columns * group_columns, tail_begin_);
    if (number < diagonal_)
      return {TaskKind::diagonal, step_, step_, step_ > 0 ? first_column : 0, max_of(step_ - 1, 0)};
    number -= diagonal_;
    // The first step of a group runs panels, required updates and deferred updates, in this order. The other
    // steps run deferred updates, then panels.
    const bool deferred_first = step_ % group_columns != 0;
    if (deferred_first && number < deferred_) return deferred_update(number);
    if (deferred_first) number -= deferred_;
    if (number < panels_) {
      return {TaskKind::panel, first_panel_row() + 2 * number, step_ - 1, first_column, step_ - 1};
    }
    number -= panels_;
    if (number < required_) return in_columns(number, step_, step_ - group_columns, step_);
    return deferred_update(number - required_);
  }

 private:
  __host__ __device__ static int max_of(int a, int b) { return a > b ? a : b; }
  __host__ __device__ static int min_of(int a, int b) { return a < b ? a : b; }
  /// Returns the first row of the panel tasks of column step_ - 1. The diagonal task computes the tile above.
  __host__ __device__ int first_panel_row() const { return step_ < columns_ ? step_ + 1 : step_; }
  /// Returns the number of update tasks that change the group of columns beginning at `column`. An update
  /// changes a pair of rows in a pair of columns. Each pair of columns has one update less than the pair
  /// before, so that the sum is a difference of triangular numbers.
  __host__ __device__ int updates(int column) const {
    return triangular_number(pairs(rows_) - column / 2) -
           triangular_number(pairs(rows_) - pairs(min_of(column + group_columns, columns_)));
  }
  /// Returns the distance, in columns, from one group that deferred updates of this step change to the next
  /// such group. In the first group of the tail, deferred updates change all later groups, because later
  /// steps have no updates.
  __host__ __device__ int column_step() const {
    return current_group() == tail_begin_ ? group_columns : GroupsPerUpdate * group_columns;
  }
  /// Returns the first column of the step's group.
  __host__ __device__ int current_group() const { return step_ / group_columns * group_columns; }
  /// Counts the tasks of the step. There are no updates while the first group is current, because no earlier
  /// product exists, and after the first group of the tail.
  __host__ __device__ void begin_step() {
    diagonal_ = step_ < columns_ ? 1 : 0;
    panels_ = step_ > 0 ? pairs(max_of(rows_ - first_panel_row(), 0)) : 0;
    required_ = deferred_ = first_deferred_ = 0;
    if (current_group() == 0 || step_ >= columns_ || current_group() > tail_begin_) return;
    if (step_ == current_group()) {
      required_ = updates(current_group());
      group_deferred_ = 0;
      for (int column = current_group() + group_columns; column < columns_; column += column_step())
        group_deferred_ += updates(column);
    }
    const int deferred_per_step =
        max_of((group_deferred_ + group_columns - 1) / group_columns, min_deferred_per_step);
    first_deferred_ = deferred_per_step * (step_ - current_group());
    deferred_ = max_of(min_of(group_deferred_ - first_deferred_, deferred_per_step), 0);
  }
  /// Returns deferred update `number` of the step. A group *misses* a product that no task has subtracted
  /// from it yet. Deferred updates change the group after the current one and every `GroupsPerUpdate`-th
  /// group after that. They subtract all missing products of groups before the current one. When the next
  /// group becomes the current one, it therefore misses only one product, which its required updates
  /// subtract.
  __host__ __device__ Task deferred_update(int number) const {
    number += first_deferred_;
    int column = current_group() + group_columns;
    for (; number >= updates(column); column += column_step()) number -= updates(column);
    // GroupsPerUpdate products, or in the first group of the tail fewer for groups that got their last update
    // more recently.
    const int missing_groups =
        (GroupsPerUpdate - (column - current_group()) / group_columns % GroupsPerUpdate) % GroupsPerUpdate +
        1;
    const int from = max_of(current_group() - missing_groups * group_columns, 0);
    // For large matrices the operands of all rows do not fit in L2. Updates with neighbouring numbers, which
    // run concurrently, are then in few rows.
    const bool is_by_rows = GroupsPerUpdate > 1 && current_group() < tail_begin_;
    return is_by_rows ? in_rows(number, column, from, current_group())
                      : in_columns(number, column, from, current_group());
  }
  /// Returns update `number` of the group that begins at `column`. Updates are numbered down each pair of
  /// columns, one pair after another.
  __host__ __device__ Task in_columns(int number, int column, int from, int to) const {
    for (;; column += 2) {
      const int count = pairs(rows_ - column);
      if (number < count) return {TaskKind::update, column + 2 * number, column, from, to};
      number -= count;
    }
  }

  /// Like in_columns(), but updates are numbered along each pair of rows. Concurrent updates then share tiles
  /// of both operands.
  __host__ __device__ Task in_rows(int number, int column, int from, int to) const {
    const int max_per_row = pairs(min_of(group_columns, columns_ - column));
    int row = 0;  // pair of rows; pair r has min(r + 1, max_per_row) updates
    for (; row < max_per_row && number > row; ++row) number -= row + 1;
    if (row == max_per_row) {
      row += number / max_per_row;
      number %= max_per_row;
    }
    return {TaskKind::update, column + 2 * row, column + 2 * number, from, to};
  }

  int rows_, columns_;
  int tail_begin_;  ///< the first tail column
  int step_ = 0;
  unsigned first_ticket_ = 0;  ///< the step's first ticket
  // The number of the step's tasks of each kind.
  int diagonal_ = 0, panels_ = 0, required_ = 0, deferred_ = 0;
  int group_deferred_ = 0;  ///< number of the group's deferred updates
  int first_deferred_ = 0;  ///< index of this step's first deferred update in the group
};

/// The two rows and two columns of tiles that a task works on. is_changed() selects the tiles that it
/// changes. If there is only one row or column, second_row or second_column repeats it.
struct TaskTiles {
  int row, second_row, column, second_column;
  /// -1, or in an update the diagonal tile that it must not change: that of column k_end. If this column
  /// begins the changed group, its diagonal task subtracts the product, so that it need not wait for the
  /// update.
  int excluded_diagonal;

  __host__ __device__ TaskTiles(const Task& task, int rows, int columns)
      : row(task.i),
        second_row(task.kind != TaskKind::diagonal && task.i + 1 < rows ? task.i + 1 : task.i),
        column(task.kind == TaskKind::diagonal && task.j > 0 ? task.j - 1 : task.j),
        second_column(task.kind == TaskKind::update && task.j + 1 < columns ? task.j + 1 : task.j),
        excluded_diagonal(task.kind == TaskKind::update ? task.k_end : -1) {}
  /// Return the row and the column of tile k of the four tiles: k % 2 selects the row, k / 2 the column.
  __host__ __device__ int row_of(int k) const { return k % 2 == 0 ? row : second_row; }
  __host__ __device__ int column_of(int k) const { return k / 2 == 0 ? column : second_column; }
  /// Returns true if the task changes tile k: the tile is in the lower triangle, and no other k names the
  /// same tile.
  __host__ __device__ bool is_changed(int k) const {
    const int i = row_of(k), j = column_of(k);
    return i >= j && !(i == j && i == excluded_diagonal) && (k % 2 == 0 || i != row) &&
           (k / 2 == 0 || j != column);
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
