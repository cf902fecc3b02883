#pragma once
/// The Cholesky factor of some block columns by one launch whose blocks wait for each other's tiles.
///
/// The columns have `columns` tiles of 64, the rows below the first one's top `rows` >= columns. Blocks take
/// tasks by ticket, in an order in which a task waits only for earlier ones. So it goes on however few blocks
/// run at a time. A tile's state is a word in global memory: how many groups of 8 tile columns were
/// subtracted from it, or `finished`. Three kinds of tasks, each a sum of products that come as their
/// operands do:
///
///   diagonal j  A(j, j - 1) and A(j, j) less what the columns of j - 1's group, or of the tail, left of it
///               have; L(j, j - 1) from the triangle before, as that one's columns come about; its square
///               from A(j, j), which is factored: the chain goes through these
///   panel i, j  L of tiles i and i + 1 in column j, by substitution with inverses of 8 x 8 tiles
///   update i, j tiles i and i + 1 of columns j and j + 1 less the product of a group of columns, of far ones
///               that of `Together` groups
///
/// The updates of a group that the next group's columns need come before these, the others in eight parts
/// beside them. So the chain and the bulk of the operations run at the same time. In the last columns, the
/// tail, there are no updates: see Schedule.

#include "kernels/potrf/tile_handed.cuh"
#include "kernels/potrf/tile_launch.cuh"
#include "kernels/potrf/tile_update.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Memory's task, of a kind known.
template <class T, int Together, Kind kind>
__device__ GAUSSWEEP_NOINLINE void do_task();

/// Memory's next task. Not inlined, for what lives beside calls takes registers from tasks.
template <class T, int Together>
__device__ GAUSSWEEP_NOINLINE Kind next_task();

/// One block's work.
template <class T, int Together>
class Worker {
 public:
  __device__ Worker(const Chain<T>& chain, ChainMemory<T, Together>& memory)
      : chain_(chain), memory_(memory) {}

  __device__ void work() {
    if (thread() == 0) memory_.schedule = {chain_.rows, chain_.columns, chain_.rows_of_tail};
    if (thread() < 2) memory_.added[thread()] = 0;
    for (;;) {
      const Kind kind = next_kind();
      if (kind == Kind::none) return;
      if (kind == Kind::diagonal) {
        do_task<Kind::diagonal>();
      } else if (kind == Kind::panel) {
        do_task<Kind::panel>();
      } else {
        do_task<Kind::update>();
      }
    }
  }
  /// Takes the next ticket; its task becomes memory's.
  __device__ __forceinline__ Kind next() {
    if (warp() == 0) {
      if (thread() == 0) {
        memory_.task = memory_.schedule.task(atomicAdd(global(chain_.ticket), 1u) + 1);
      }
      __syncwarp();
      if (memory_.task.kind != Kind::none) await_result(memory_.task);
    }
    __syncthreads();
    return memory_.task.kind;
  }
  /// Memory's task.
  template <Kind kind>
  __device__ __forceinline__ void do_own_task() {
    const Task task = memory_.task;
    if constexpr (kind == Kind::diagonal) {
      diagonal(task);
    } else if constexpr (kind == Kind::panel) {
      panel(task);
    } else {
      update(task);
    }
  }

  /// Of a warp: whether a wait is given up after so many polls.
  __device__ bool lose_patience(int polls) const {
    if (polls >= chain_.patience) {
      simt::store_volatile(global(memory_.chain.abandoned), 0u);
      *global(memory_.chain.info) = -1;
      return true;
    }
    return polls % 1024 == 1023 &&
           __any_sync(0xffffffffu, simt::load_volatile(global(memory_.chain.abandoned)) == 0) != 0;
  }

