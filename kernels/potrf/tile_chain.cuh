#pragma once
/// The kernel that computes Cholesky factors of adjacent tile columns in one launch. Its thread blocks wait
/// for each other's tiles by polling flags in global memory.
///
/// A tile has 64 x 64 elements. The launch factors `columns` tile columns, each from its diagonal tile down
/// to tile row `rows` - 1 (rows >= columns). Below, i and j count tile rows and columns. A *group* is 8
/// adjacent tile columns. The product of a group is the part of L L^T whose k range is these columns; a
/// right-looking factorisation subtracts it from the trailing tiles.
///
/// Thread blocks take numbered tasks (tickets) from an atomic counter. A task waits only for tasks with
/// earlier tickets. Any number of resident thread blocks therefore makes progress without deadlock. A tile's
/// state is a 32-bit flag in global memory. It is the number of groups whose products have been subtracted
/// from the tile, or `finished` when the tile belongs to L. A task multiplies operand tiles as soon as they
/// are finished. Tasks are of three kinds:
///
///   diagonal j  Subtracts from A(j, j - 1) and A(j, j) the products of earlier columns, except those that
///               update tasks subtract. Solves for L(j, j - 1), while another thread block still computes the
///               last columns of L(j - 1, j - 1). Subtracts L(j, j - 1) L(j, j - 1)^T from A(j, j) and
///               factors A(j, j). One task does all this, because the diagonal tasks are the critical path.
///   panel i, j  Subtracts the same products as a diagonal task, but from A(i, j) and A(i + 1, j). Solves for
///               L(i, j) and L(i + 1, j) with inverses of the 8 x 8 diagonal tiles of L(j, j), which the
///               diagonal task sends through the tile's mailbox (tile_factor.cuh).
///   update i, j Subtracts the product of one group from rows i and i + 1 of columns j and j + 1. An update
///               may be deferred (next paragraph). It then subtracts the products of up to `GroupsPerUpdate`
///               groups.
///
/// When a group is finished, its product is first subtracted from the next group. All other updates are
/// deferred: they run during the next group's diagonal tasks, so that they overlap with the critical path.
/// The last columns of a launch are its *tail columns*. No update task subtracts their products (Schedule in
/// tile_schedule.cuh explains why).

#include "kernels/potrf/tile_launch.cuh"
#include "kernels/potrf/tile_update.cuh"
#include "kernels/potrf/triangle_receiver.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Runs the current task, which is in shared memory. `kind` is a template argument so that each body is
/// specialised.
template <class T, int GroupsPerUpdate, TaskKind kind>
__device__ GAUSSWEEP_NOINLINE void run_task_function();

/// Takes the next task. The function is not inlined, because its variables would occupy registers that the
/// tasks need.
template <class T, int GroupsPerUpdate>
__device__ GAUSSWEEP_NOINLINE TaskKind take_task_function();

/// The work of one thread block: takes tasks and runs them. The file comment describes the tasks.
template <class T, int GroupsPerUpdate>
class TaskExecutor {
 public:
  __device__ TaskExecutor(const LaunchArguments<T>& arguments, SharedStorage<T, GroupsPerUpdate>& memory)
      : arguments_(arguments), memory_(memory) {}

  /// Runs tasks until none is left.
  __device__ void work() {
    if (thread() == 0) memory_.schedule = {arguments_.rows, arguments_.columns, arguments_.tail_rows};
    if (thread() < 2) memory_.finished_warps[thread()] = 0;
    for (;;) {
      const TaskKind kind = call_take_task();
      if (kind == TaskKind::none) return;
      if (kind == TaskKind::diagonal) {
        call_run_task<TaskKind::diagonal>();
      } else if (kind == TaskKind::panel) {
        call_run_task<TaskKind::panel>();
      } else {
        call_run_task<TaskKind::update>();
      }
    }
  }
  /// Takes the next ticket, stores its task in shared memory, and waits until the task can start
  /// (can_start()).
  __device__ __forceinline__ TaskKind take_task() {
    if (warp() == 0) {
      if (thread() == 0) {
        memory_.task = memory_.schedule.task(atomicAdd(global(arguments_.ticket), 1u) + 1);
      }
      __syncwarp();
      if (memory_.task.kind != TaskKind::none) await_start(memory_.task);
    }
    __syncthreads();
    return memory_.task.kind;
  }
  /// Runs the task in shared memory.
  template <TaskKind kind>
  __device__ __forceinline__ void run_task() {
    const Task task = memory_.task;
    if constexpr (kind == TaskKind::diagonal) {
      diagonal(task);
    } else if constexpr (kind == TaskKind::panel) {
      panel(task);
    } else {
      update(task);
    }
  }

