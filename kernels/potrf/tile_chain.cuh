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
///               from the triangle before, its square from A(j, j), factored: the chain goes through these
///   panel i, j  L of tiles i and i + 1 in column j, by substitution with inverses of 8 x 8 tiles
///   update i, j tiles i and i + 1 of column j less the product of a whole group of columns
///
/// The updates of a group that the next group's columns need come before these, the others in eight parts
/// beside them, so that the chain and the bulk of the operations run at the same time.

#include "kernels/potrf/tile_factor.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int group = 8;  ///< tile columns that one update subtracts
constexpr unsigned finished = 1u << 30;
constexpr int pieces = 4;  ///< in shared memory

/// One launch. Counts and indices of tiles; elements are those of the part that it factors.
template <class T>
struct Chain {
  T* a;
  std::int64_t ld;
  bool packed;
  int rows, columns;
  T* inverses;       ///< of triangles' 8 x 8 tiles, inverses_size a column
  unsigned* states;  ///< column by column, `states_ld` apart; 0 at the start
  std::int64_t states_ld;
  unsigned* ticket;     ///< 0 at the start
  unsigned* abandoned;  ///< of the whole factorisation: not 0 after a wait that was given up
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

/// Pairs of tiles in a column of `count`, and in columns of 1, 2, …, count.
__host__ __device__ constexpr int pairs(int count) {
  return (count + 1) / 2;
}
__host__ __device__ constexpr int pairs_up_to(int count) {
  return (count + 1) * (count + 1) / 4;
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
  __host__ __device__ void begin_step(int step) {
    step_ = step;
    diagonal_ = step < columns_ ? 1 : 0;
    panels_ = step > 0 ? pairs(max_of(rows_ - first_of_panel(), 0)) : 0;
    urgent_ = others_ = first_other_ = 0;
    if (step < group || step >= columns_) return;
    const int own = step / group * group;
    const int next = own + group;
    if (step == own) {
      const int end = next < columns_ ? next : columns_;
      urgent_ = pairs_up_to(rows_ - own - 1) - pairs_up_to(rows_ - end) + pairs(rows_ - own - 1);
    }
    if (next >= columns_) return;
    const int all = pairs_up_to(rows_ - next) - pairs_up_to(rows_ - columns_);
    first_other_ = all / group * (step - own) + all % group * (step - own) / group;
    others_ = all / group * (step - own + 1) + all % group * (step - own + 1) / group - first_other_;
  }
  __host__ __device__ Task other(int number) const {
    const int own = step_ / group * group;
    return in_columns(first_other_ + number, own + group, own - group);
  }
  /// Update number `number` of the columns from `column` on by the group that begins at `from`. A tile on the
  /// diagonal that follows a group is left to that diagonal's task.
  __host__ __device__ Task in_columns(int number, int column, int from) const {
    for (;; ++column) {
      const int begin = column == from + group ? column + 1 : column;
      const int count = pairs(rows_ - begin);
      if (number < count) return {Kind::update, begin + 2 * number, column, from, from + group};
      number -= count;
    }
  }

  int rows_, columns_, step_ = 0;
  unsigned first_ = 0;  ///< the step's first ticket
  int diagonal_ = 0, panels_ = 0, urgent_ = 0, others_ = 0;
  int first_other_ = 0;  ///< of the step's part of the updates beyond the next group
};

template <class T>
struct ChainMemory {
  static constexpr int elements = order * stride_of(2 * order) + order * triangle_stride + inverses_in_shared;
  static_assert(pieces * TileProduct<T, 128, 64, 2>::piece <= elements,
                "pieces lie where the rest does later");
  alignas(16) T room[elements];
  T reciprocals[order];
  Task task;
  unsigned open[3];

  /// After the products: rows to be solved (of 64 or 128, stride_of them apart), the triangle, its inverses.
  __device__ T* solved() { return room; }
  __device__ T* triangle() { return room + order * stride_of(2 * order); }
  __device__ T* inverses() { return triangle() + order * triangle_stride; }
};

/// One block's work.
template <class T>
class Worker {
 public:
  __device__ Worker(const Chain<T>& chain, ChainMemory<T>& memory) : chain_(chain), memory_(memory) {}

  __device__ void work() {
    Schedule schedule(chain_.rows, chain_.columns);
    for (;;) {
      if (thread() == 0) memory_.task = schedule.task(atomicAdd(chain_.ticket, 1u));
      __syncthreads();
      const Task task = memory_.task;
      if (task.kind == Kind::none) return;
      if (task.kind == Kind::diagonal) {
        diagonal(task);
      } else {
        below(task);
      }
    }
  }

 private:
  using Below = TileProduct<T, 2 * order, order, 2>;
  using Diagonal = TileProduct<T, order, 2 * order, 2>;

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int warp() { return thread() / 32; }
  __device__ static int lane() { return thread() % 32; }

