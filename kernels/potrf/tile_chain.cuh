#pragma once
/// The Cholesky factor of some block columns by one launch whose blocks wait for each other's tiles.
///
/// The columns have `columns` tiles of 64, the rows below the first one's top `rows` >= columns. Blocks take
/// tasks by ticket, in an order in which a task waits only for earlier ones, so that it goes on however few
/// blocks run at a time. A tile's state is a word in global memory: how many groups of 8 tile columns were
/// subtracted from it, or `finished`. Three kinds of tasks, G the group of a column, each a sum of at most 8
/// products that come as their operands do:
///
///   diagonal j  A(j, j - 1) and A(j, j) less what the columns of j - 1's group left of it have; L(j, j - 1)
///               from the triangle before, as that one's columns come about; its square from A(j, j), which
///               is factored: the chain goes through these
///   panel i, j  L of tiles i and i + 1 in column j, by substitution with inverses of 8 x 8 tiles
///   update i, j tiles i and i + 1 of columns j and j + 1 less the product of a whole group of columns
///
/// The updates of a group that the next group's columns need come before these, the others in eight parts
/// beside them, so that the chain and the bulk of the operations run at the same time.

#include "kernels/potrf/tile_factor.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int group = 8;  ///< tile columns that one update subtracts
constexpr unsigned finished = 1u << 30;
constexpr int pieces = 4;  ///< in shared memory

/// One launch. Counts and indices of tiles; elements are those of the part that it factors. Of what is handed
/// on and of the words all bits are set at the start.
template <class T>
struct Chain {
  T* a;
  std::int64_t ld;
  bool packed;
  int rows, columns;
  T* handed;         ///< of the diagonal's tiles, handed_size a column
  unsigned* states;  ///< less 1; column by column, `states_ld` apart
  std::int64_t states_ld;
  unsigned* ticket;     ///< the last one taken
  unsigned* abandoned;  ///< of the whole factorisation: 0 after a wait that was given up
  int before;           ///< columns of the matrix left of these
  int* info;
  int patience;  ///< polls after which a wait is given up

  __device__ T* tile(int i, int j) const { return a + i * order + j * (order * ld); }
  __device__ unsigned* state(int i, int j) const { return states + i + j * states_ld; }
};

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
class Schedule {
 public:
  __host__ __device__ Schedule(int rows, int columns) : rows_(rows), columns_(columns) { begin_step(0); }

  /// @pre no ticket less than that of the call before
  __host__ __device__ Task task(unsigned ticket) {
    while (ticket - first_ >= static_cast<unsigned>(diagonal_ + panels_ + urgent_ + others_)) {
      first_ += static_cast<unsigned>(diagonal_ + panels_ + urgent_ + others_);
      if (++step_ > columns_) return {Kind::none, 0, 0, 0, 0};
      begin_step(step_);
    }
    int number = static_cast<int>(ticket - first_);
    const int left = (step_ - 1) / group * group;  // where the group of the column before begins
    if (number < diagonal_) return {Kind::diagonal, step_, step_, step_ > 0 ? left : 0, max_of(step_ - 1, 0)};
    number -= diagonal_;
    const bool others_first = step_ % group != 0;
    if (others_first && number < others_) return other(number);
    if (others_first) number -= others_;
    if (number < panels_) {
      return {Kind::panel, first_of_panel() + 2 * number, step_ - 1, left, step_ - 1};
    }
    number -= panels_;
    if (number < urgent_) return in_columns(number, step_, step_ - group);
    return other(number - urgent_);
  }

 private:
  __host__ __device__ static int max_of(int a, int b) { return a > b ? a : b; }
  /// Below column step - 1's diagonal; what the diagonal's own task does is left out.
  __host__ __device__ int first_of_panel() const { return step_ < columns_ ? step_ + 1 : step_; }
  /// Updates of the columns [begin, end).
  __host__ __device__ int updates(int begin, int end) const {
    return sum_up_to(pairs(rows_) - begin / 2) - sum_up_to(pairs(rows_) - pairs(end));
  }
  __host__ __device__ void begin_step(int step) {
    step_ = step;
    diagonal_ = step < columns_ ? 1 : 0;
    panels_ = step > 0 ? pairs(max_of(rows_ - first_of_panel(), 0)) : 0;
    urgent_ = others_ = first_other_ = 0;
    if (step < group || step >= columns_) return;
    const int own = step / group * group;
    const int next = own + group;
    if (step == own) urgent_ = updates(own, next < columns_ ? next : columns_);
    if (next >= columns_) return;
    const int all = updates(next, columns_);
    first_other_ = all / group * (step - own) + all % group * (step - own) / group;
    others_ = all / group * (step - own + 1) + all % group * (step - own + 1) / group - first_other_;
  }
  __host__ __device__ Task other(int number) const {
    const int own = step_ / group * group;
    return in_columns(first_other_ + number, own + group, own - group);
  }
  /// Update number `number` of the columns from `column` on by the group that begins at `from`.
  __host__ __device__ Task in_columns(int number, int column, int from) const {
    for (;; column += 2) {
      const int count = pairs(rows_ - column);
      if (number < count) return {Kind::update, column + 2 * number, column, from, from + group};
      number -= count;
    }
  }