  /// Returns true to all lanes of a warp if a wait times out after `polls` polls, or if another wait of the
  /// factorisation has timed out. A time-out sets info to -1 and the flag `timed_out` to 0, which ends all
  /// other waits. They read the flag only in every 1024th poll.
  __device__ bool times_out(int polls) const {
    if (polls >= arguments_.max_polls) {
      simt::store_volatile(global(memory_.arguments.timed_out), 0u);
      *global(memory_.arguments.info) = -1;
      return true;
    }
    return polls % 1024 == 1023 &&
           __any_sync(0xffffffffu, simt::load_volatile(global(memory_.arguments.timed_out)) == 0) != 0;
  }

 private:
  /// Calls take_task(), directly or through take_task_function(). In double, take_task() and the tasks are
  /// separate functions: one inlined function would spill registers in its loops.
  __device__ __forceinline__ TaskKind call_take_task() {
    if constexpr (sizeof(T) == sizeof(double)) {
      return take_task_function<T, GroupsPerUpdate>();
    } else {
      return take_task();
    }
  }
  /// Calls run_task(), directly or through tiles::run_task_function(), for the same reason.
  template <TaskKind kind>
  __device__ __forceinline__ void call_run_task() {
    if constexpr (sizeof(T) == sizeof(double)) {
      tiles::run_task_function<T, GroupsPerUpdate, kind>();
    } else {
      run_task<kind>();
    }
  }
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return thread() / 32; }
  __device__ static int lane() { return thread() % 32; }

  /// Returns the first tile column whose operand tiles may be unfinished when the task starts. ReadyTiles
  /// polls the operands from this column on. In an update with several groups, it is the first column of the
  /// last group, because can_start() waits for the other groups.
  __device__ static int first_polled_column(const Task& task) {
    return task.kind == TaskKind::update && task.k_end - task.k_begin > group_columns
               ? task.k_end - group_columns
               : task.k_begin;
  }

  /// Returns the address of the state of an operand tile in tile column `column`. The number lane % 4 selects
  /// the tile: 0 and 1 are the two tiles of the left operand, 2 and 3 those of the right operand. Returns
  /// null if the task does not multiply this column.
  __device__ const unsigned* operand_state(const Task& task, int column) const {
    if (column >= task.k_end) return nullptr;
    const TaskTiles task_tiles(task, arguments_.rows, arguments_.columns);
    // The product is A B^T: the tile rows of B are the tile columns of the changed tiles. Numbers 0 and 2 of
    // the changed tiles are in their first and second column.
    const int row =
        lane() % 4 < 2 ? task_tiles.row_of(lane() % 2) : task_tiles.column_of(lane() % 4 - 2 == 0 ? 0 : 2);
    return arguments_.state(row, column);
  }
  __device__ static bool is_finished(const unsigned* state) {
    return state == nullptr || simt::load_acquire(state) == finished;
  }

  /// Tracks which operand tiles of a product are ready (finished, so that they may be read), one group
  /// of columns after another. Each lane of the first warp polls one of the group's 32 tiles. The number lane
  /// / 4 selects one of 8 columns, lane % 4 one of its four operand tiles (operand_state). A parameter
  /// `tile_column` is counted from task.k_begin.
  class ReadyTiles {
   public:
    /// @param ready_mask the ready tiles of the first polled group, one bit per lane
    __device__ ReadyTiles(const TaskExecutor& executor, const Task& task, unsigned ready_mask)
        : executor_(executor),
          state_(executor.operand_state(task, first_polled_column(task) + lane() / 4)),
          ready_mask_(ready_mask),
          ready_columns_(first_polled_column(task) - task.k_begin),
          columns_left_(task.k_end - first_polled_column(task) - group_columns) {}
    __device__ bool all_are_ready() const { return ready_mask_ == ~0u && columns_left_ <= 0; }
    __device__ bool is_ready(int tile_column) const {
      // The mask has four bits per column, one per operand tile.
      return tile_column < ready_columns_ ||
             (tile_column < ready_columns_ + group_columns &&
              (ready_mask_ >> 4 * (tile_column - ready_columns_) & 0b1111u) == 0b1111u);
    }
    /// Waits until all operand tiles of a column are ready. Contains a barrier of the thread block.
    __device__ void wait_for(int tile_column) {
      if (warp() == 0) {
        for (int polls = 0; !is_ready(tile_column); ++polls) {
          poll();
          if (executor_.times_out(polls)) ready_mask_ = ~0u;
        }
        if (lane() == 0)
          executor_.memory_.ready_masks[3] = ready_mask_;  // other warps may still read element 2
      }
      __syncthreads();
      ready_mask_ = executor_.memory_.ready_masks[3];
      advance();
    }
    /// Called once per k slice p. Polls if `polls` is true, i.e. if copies of later slices have yet to be
    /// started. Passes the mask of ready tiles to all threads. Contains a barrier of the thread block.
    __device__ void poll_for_slice(int p, bool polls) {
      if (all_are_ready()) return __syncthreads();
      unsigned& ready_word = executor_.memory_.ready_masks[p % 2];
      if (warp() == 0) {
        if (polls) poll();
        if (lane() == 0) ready_word = ready_mask_;
      }
      __syncthreads();
      ready_mask_ = ready_word;
      advance();
    }
    /// Polls once and returns the mask of ready tiles. Called by the first warp only.
    __device__ unsigned poll() { return ready_mask_ = __ballot_sync(0xffffffffu, is_finished(state_)); }

   private:
    /// Moves on to the next group if all tiles of the polled group are ready.
    __device__ void advance() {
      if (ready_mask_ != ~0u || columns_left_ <= 0) return;
      ready_mask_ = 0;
      ready_columns_ += group_columns;
      state_ = lane() / 4 < columns_left_ ? state_ + group_columns * executor_.arguments_.states_ld : nullptr;
      columns_left_ -= group_columns;
    }

    const TaskExecutor& executor_;
    const unsigned* state_;
    unsigned ready_mask_;
    int ready_columns_;  ///< number of columns before the polled group; all their tiles are ready
    int columns_left_;   ///< number of columns after the polled group
  };

  /// Waits, in the first warp, until the task can start. Also polls the operands; the resulting mask is the
  /// start value of ReadyTiles in add_products().
  __device__ void await_start(const Task& task) const {
    ReadyTiles ready_tiles(*this, task, /*ready_mask=*/0);
    for (int polls = 0;; ++polls) {
      const bool ready = can_start(task);
      const unsigned ready_operands = ready_tiles.poll();
      if (lane() == 0) memory_.ready_masks[2] = ready_operands;
      if (ready || times_out(polls)) return;
    }
  }
  /// Returns true to all lanes of a warp if all earlier updates of the task's tiles are complete and the
  /// operands left of first_polled_column() are finished. Stored states are smaller by 1
  /// (LaunchArguments::states); adding 1 makes the initial state, with all bits set, 0.
  __device__ bool can_start(const Task& task) const {
    const TaskTiles task_tiles(task, arguments_.rows, arguments_.columns);
    const unsigned required = static_cast<unsigned>(task.k_begin / group_columns);
    bool ready =
        lane() >= 4 || !task_tiles.is_changed(lane()) ||
        simt::load_acquire(arguments_.state(task_tiles.row_of(lane()), task_tiles.column_of(lane()))) + 1 >=
            required;
    for (int first = task.k_begin; first < first_polled_column(task); first += group_columns) {
      ready = ready && is_finished(operand_state(task, first + lane() / 4));
    }
    return __all_sync(0xffffffffu, ready) != 0;
  }
  /// Sets the stored state of the tiles that the task has changed, after a barrier. Uses warp 3, because warp
  /// 0 polls for the next task.
  __device__ void set_states(const Task& task, unsigned state) const {
    __syncthreads();
    const TaskTiles task_tiles(task, arguments_.rows, arguments_.columns);
    if (warp() == 3 && lane() < 4 && task_tiles.is_changed(lane())) {
      simt::store_release(arguments_.state(task_tiles.row_of(lane()), task_tiles.column_of(lane())), state);
    }
    __syncwarp();  // the lanes leave the task's function together
  }

  /// Returns the object that copies diagonal tile j from its mailbox to shared memory.
  __device__ __forceinline__ TriangleReceiver<T, TaskExecutor> receiver_of(int j) const {
    return {*this, arguments_.mailbox(j), memory_.triangle(), memory_.inverses()};
  }

  /// Computes the sum of a task's products minus C, the Rows x Columns part of the matrix that the task
  /// changes. C is loaded to registers first but subtracted last. C may be far larger than the products, and
  /// a sum that begins with C would round each product to C's magnitude. Callers negate the result. If the
  /// task has only one row or column of tiles, the second half of the product repeats the first.
  template <int Rows, int Columns, int SquaresDown>
  __device__ __forceinline__ void compute_sum_minus_c(TileProduct<T, Rows, Columns, SquaresDown>& product,
                                                      const Task& task, const TaskTiles& task_tiles) {
    const int stored_rows = task_tiles.second_row == task_tiles.row ? tile_order : 2 * tile_order;
    const int stored_columns = task_tiles.second_column == task_tiles.column ? tile_order : 2 * tile_order;
    const T* const c = arguments_.tile(task_tiles.row, task_tiles.column);
    T c_elements[2 * product.pairs];
    int e = 0;
    product.for_pairs([&](int row, int column, T&, T&) {
      load_two(c + (row < stored_rows ? row : row - tile_order) +
                   (column < stored_columns ? column : column - tile_order) * arguments_.ld,
               c_elements[e], c_elements[e + 1]);
      e += 2;
    });
    add_products(product, task, task_tiles, [] {});
    e = 0;
    product.for_pairs([&](int, int, T& first, T& second) {
      first -= c_elements[e++];
      second -= c_elements[e++];
    });
  }
  /// Computes the sum of a task's products. Calls on_first_slice() when the first k slice has arrived.
  template <class Product, class OnFirstSlice>
  __device__ __forceinline__ void add_products(Product& product, const Task& task,
                                               const TaskTiles& task_tiles, OnFirstSlice on_first_slice) {
    product.clear();
    ReadyTiles ready_tiles(*this, task, memory_.ready_masks[2]);
    const Operand<T> a{arguments_.tile(task_tiles.row, task.k_begin),
                       task_tiles.second_row == task_tiles.row ? tile_order : 2 * tile_order};
    const Operand<T> b{arguments_.tile(task_tiles.column, task.k_begin),
                       task_tiles.second_column == task_tiles.column ? tile_order : 2 * tile_order};
    product.template add_tiles<stages>(memory_.storage, a, b, arguments_.ld, task.k_end - task.k_begin,
                                       ready_tiles, on_first_slice);
  }

  __device__ __forceinline__ void update(const Task& task) {
    const TaskTiles task_tiles(task, arguments_.rows, arguments_.columns);
    TileProduct<T, 2 * tile_order, 2 * tile_order, 4> product;
    add_products(product, task, task_tiles, [&] { prefetch_changed_tiles(task, task_tiles); });
    if constexpr (sizeof(T) == sizeof(double)) {
      subtract_by_bulk_copies(product, task, task_tiles);
    } else {
      // A warp tile lies within one of the four tiles.
      const int tile = product.warp_row() + product.warp_column() / 2 * 2;
      if (task_tiles.is_changed(tile)) {
        subtract_sums(product, arguments_.tile(task.i, task.j), arguments_.ld,
                      task_tiles.row_of(tile) == task_tiles.column_of(tile));
      }
      set_states(task, static_cast<unsigned>(task.k_end / group_columns) - 1);
    }
  }
  /// Adds an update's negated sums to the matrix by bulk copies, and sets the tiles' states. Warps 2 and 3
  /// process the first column of tiles, warps 6 and 7 the second one; the other warps continue with the next
  /// task. The changed tiles of a column are adjacent, so that one range of rows describes them.
  template <class Product>
  __device__ __forceinline__ void subtract_by_bulk_copies(Product& product, const Task& task,
                                                          const TaskTiles& task_tiles) {
    static_assert(2 * tile_order * sums_stride <= SharedStorage<T, GroupsPerUpdate>::elements);
    double* const sums = memory_.storage;
    store_negated(product, sums);
    __syncthreads();
    const int column = warp() / 4, column_part = warp() % 4 - 2;
    if (column_part >= 0 && lane() == 0) {
      const int j = task_tiles.column_of(2 * column);
      const int begin = task_tiles.is_changed(2 * column) ? 0 : 1,
                end = task_tiles.is_changed(2 * column + 1) ? 2 : 1;
      add_columns(arguments_.tile(task_tiles.row, j), arguments_.ld, sums + column * tile_order * sums_stride,
                  begin * tile_order, end * tile_order, task_tiles.row + begin == j, column_part,
                  /*column_stride=*/2);
      __threadfence_block();
      if (atomicAdd(&memory_.finished_warps[column], 1u) % 2 ==
          1) {  // the other warp of the column is done too
        for (int i = begin; i < end; ++i) {
          simt::store_release(arguments_.state(task_tiles.row + i, j),
                              static_cast<unsigned>(task.k_end / group_columns) - 1);
        }
      }
    }
    __syncwarp();  // the lanes leave the task's function together
  }
  /// Prefetches to L2 the 2 x 2 tiles that an update changes, unless it does not change the last of them.
  __device__ __forceinline__ void prefetch_changed_tiles(const Task& task, const TaskTiles& task_tiles) {
    if (!task_tiles.is_changed(3)) return;
    constexpr int lines = 2 * tile_order * static_cast<int>(sizeof(T)) / 128;  // cache lines per column
    const T* const c = arguments_.tile(task.i, task.j);
    // Index k is cache line k % lines of column k / lines.
    for (int k = thread(); k < lines * 2 * tile_order; k += threads) {
      prefetch(c + k % lines * (2 * tile_order / lines) + k / lines * arguments_.ld);
    }
  }
  __device__ __forceinline__ void panel(const Task& task) {
    const TaskTiles task_tiles(task, arguments_.rows, arguments_.columns);
    TileProduct<T, 2 * tile_order, tile_order, 2> product;
    compute_sum_minus_c(product, task, task_tiles);
    constexpr int stride = stride_of<T>(2 * tile_order);
    product.for_pairs([&](int row, int column, T first, T second) {
      memory_.solved()[column * stride + row] = -first;
      memory_.solved()[column * stride + row + 1] = -second;
    });
    const int rows = task_tiles.second_row == task_tiles.row ? tile_order : 2 * tile_order;
    T* const c = arguments_.tile(task.i, task.j);
    __syncthreads();
    RowSolver<T, stride> solver(memory_.solved(), product.registers());
    solver.load();
    auto receiver = receiver_of(task.j);
    GAUSSWEEP_ROLLED_IN_DOUBLE
    for (int m = 0; m < 8; ++m) {
      receiver.receive(m);
      if (warp() * 16 < rows) {  // a warp solves for 16 rows
        solver.solve(m, memory_.triangle(), memory_.inverses(),
                     [&](int row, int column, T value) { c[row + column * arguments_.ld] = value; });
      }
    }
    set_states(task, finished);
  }

  __device__ __forceinline__ void diagonal(const Task& task) {
    const int j = task.j;
    const TaskTiles task_tiles(task, arguments_.rows, arguments_.columns);
    TileProduct<T, tile_order, 2 * tile_order, 2> product;
    compute_sum_minus_c(product, task, task_tiles);
    // Element columns 0 to 63 of the product belong to A(j, j - 1), columns 64 to 127 to A(j, j). If j is 0,
    // both halves are A(j, j), and only the second one is used.
    const bool owns_diagonal_tile = product.warp_column() >= 2;
    T* const triangle = memory_.triangle();
    if (j > 0) {
      constexpr int stride = stride_of<T>(tile_order);
      T* const solved = memory_.solved();
      T* const c = arguments_.tile(j, j - 1);
      // A warp needs either its sums or the unsolved columns of its rows. Both use the same registers.
      RowSolver<T, stride> solver(solved, product.registers());
      const auto load_rows = [&] {
        if (!owns_diagonal_tile) {
          product.for_pairs([&](int row, int column, T first, T second) {
            solved[column * stride + row] = -first;
            solved[column * stride + row + 1] = -second;
          });
        }
        __syncthreads();
        if (!owns_diagonal_tile) solver.load();
      };
      const auto solve = [&](int m) {
        if (owns_diagonal_tile) return;
        solver.solve(m, triangle, memory_.inverses(),
                     [&](int row, int column, T value) { c[row + column * arguments_.ld] = value; });
      };
      // The warps of the diagonal tile add the product of solved columns 8m to 8m + 7 and their transpose.
      const auto add_square = [&](int m) {
        if (!owns_diagonal_tile) return;
        const T* const columns = solved + 8 * m * stride;
        product.template add<stride, stride, 8>(columns, columns, product.warp_row() * 32,
                                                product.warp_column() % 2 * 32, [] {});
      };
      // This order of calls matters: with others, the compiler moves loaded columns to other registers, and
      // such a move waits for the load.
      auto receiver = receiver_of(j - 1);
      load_rows();
      GAUSSWEEP_ROLLED_IN_DOUBLE
      for (int m = 0; m < 8; ++m) {
        receiver.receive(m);
        solve(m);
        if (m > 0) add_square(m - 1);
      }
      __syncthreads();
      add_square(7);
    }
    if (owns_diagonal_tile) {
      product.add_partial_sums();
      product.for_pairs([&](int row, int column, T first, T second) {
        T* const target = triangle + (column - tile_order) * triangle_stride + row;
        target[0] = -first;
        target[1] = -second;
      });
    }
    __syncthreads();
    // A thread of warp 3 signals, because warps 0 and 1 factor columns next.
    if (j > 0 && thread() == 96) simt::store_release(arguments_.state(j, j - 1), finished);
    const int failed =
        factor_tile(triangle, memory_.reciprocals, arguments_.mailbox(j), arguments_.by_division);
    if (thread() == 0 && failed >= 0 && *arguments_.info == 0) {
      *arguments_.info = arguments_.first_column + j * tile_order + failed + 1;
    }
    T* const target = arguments_.tile(j, j);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < tile_order * tile_order / threads; ++k) {
      const int row = thread() % tile_order, column = thread() / tile_order + k * (threads / tile_order);
      if (row >= column) target[row + column * arguments_.ld] = triangle[column * triangle_stride + row];
    }
    __syncthreads();  // the next task overwrites shared memory
  }

  const LaunchArguments<T>& arguments_;
  SharedStorage<T, GroupsPerUpdate>& memory_;
};