  /// Opens as the tiles of a sum's operands are finished.
  class Gate {
   public:
    /// Tiles of rows and columns of the operands; a lane looks after one of them and one column.
    __device__ Gate(const Worker& worker, const Task& task, int row, int next_row, int column,
                    int next_column)
        : worker_(worker),
          tile_(lane() % 4 == 0   ? row
                : lane() % 4 == 1 ? next_row
                : lane() % 4 == 2 ? column
                                  : next_column),
          inner_(task.from + lane() / 4),
          needed_(inner_ < task.to) {
      known_ = worker_.memory_.open[2];
    }
    __device__ bool is_open(int tile) const { return (known_ >> 4 * tile & 15u) == 15u; }
    __device__ void wait_for(int tile) {
      if (warp() == 0) {
        for (int polls = 0; !is_open(tile); ++polls) {
          peek();
          if (worker_.lose_patience(polls)) known_ = ~0u;
        }
        if (lane() == 0) worker_.memory_.open[2] = known_;
      }
      __syncthreads();
      known_ = worker_.memory_.open[2];
    }
    __device__ void look(int p, bool useful) {
      unsigned& open = worker_.memory_.open[p % 2];
      if (warp() == 0) {
        if (useful && known_ != ~0u) peek();
        if (lane() == 0) open = known_;
      }
      __syncthreads();
      known_ = open;
    }

   private:
    __device__ void peek() {
      const bool open = !needed_ || simt::load_acquire(worker_.chain_.state(tile_, inner_)) == finished;
      known_ = __ballot_sync(0xffffffffu, open);
    }
    const Worker& worker_;
    int tile_, inner_;
    bool needed_;
    unsigned known_ = 0;
  };

  /// Of a warp.
  __device__ bool lose_patience(int polls) const {
    if (polls >= chain_.patience) {
      simt::store_volatile(chain_.abandoned, 1u);
      *chain_.info = -1;
      return true;
    }
    return polls % 1024 == 1023 && __any_sync(0xffffffffu, simt::load_volatile(chain_.abandoned) != 0) != 0;
  }
  /// Waits, by the first warp, until the tiles (i, j) of the first two lanes have a state of at least
  /// `least`; then a barrier of the block.
  __device__ void await(int i, int j, unsigned least) const {
    if (warp() == 0) {
      for (int polls = 0;; ++polls) {
        const bool there = lane() >= 2 || simt::load_acquire(chain_.state(i, j)) >= least;
        if (__all_sync(0xffffffffu, there) || lose_patience(polls)) break;
      }
      if (lane() == 0) memory_.open[2] = 0;
    }
    __syncthreads();
  }
  /// Tells, for the block, the state of (i, j) and, where it is another one, of (next_i, next_j).
  __device__ void publish(int i, int j, int next_i, int next_j, unsigned state) const {
    __syncthreads();
    // A warp that has nothing else to do while a diagonal's tile is factored.
    if (thread() == 96) simt::store_release(chain_.state(i, j), state);
    if (thread() == 97 && (next_i != i || next_j != j)) {
      simt::store_release(chain_.state(next_i, next_j), state);
    }
  }