  int rows_, columns_, step_ = 0;
  unsigned first_ = 0;  ///< the step's first ticket
  int diagonal_ = 0, panels_ = 0, urgent_ = 0, others_ = 0;
  int first_other_ = 0;  ///< of the step's part of the updates beyond the next group
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

template <class T>
struct ChainMemory {
  static constexpr int elements = pieces * TileProduct<T, 2 * order, 2 * order, 4>::piece;
  static_assert(order * stride_of<T>(2 * order) + order * triangle_stride + inverses_in_shared <= elements,
                "after the products the rest lies where the pieces did");
  alignas(16) T room[elements];
  T reciprocals[order];
  Schedule schedule;  ///< of the thread that takes tickets
  Task task;
  unsigned open[4];  ///< of a task's operands: seen by a piece, by turns; at the beginning; after a wait

  /// After the products: rows to be solved (of 64 or 128, stride_of them apart), the triangle, its inverses.
  __device__ T* solved() { return room; }
  __device__ T* triangle() { return room + order * stride_of<T>(2 * order); }
  __device__ T* inverses() { return triangle() + order * triangle_stride; }
};

/// One block's work.
template <class T>
class Worker {
 public:
  __device__ Worker(const Chain<T>& chain, ChainMemory<T>& memory) : chain_(chain), memory_(memory) {}

  __device__ void work() {
    if (thread() == 0) memory_.schedule = Schedule(chain_.rows, chain_.columns);
    unsigned ticket = thread() == 0 ? atomicAdd(chain_.ticket, 1u) + 1 : 0u;
    for (;;) {
      if (warp() == 0) {
        if (thread() == 0) {
          memory_.task = memory_.schedule.task(ticket);
          ticket = atomicAdd(chain_.ticket, 1u) + 1;  // the next one, by the time that it is wanted
        }
        __syncwarp();
        if (memory_.task.kind != Kind::none) await_result(memory_.task);
      }
      __syncthreads();
      const Task task = memory_.task;
      if (task.kind == Kind::none) return;
      if (task.kind == Kind::diagonal) {
        diagonal(task);
      } else if (task.kind == Kind::panel) {
        panel(task);
      } else {
        update(task);
      }
    }
  }

 private:
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return thread() / 32; }
  __device__ static int lane() { return thread() % 32; }

  /// Opens as the tiles of a sum's operands are finished; a lane looks after a row or a column of one of
  /// them.
  class Gate {
   public:
    __device__ Gate(const Worker& worker, const Task& task)
        : worker_(worker), known_(worker.memory_.open[2]) {
      const Tiles own(task, worker.chain_.rows, worker.chain_.columns);
      const int inner = task.from + lane() / 4;
      const int tile = lane() % 4 < 2 ? own.row_of(lane() % 2) : own.column_of(lane() % 4 - 2 == 0 ? 0 : 2);
      state_ = inner < task.to ? worker.chain_.state(tile, inner) : nullptr;
    }
    __device__ bool is_open(int tile) const { return (known_ >> 4 * tile & 15u) == 15u; }
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
    }
    __device__ void look(int p, bool useful) {
      if (known_ == ~0u) return __syncthreads();
      unsigned& open = worker_.memory_.open[p % 2];
      if (warp() == 0) {
        if (useful) peek();
        if (lane() == 0) open = known_;
      }
      __syncthreads();
      known_ = open;
    }
    __device__ unsigned peek() {
      const bool open = state_ == nullptr || simt::load_acquire(state_) == finished;
      return known_ = __ballot_sync(0xffffffffu, open);
    }

