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
#include "kernels/potrf/tile_schedule.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

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

  __device__ T* tile(int i, int j) const { return global(a + i * order + j * (order * ld)); }
  __device__ unsigned* state(int i, int j) const { return global(states + i + j * states_ld); }
  __device__ T* triangle(int j) const { return global(handed + j * static_cast<std::int64_t>(handed_size)); }
};

template <class T>
struct ChainMemory {
  static constexpr int elements = pieces * TileProduct<T, 2 * order, 2 * order, 4>::piece;
  static_assert(order * stride_of<T>(2 * order) + order * triangle_stride + inverses_in_shared <= elements,
                "after the products the rest lies where the pieces did");
  alignas(16) T room[elements];
  T reciprocals[order];
  Chain<T> chain;
  Schedule schedule;  ///< of the thread that takes tickets
  Task task;
  unsigned open[4];  ///< of a task's operands: seen by a piece, by turns; at the beginning; after a wait

  /// After the products: rows to be solved (of 64 or 128, stride_of them apart), the triangle, its inverses.
  __device__ T* solved() { return room; }
  __device__ T* triangle() { return room + order * stride_of<T>(2 * order); }
  __device__ T* inverses() { return triangle() + order * triangle_stride; }
};

/// Memory's task, of a kind known.
template <class T, Kind kind>
__device__ GAUSSWEEP_NOINLINE void do_task();

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
      const Kind kind = memory_.task.kind;
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

 private:
  /// Of doubles, in a function of its own: in one function all kinds would share registers, and loops spill.
  template <Kind kind>
  __device__ __forceinline__ void do_task() {
    if constexpr (sizeof(T) == sizeof(double)) {
      tiles::do_task<T, kind>();
    } else {
      do_own_task<kind>();
    }
  }
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
    __device__ bool is_all_open() const { return known_ == ~0u; }
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
    const Tiles own(task, chain_.rows, chain_.columns);
    if (warp() == 3 && lane() < 4 && own.counts(lane())) {
      simt::store_release(chain_.state(own.row_of(lane()), own.column_of(lane())), state);
    }
    __syncwarp();  // a task's function ends for all at once
  }

  /// Of column j's triangle 8 `Blocks` columns from 8m on, and the inverses there, to shared memory, as soon
  /// as they were handed on; a barrier of the block. What is on and above the diagonal is not needed.
  template <int Blocks>
  __device__ __forceinline__ void receive(int j, int m) {
    const T* const handed = chain_.triangle(j);
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

  __device__ void store_pair(T* to, T first, T second) const {
    if (chain_.packed) {
      store_two(to, first, second);
    } else {
      to[0] = first;
      to[1] = second;
    }
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
      load_pair(
          c + (row < rows ? row : row - order) + (column < columns ? column : column - order) * chain_.ld,
          given[e], given[e + 1]);
      e += 2;
    });
    add_products(product, task, own);
    e = 0;
    product.for_pairs([&](int, int, T& first, T& second) {
      first -= given[e++];
      second -= given[e++];
    });
  }
  template <class Product>
  __device__ __forceinline__ void add_products(Product& product, const Task& task, const Tiles& own) {
    product.clear();
    Gate gate(*this, task);
    product.template add_tiles<pieces>(
        memory_.room, {chain_.tile(own.row, task.from), own.next_row == own.row ? order : 2 * order},
        {chain_.tile(own.column, task.from), own.next_column == own.column ? order : 2 * order}, chain_.ld,
        chain_.packed, task.to - task.from, gate);
  }

  /// The part of the matrix is brought to the L2 cache first, and to registers a few pairs at a time at last.
  __device__ __forceinline__ void update(const Task& task) {
    const Tiles own(task, chain_.rows, chain_.columns);
    T* const c = chain_.tile(task.i, task.j);
    TileProduct<T, 2 * order, 2 * order, 4> product;
    // A warp's part is in one of the four tiles.
    const int tile = product.warp_row() + product.warp_column() / 2 * 2;
    if (own.counts(3)) {
      constexpr int lines = 2 * order * static_cast<int>(sizeof(T)) / 128;  // of the cache, in a column
      for (int k = thread(); k < lines * 2 * order; k += threads) {
        prefetch(c + k % lines * (2 * order / lines) + k / lines * chain_.ld);
      }
    }
    add_products(product, task, own);
    if (own.counts(tile)) {
      const bool on_diagonal = own.row_of(tile) == own.column_of(tile);  // what is above is not ours
      constexpr int batch = 8;
      GAUSSWEEP_UNROLL
      for (int first = 0; first < product.pairs; first += batch) {
        T given[batch][2];
        GAUSSWEEP_UNROLL
        for (int i = 0; i < batch; ++i) {
          product.visit_pair(first + i, [&](int row, int column, T&, T&) {
            load_pair(c + row + column * chain_.ld, given[i][0], given[i][1]);
          });
        }
        GAUSSWEEP_UNROLL
        for (int i = 0; i < batch; ++i) {
          product.visit_pair(first + i, [&](int row, int column, T above, T below) {
            T* const place = c + row + column * chain_.ld;
            above = -(above - given[i][0]);
            below = -(below - given[i][1]);
            if (!on_diagonal || row % order >= column % order) {
              store_pair(place, above, below);
            } else if (row % order + 1 >= column % order) {
              place[1] = below;
            }
          });
        }
      }
    }
    publish(task, static_cast<unsigned>(task.to / group) - 1);
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
  ChainMemory<T>& memory_;
};

template <class T, Kind kind>
__device__ GAUSSWEEP_NOINLINE void do_task() {
  ChainMemory<T>& memory = *simt::dynamic_shared<ChainMemory<T>>();
  const Chain<T> chain = memory.chain;
  Worker<T>(chain, memory).template do_own_task<kind>();
}

template <class T>
__global__ void __launch_bounds__(threads, 1) factor_chain(Chain<T> chain) {
#if GAUSSWEEP_CLUSTERS
  simt::griddepcontrol_wait();
  ChainMemory<T>& memory = *simt::dynamic_shared<ChainMemory<T>>();
  if (threadIdx.x == 0) memory.chain = chain;
  __syncthreads();
  Worker<T>(chain, memory).work();
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