  /// The triangle of column j and its inverses to shared memory.
  __device__ void load_triangle(int j) {
    await(j, j, finished);
    const T* const from = chain_.tile(j, j);
    T* const triangle = memory_.triangle();
    constexpr int share = order * order / threads;
    T value[share];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      const int row = thread() % order, column = thread() / order + k * (threads / order);
      value[k] = row > column ? from[row + column * chain_.ld] : T(0);
    }
    T inverse[inverses_size / threads];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < inverses_size / threads; ++k) {
      inverse[k] = chain_.inverses[j * inverses_size + thread() + k * threads];
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      triangle[(thread() / order + k * (threads / order)) * triangle_stride + thread() % order] = value[k];
    }
    GAUSSWEEP_UNROLL
    for (int k = 0; k < inverses_size / threads; ++k) {
      const int index = thread() + k * threads;
      memory_.inverses()[index / 8 * inverse_stride + index % 8] = inverse[k];
    }
    __syncthreads();
  }

  __device__ static void load_pair(const T* from, bool packed, T& first, T& second) {
    if (packed && sizeof(T) == sizeof(double)) {
      load_two_of(from, first, second);
    } else {
      first = from[0];
      second = from[1];
    }
  }
  __device__ static void load_two_of(const double* from, double& first, double& second) {
    lu::load_two(from, first, second);
  }
  __device__ static void load_two_of(const float* from, float& first, float& second) {
    first = from[0];
    second = from[1];
  }

  /// Tiles i and i + 1 of column j: an update, or L.
  __device__ void below(const Task& task) {
    const int i = task.i, j = task.j;
    const bool panel = task.kind == Kind::panel;
    const int next = i + 1 < chain_.rows ? i + 1 : i;
    const int rows = (next - i + 1) * order;
    await(lane() == 0 ? i : next, j, static_cast<unsigned>(task.from / group));
    Gate gate(*this, task, i, next, j, j);
    T* const c = chain_.tile(i, j);
    Below product;
    product.for_pairs([&](int row, int column, T& first, T& second) {
      load_pair(c + (row < rows ? row : row - order) + column * chain_.ld, chain_.packed, first, second);
    });
    product.for_pairs([&](int, int, T& first, T& second) {
      first = -first;
      second = -second;
    });
    product.template add_tiles<pieces>(memory_.room, {chain_.tile(i, task.from), rows},
                                       {chain_.tile(j, task.from), order}, chain_.ld, chain_.packed,
                                       task.to - task.from, gate);
    if (!panel) {
      product.for_pairs([&](int row, int column, T first, T second) {
        T* const place = c + row + column * chain_.ld;
        const int diagonal = i == j ? column : 0;  // what is above is not ours
        if (row < rows && row >= diagonal) place[0] = -first;
        if (row < rows && row + 1 >= diagonal) place[1] = -second;
      });
      return publish(i, j, next, j, static_cast<unsigned>(task.to / group));
    }
    constexpr int stride = stride_of(2 * order);
    product.for_pairs([&](int row, int column, T first, T second) {
      memory_.solved()[column * stride + row] = -first;
      memory_.solved()[column * stride + row + 1] = -second;
    });
    load_triangle(j);
    solve_rows<stride>(memory_.triangle(), memory_.inverses(), memory_.solved(), rows,
                       [&](int row, int column, T value) { c[row + column * chain_.ld] = value; });
    publish(i, j, next, j, finished);
  }

  __device__ void diagonal(const Task& task) {
    const int j = task.j;
    const int before = j > 0 ? j - 1 : 0;
    await(j, lane() == 0 ? before : j, static_cast<unsigned>(task.from / group));
    Gate gate(*this, task, j, j, before, j);
    // Columns from 64 on are those of the diagonal.
    const bool of_diagonal = Diagonal::warp_column() >= 2;
    T* const c = chain_.tile(j, j - 1);
    Diagonal product;
    product.for_pairs([&](int row, int column, T& first, T& second) {
      first = second = 0;
      if (of_diagonal || j > 0) load_pair(c + row + column * chain_.ld, chain_.packed, first, second);
    });
    product.for_pairs([&](int, int, T& first, T& second) {
      first = -first;
      second = -second;
    });
    product.template add_tiles<pieces>(memory_.room, {chain_.tile(j, task.from), order},
                                       {chain_.tile(before, task.from), 2 * order}, chain_.ld, chain_.packed,
                                       task.to - task.from, gate);
    if (j > 0) {
      constexpr int stride = stride_of(order);
      T* const solved = memory_.solved();
      if (!of_diagonal) {
        product.for_pairs([&](int row, int column, T first, T second) {
          solved[column * stride + row] = -first;
          solved[column * stride + row + 1] = -second;
        });
      }
      load_triangle(j - 1);
      solve_rows<stride>(memory_.triangle(), memory_.inverses(), solved, order,
                         [&](int row, int column, T value) { c[row + column * chain_.ld] = value; });
      publish(j, j - 1, j, j - 1, finished);
      if (of_diagonal) {
        GAUSSWEEP_ROLLED
        for (int k = 0; k < order; k += depth) {
          product.template add<stride, stride>(solved + k * stride, solved + k * stride,
                                               Diagonal::warp_row() * 32,
                                               Diagonal::warp_column() * 32 - order, depth);
        }
      }
    }
    T* const triangle = memory_.triangle();
    if (of_diagonal) {
      product.for_pairs([&](int row, int column, T first, T second) {
        triangle[(column - order) * triangle_stride + row] = -first;
        triangle[(column - order) * triangle_stride + row + 1] = -second;
      });
    }
    __syncthreads();
    const int failed = factor_tile(triangle, memory_.reciprocals, chain_.inverses + j * inverses_size);
    if (thread() == 0 && failed >= 0 && *chain_.info == 0) {
      *chain_.info = chain_.before + j * order + failed + 1;
    }
    T* const place = chain_.tile(j, j);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < order * order / threads; ++k) {
      const int row = thread() % order, column = thread() / order + k * (threads / order);
      if (row >= column) place[row + column * chain_.ld] = triangle[column * triangle_stride + row];
    }
    publish(j, j, j, j, finished);
  }

  const Chain<T>& chain_;
  ChainMemory<T>& memory_;
};

template <class T>
__global__ void __launch_bounds__(threads, 2) factor_chain(Chain<T> chain) {
#if GAUSSWEEP_CLUSTERS
  simt::await_launches_before();
  Worker<T>(chain, *simt::dynamic_shared<ChainMemory<T>>()).work();
#endif
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