   private:
    const Worker& worker_;
    const unsigned* state_;
    unsigned known_;
  };

  /// Of a warp.
  __device__ bool lose_patience(int polls) const {
    if (polls >= chain_.patience) {
      simt::store_volatile(chain_.abandoned, 0u);
      *chain_.info = -1;
      return true;
    }
    return polls % 1024 == 1023 && __any_sync(0xffffffffu, simt::load_volatile(chain_.abandoned) == 0) != 0;
  }
  /// Waits, by the first warp, until all that is to be subtracted from the result before was, and looks what
  /// of the operands is there.
  __device__ void await_result(const Task& task) const {
    const Tiles own(task, chain_.rows, chain_.columns);
    Gate gate(*this, task);
    const unsigned least = static_cast<unsigned>(task.from / group);
    const unsigned* const state =
        lane() < 4 && own.counts(lane()) ? chain_.state(own.row_of(lane()), own.column_of(lane())) : nullptr;
    for (int polls = 0;; ++polls) {
      const bool there = state == nullptr || simt::load_acquire(state) + 1 >= least;
      const unsigned open = gate.peek();
      if (lane() == 0) memory_.open[2] = open;
      if (__all_sync(0xffffffffu, there) != 0 || lose_patience(polls)) return;
    }
  }
  /// Tells the state of a task's tiles for the block, after a barrier, by a warp that waits for nothing then.
  __device__ void publish(const Task& task, unsigned state) const {
    __syncthreads();
    if (warp() != 3 || lane() >= 4) return;
    const Tiles own(task, chain_.rows, chain_.columns);
    if (own.counts(lane())) {
      simt::store_release(chain_.state(own.row_of(lane()), own.column_of(lane())), state);
    }
  }

  /// Of column j's triangle 8 `Blocks` columns from 8m on, and the inverses there, to shared memory, as soon
  /// as they were handed on; a barrier of the block. What is on and above the diagonal is not needed.
  template <int Blocks>
  __device__ __forceinline__ void receive(int j, int m) {
    const T* const handed = chain_.handed + j * static_cast<std::int64_t>(handed_size);
    constexpr int step = threads / order, share = 8 * Blocks / step;
    constexpr int inverse_share = (64 * Blocks + threads - 1) / threads;
    const int row = thread() % order, first = 8 * m + thread() / order;
    T value[share], inverse[inverse_share];
    for (int polls = 0;; ++polls) {
      bool missing = false;
      GAUSSWEEP_UNROLL
      for (int k = 0; k < share; ++k) {
        const int column = first + k * step;
        value[k] = row >= column / 8 * 8 + 8 ? simt::load_volatile(handed + column * order + row) : T(0);
      }
      GAUSSWEEP_UNROLL
      for (int k = 0; k < inverse_share; ++k) {
        const int index = thread() + k * threads;
        inverse[k] =
            index < 64 * Blocks ? simt::load_volatile(handed + handed_inverses + 64 * m + index) : T(0);
      }
      GAUSSWEEP_UNROLL
      for (int k = 0; k < share; ++k) missing = missing || chain::is_absent(value[k]);
      GAUSSWEEP_UNROLL
      for (int k = 0; k < inverse_share; ++k) missing = missing || chain::is_absent(inverse[k]);
      if (__any_sync(0xffffffffu, missing) == 0 || lose_patience(polls)) break;
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) memory_.triangle()[(first + k * step) * triangle_stride + row] = value[k];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < inverse_share; ++k) {
      const int index = thread() + k * threads;
      if (index < 64 * Blocks) {
        memory_.inverses()[(8 * m + index / 8) * inverse_stride + index % 8] = inverse[k];
      }
    }
    __syncthreads();
  }

  __device__ void load_pair(const T* from, T& first, T& second) const {
    if (chain_.packed) {
      load_two(from, first, second);
    } else {
      first = from[0];
      second = from[1];
    }
  }

  /// A task's sum of products less a Rows x Columns part of the matrix. That is subtracted at last, so that
  /// terms are not rounded to its size one by one: it may be far larger.
  template <int Rows, int Columns, int Strips>
  __device__ __forceinline__ void subtract(TileProduct<T, Rows, Columns, Strips>& product, const Task& task,
                                           const Tiles& own) {
    const int rows = own.next_row == own.row ? order : 2 * order;
    const int columns = own.next_column == own.column ? order : 2 * order;
    const T* const c = chain_.tile(own.row, own.column);
    const auto place = [&](int row, int column) {
      return c + (row < rows ? row : row - order) + (column < columns ? column : column - order) * chain_.ld;
    };
    // Registers hold it meanwhile where the sums leave room, else it is brought to the L2 cache.
    constexpr bool has_room = Strips == 2;
    T given[has_room ? 16 * Strips : 2];
    int e = 0;
    if (has_room) {
      product.for_pairs([&](int row, int column, T&, T&) {
        load_pair(place(row, column), given[e], given[e + 1]);
        e += 2;
      });
    } else {
      const int lines = rows * static_cast<int>(sizeof(T)) / 128;  // of the cache, in a column
      for (int k = thread(); k < lines * columns; k += threads) {
        prefetch(c + k % lines * (rows / lines) + k / lines * chain_.ld);
      }
    }
    product.clear();
    Gate gate(*this, task);
    product.template add_tiles<pieces>(memory_.room, {chain_.tile(own.row, task.from), rows},
                                       {chain_.tile(own.column, task.from), columns}, chain_.ld,
                                       chain_.packed, task.to - task.from, gate);
    e = 0;
    product.for_pairs([&](int row, int column, T& first, T& second) {
      if (!has_room) load_pair(place(row, column), given[0], given[1]);
      first -= given[has_room ? e : 0];
      second -= given[has_room ? e + 1 : 1];
      e += 2;
    });
  }

  __device__ void update(const Task& task) {
    const Tiles own(task, chain_.rows, chain_.columns);
    TileProduct<T, 2 * order, 2 * order, 4> product;
    subtract(product, task, own);
    T* const c = chain_.tile(task.i, task.j);
    const bool all = task.i > task.j && own.counts(3);
    product.for_pairs([&](int row, int column, T first, T second) {
      T* const place = c + row + column * chain_.ld;
      const bool inside = all || own.counts(row / order + column / order * 2);
      const int diagonal = task.i == task.j ? column : 0;  // what is above is not ours
      if (inside && row >= diagonal) place[0] = -first;
      if (inside && row + 1 >= diagonal) place[1] = -second;
    });
    publish(task, static_cast<unsigned>(task.to / group) - 1);
  }

  __device__ void panel(const Task& task) {
    const Tiles own(task, chain_.rows, chain_.columns);
    TileProduct<T, 2 * order, order, 2> product;
    subtract(product, task, own);
    constexpr int stride = stride_of<T>(2 * order);
    product.for_pairs([&](int row, int column, T first, T second) {
      memory_.solved()[column * stride + row] = -first;
      memory_.solved()[column * stride + row + 1] = -second;
    });
    receive<8>(task.j, 0);
    const int rows = own.next_row == own.row ? order : 2 * order;
    if (warp() * 16 < rows) {
      T* const c = chain_.tile(task.i, task.j);
      RowSolver<T, stride> solver(memory_.solved(), product.registers());
      solver.load();
      GAUSSWEEP_UNROLL
      for (int m = 0; m < 8; ++m) {
        solver.solve(m, memory_.triangle(), memory_.inverses(),
                     [&](int row, int column, T value) { c[row + column * chain_.ld] = value; });
      }
    }
    publish(task, finished);
  }

  __device__ void diagonal(const Task& task) {
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
      if (!of_diagonal) {
        product.for_pairs([&](int row, int column, T first, T second) {
          solved[column * stride + row] = -first;
          solved[column * stride + row + 1] = -second;
        });
      }
      __syncthreads();
      // A warp has use of either its part of the sum or the rest of its rows.
      RowSolver<T, stride> solver(solved, product.registers());
      if (!of_diagonal) solver.load();
      GAUSSWEEP_UNROLL
      for (int m = 0; m < 8; ++m) {
        receive<1>(j - 1, m);
        if (!of_diagonal) {
          solver.solve(m, triangle, memory_.inverses(),
                       [&](int row, int column, T value) { c[row + column * chain_.ld] = value; });
        }
        __syncthreads();
        // Their square, by the warps that have the diagonal, while the next columns are on their way.
        if (of_diagonal) {
          const T* const columns = solved + 8 * m * stride;
          product.template add<stride, stride, 8>(columns, columns, product.warp_row() * 32,
                                                  product.warp_column() % 2 * 32, [] {});
        }
      }
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
    const int failed = factor_tile(triangle, memory_.reciprocals,
                                   chain_.handed + j * static_cast<std::int64_t>(handed_size));
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
  ChainMemory<T>& memory_;
};

template <class T>
__global__ void __launch_bounds__(threads, 1) factor_chain(Chain<T> chain) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_wait();
  Worker<T>(chain, *simt::dynamic_shared<ChainMemory<T>>()).work();
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