 private:
  /// Of doubles, in functions of their own: in one function all kinds would share registers, and loops spill.
  __device__ __forceinline__ Kind next_kind() {
    if constexpr (sizeof(T) == sizeof(double)) {
      return next_task<T, Together>();
    } else {
      return next();
    }
  }
  template <Kind kind>
  __device__ __forceinline__ void do_task() {
    if constexpr (sizeof(T) == sizeof(double)) {
      tiles::do_task<T, Together, kind>();
    } else {
      do_own_task<kind>();
    }
  }
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return thread() / 32; }
  __device__ static int lane() { return thread() % 32; }

  /// From which column on operands are waited for beside products: of an update those of its last group.
  __device__ static int first_awaited(const Task& task) {
    return task.kind == Kind::update && task.to - task.from > group ? task.to - group : task.from;
  }

  /// Of a warp: the state of a row or a column of the operands, a lane `inner`, or none.
  __device__ const unsigned* state_of_operand(const Task& task, int inner) const {
    if (inner >= task.to) return nullptr;
    const Tiles own(task, chain_.rows, chain_.columns);
    const int tile = lane() % 4 < 2 ? own.row_of(lane() % 2) : own.column_of(lane() % 4 - 2 == 0 ? 0 : 2);
    return chain_.state(tile, inner);
  }
  __device__ static bool is_finished(const unsigned* state) {
    return state == nullptr || simt::load_acquire(state) == finished;
  }

  /// Opens as the tiles of a sum's operands are finished: a group of their columns, then the next one. A lane
  /// looks after a row or a column of one of them.
  class Gate {
   public:
    /// `known`: of the first group that it looks after, bit by lane.
    __device__ Gate(const Worker& worker, const Task& task, unsigned known)
        : worker_(worker),
          state_(worker.state_of_operand(task, first_awaited(task) + lane() / 4)),
          known_(known),
          open_(first_awaited(task) - task.from),
          left_(task.to - first_awaited(task) - group) {}
    __device__ bool is_all_open() const { return known_ == ~0u && left_ <= 0; }
    __device__ bool is_open(int tile) const {
      return tile < open_ || (tile < open_ + group && (known_ >> 4 * (tile - open_) & 15u) == 15u);
    }
    __device__ void wait_for(int tile) {
      if (warp() == 0) {
        for (int polls = 0; !is_open(tile); ++polls) {
          peek();
          if (worker_.lose_patience(polls)) known_ = ~0u;
        }
        if (lane() == 0) worker_.memory_.open[3] = known_;  // others may still read what was known at first
      }
      __syncthreads();
      known_ = worker_.memory_.open[3];
      move_on();
    }
    __device__ void look(int p, bool useful) {
      if (is_all_open()) return __syncthreads();
      unsigned& open = worker_.memory_.open[p % 2];
      if (warp() == 0) {
        if (useful) peek();
        if (lane() == 0) open = known_;
      }
      __syncthreads();
      known_ = open;
      move_on();
    }
    __device__ unsigned peek() { return known_ = __ballot_sync(0xffffffffu, is_finished(state_)); }

   private:
    /// To the next group, if this one is open.
    __device__ void move_on() {
      if (known_ != ~0u || left_ <= 0) return;
      known_ = 0;
      open_ += group;
      state_ = lane() / 4 < left_ ? state_ + group * worker_.chain_.states_ld : nullptr;
      left_ -= group;
    }

    const Worker& worker_;
    const unsigned* state_;
    unsigned known_;
    int open_;  ///< tiles that are open for sure
    int left_;  ///< columns of tiles behind the group
  };

  /// Waits, by the first warp, until all that is to be subtracted from the result before was, and looks what
  /// of the operands is there.
  __device__ void await_result(const Task& task) const {
    Gate gate(*this, task, 0);
    for (int polls = 0;; ++polls) {
      const bool there = is_result_there(task);
      const unsigned open = gate.peek();
      if (lane() == 0) memory_.open[2] = open;
      if (there || lose_patience(polls)) return;
    }
  }
  /// Of a warp; and those operands that no product waits for.
  __device__ bool is_result_there(const Task& task) const {
    const Tiles own(task, chain_.rows, chain_.columns);
    const unsigned least = static_cast<unsigned>(task.from / group);
    bool there = lane() >= 4 || !own.counts(lane()) ||
                 simt::load_acquire(chain_.state(own.row_of(lane()), own.column_of(lane()))) + 1 >= least;
    for (int first = task.from; first < first_awaited(task); first += group) {
      there = there && is_finished(state_of_operand(task, first + lane() / 4));
    }
    return __all_sync(0xffffffffu, there) != 0;
  }
  /// Tells the state of a task's tiles for the block, after a barrier, by a warp that waits for nothing then.
  __device__ void publish(const Task& task, unsigned state) const {
    __syncthreads();
    const Tiles own(task, chain_.rows, chain_.columns);
    if (warp() == 3 && lane() < 4 && own.counts(lane())) {
      simt::store_release(chain_.state(own.row_of(lane()), own.column_of(lane())), state);
    }
    __syncwarp();  // a task's function ends for all at once
  }

  /// Column j's triangle.
  __device__ __forceinline__ Handed<T, Worker> handed_of(int j) const {
    return {*this, chain_.triangle(j), memory_.triangle(), memory_.inverses()};
  }

  /// A task's sum of products less a Rows x Columns part of the matrix. That is subtracted at last, so that
  /// terms are not rounded to its size one by one: it may be far larger. Registers hold it meanwhile.
  template <int Rows, int Columns, int Strips>
  __device__ __forceinline__ void subtract(TileProduct<T, Rows, Columns, Strips>& product, const Task& task,
                                           const Tiles& own) {
    const int rows = own.next_row == own.row ? order : 2 * order;
    const int columns = own.next_column == own.column ? order : 2 * order;
    const T* const c = chain_.tile(own.row, own.column);
    T given[2 * product.pairs];
    int e = 0;
    product.for_pairs([&](int row, int column, T&, T&) {
      load_two(
          c + (row < rows ? row : row - order) + (column < columns ? column : column - order) * chain_.ld,
          given[e], given[e + 1]);
      e += 2;
    });
    add_products(product, task, own, [] {});
    e = 0;
    product.for_pairs([&](int, int, T& first, T& second) {
      first -= given[e++];
      second -= given[e++];
    });
  }
  template <class Product, class Begun>
  __device__ __forceinline__ void add_products(Product& product, const Task& task, const Tiles& own,
                                               Begun begun) {
    product.clear();
    Gate gate(*this, task, memory_.open[2]);
    const Operand<T> a{chain_.tile(own.row, task.from), own.next_row == own.row ? order : 2 * order};
    const Operand<T> b{chain_.tile(own.column, task.from), own.next_column == own.column ? order : 2 * order};
    product.template add_tiles<pieces>(memory_.room, a, b, chain_.ld, task.to - task.from, gate, begun);
  }

  __device__ __forceinline__ void update(const Task& task) {
    const Tiles own(task, chain_.rows, chain_.columns);
    TileProduct<T, 2 * order, 2 * order, 4> product;
    add_products(product, task, own, [&] { bring(task, own); });
    if constexpr (sizeof(T) == sizeof(double)) {
      add_sums(product, task, own);
    } else {
      // A warp's part is in one of the four tiles.
      const int tile = product.warp_row() + product.warp_column() / 2 * 2;
      if (own.counts(tile)) {
        subtract_sums(product, chain_.tile(task.i, task.j), chain_.ld,
                      own.row_of(tile) == own.column_of(tile));
      }
      publish(task, static_cast<unsigned>(task.to / group) - 1);
    }
  }
  /// Subtracts an update's sums by way of the copy engine, and tells the tiles' states. For each column of
  /// tiles two warps do so; the others go on. Rows that count are neighbours.
  template <class Product>
  __device__ __forceinline__ void add_sums(Product& product, const Task& task, const Tiles& own) {
    static_assert(2 * order * sums_stride <= ChainMemory<T, Together>::elements);
    double* const sums = memory_.room;
    put_negated(product, sums);
    __syncthreads();
    const int column = warp() / 4, part = warp() % 4 - 2;
    if (part >= 0 && lane() == 0) {
      const int j = own.column_of(2 * column);
      const int begin = own.counts(2 * column) ? 0 : 1, end = own.counts(2 * column + 1) ? 2 : 1;
      add_columns(chain_.tile(own.row, j), chain_.ld, sums + column * order * sums_stride, begin * order,
                  end * order, own.row + begin == j, part, 2);
      __threadfence_block();
      if (atomicAdd(&memory_.added[column], 1u) % 2 == 1) {  // the other warp is done, too
        for (int i = begin; i < end; ++i) {
          simt::store_release(chain_.state(own.row + i, j), static_cast<unsigned>(task.to / group) - 1);
        }
      }
    }
    __syncwarp();  // as in publish
  }
  /// The part of the matrix that an update changes to the L2 cache.
  __device__ __forceinline__ void bring(const Task& task, const Tiles& own) {
    if (!own.counts(3)) return;
    constexpr int lines = 2 * order * static_cast<int>(sizeof(T)) / 128;  // of the cache, in a column
    const T* const c = chain_.tile(task.i, task.j);
    for (int k = thread(); k < lines * 2 * order; k += threads) {
      prefetch(c + k % lines * (2 * order / lines) + k / lines * chain_.ld);
    }
  }
  __device__ __forceinline__ void panel(const Task& task) {
    const Tiles own(task, chain_.rows, chain_.columns);
    TileProduct<T, 2 * order, order, 2> product;
    subtract(product, task, own);
    constexpr int stride = stride_of<T>(2 * order);
    product.for_pairs([&](int row, int column, T first, T second) {
      memory_.solved()[column * stride + row] = -first;
      memory_.solved()[column * stride + row + 1] = -second;
    });
    const int rows = own.next_row == own.row ? order : 2 * order;
    T* const c = chain_.tile(task.i, task.j);
    __syncthreads();
    RowSolver<T, stride> solver(memory_.solved(), product.registers());
    solver.load();
    auto handed = handed_of(task.j);
    GAUSSWEEP_ROLLED_IN_DOUBLE
    for (int m = 0; m < 8; ++m) {
      handed.take(m);
      if (warp() * 16 < rows) {
        solver.solve(m, memory_.triangle(), memory_.inverses(),
                     [&](int row, int column, T value) { c[row + column * chain_.ld] = value; });
      }
    }
    publish(task, finished);
  }

  __device__ __forceinline__ void diagonal(const Task& task) {
    const int j = task.j;
    const Tiles own(task, chain_.rows, chain_.columns);
    TileProduct<T, order, 2 * order, 2> product;
    subtract(product, task, own);
    // Columns from 64 on are those of the diagonal; where j is 0 both halves are.
    const bool of_diagonal = product.warp_column() >= 2;
    T* const triangle = memory_.triangle();
    if (j > 0) {
      constexpr int stride = stride_of<T>(order);
      T* const solved = memory_.solved();
      T* const c = chain_.tile(j, j - 1);
      // A warp has use of either its part of the sum or the rest of its rows.
      RowSolver<T, stride> solver(solved, product.registers());
      const auto load_rows = [&] {
        if (!of_diagonal) {
          product.for_pairs([&](int row, int column, T first, T second) {
            solved[column * stride + row] = -first;
            solved[column * stride + row + 1] = -second;
          });
        }
        __syncthreads();
        if (!of_diagonal) solver.load();
      };
      const auto solve = [&](int m) {
        if (of_diagonal) return;
        solver.solve(m, triangle, memory_.inverses(),
                     [&](int row, int column, T value) { c[row + column * chain_.ld] = value; });
      };
      // The square of the solved columns is taken by the warps that have the diagonal.
      const auto add_square = [&](int m) {
        if (!of_diagonal) return;
        const T* const columns = solved + 8 * m * stride;
        product.template add<stride, stride, 8>(columns, columns, product.warp_row() * 32,
                                                product.warp_column() % 2 * 32, [] {});
      };
      // In this order the compiler leaves the next columns in the registers that their loads bring them to. A
      // move of a register waits for its load.
      auto handed = handed_of(j - 1);
      load_rows();
      GAUSSWEEP_ROLLED_IN_DOUBLE
      for (int m = 0; m < 8; ++m) {
        handed.take(m);
        solve(m);
        if (m > 0) add_square(m - 1);
      }
      __syncthreads();
      add_square(7);
    }
    if (of_diagonal) {
      product.settle();
      product.for_pairs([&](int row, int column, T first, T second) {
        T* const place = triangle + (column - order) * triangle_stride + row;
        place[0] = -first;
        place[1] = -second;
      });
    }
    __syncthreads();
    if (j > 0 && thread() == 96) simt::store_release(chain_.state(j, j - 1), finished);
    const int failed = factor_tile(triangle, memory_.reciprocals, chain_.triangle(j));
    if (thread() == 0 && failed >= 0 && *chain_.info == 0) {
      *chain_.info = chain_.before + j * order + failed + 1;
    }
    T* const place = chain_.tile(j, j);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < order * order / threads; ++k) {
      const int row = thread() % order, column = thread() / order + k * (threads / order);
      if (row >= column) place[row + column * chain_.ld] = triangle[column * triangle_stride + row];
    }
    __syncthreads();  // the next task overwrites shared memory
  }

  const Chain<T>& chain_;
  ChainMemory<T, Together>& memory_;
};

template <class T, int Together, Kind kind>
__device__ GAUSSWEEP_NOINLINE void do_task() {
  ChainMemory<T, Together>& memory = *simt::dynamic_shared<ChainMemory<T, Together>>();
  const Chain<T> chain = memory.chain;
  Worker<T, Together>(chain, memory).template do_own_task<kind>();
}

template <class T, int Together>
__device__ GAUSSWEEP_NOINLINE Kind next_task() {
  ChainMemory<T, Together>& memory = *simt::dynamic_shared<ChainMemory<T, Together>>();
  const Chain<T> chain = memory.chain;
  return Worker<T, Together>(chain, memory).next();
}

template <class T, int Together>
__global__ void __launch_bounds__(threads, 1) factor_chain(Chain<T> chain) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_launch_dependents();
  simt::griddepcontrol_wait();
  ChainMemory<T, Together>& memory = *simt::dynamic_shared<ChainMemory<T, Together>>();
  if (threadIdx.x == 0) memory.chain = chain;
  __syncthreads();
  Worker<T, Together>(chain, memory).work();
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