template <class T, int GroupsPerUpdate, TaskKind kind>
__device__ GAUSSWEEP_NOINLINE void run_task_function() {
  SharedStorage<T, GroupsPerUpdate>& memory = *simt::dynamic_shared<SharedStorage<T, GroupsPerUpdate>>();
  const LaunchArguments<T> arguments = memory.arguments;
  TaskExecutor<T, GroupsPerUpdate>(arguments, memory).template run_task<kind>();
}

template <class T, int GroupsPerUpdate>
__device__ GAUSSWEEP_NOINLINE TaskKind take_task_function() {
  SharedStorage<T, GroupsPerUpdate>& memory = *simt::dynamic_shared<SharedStorage<T, GroupsPerUpdate>>();
  const LaunchArguments<T> arguments = memory.arguments;
  return TaskExecutor<T, GroupsPerUpdate>(arguments, memory).take_task();
}

/// Factors the columns of one launch (see the top of this file).
template <class T, int GroupsPerUpdate>
__global__ void __launch_bounds__(threads, 1) factor_chain(LaunchArguments<T> arguments) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_launch_dependents();
  simt::griddepcontrol_wait();
  SharedStorage<T, GroupsPerUpdate>& memory = *simt::dynamic_shared<SharedStorage<T, GroupsPerUpdate>>();
  if (threadIdx.x == 0) memory.arguments = arguments;
  __syncthreads();
  TaskExecutor<T, GroupsPerUpdate>(arguments, memory).work();
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
