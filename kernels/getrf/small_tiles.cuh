#pragma once
/// LU with partial pivoting of systems of order up to 128, in the registers of a block by tiles.
///
/// Thread (i, j) of a grid has rows R i to R i + R - 1 and of the columns every `across`-th from j on. In
/// step k the warp that has column k finds the pivot and puts the multipliers into shared memory, the threads
/// of the pivot's row put that there, and each thread subtracts an outer product: R + C numbers read for R C
/// products, where a thread with a whole row reads one for each. Rows are not exchanged. Registers cannot be
/// indexed, so a thread's columns turn: after `across` steps, of which each took one column of all threads,
/// they move by one place. Thus the loop over steps stays one, or two of different widths.
///
/// A right-hand side is one more column. For the inverse the columns of L^-1 take the place of those that are
/// finished, and U goes to shared memory. The way back goes by blocks of `across` steps: a thread solves the
/// block's triangle for a column, then all subtract the block's product. An inverse is thus as accurate as
/// LU with both substitutions.

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/getrf/largest.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::small_tiles {

enum class Use { factors, solves, inverts };

/// down x across threads, each with R rows and C columns; `Blocks` of them fill a multiprocessor's registers.
template <int Down, int R, int Across, int C, int Blocks>
struct Grid {
  static constexpr int blocks = Blocks;
  static constexpr int down = Down, rows = R, across = Across, columns = C;
  static constexpr int order = Down * R, threads = Down * Across;
  static_assert(order == Across * C && 32 % Down == 0 && threads % 32 == 0 && R % 2 == 0, "whole warps");

  /// Where row i of a column lies in shared memory: no two threads' pairs of elements meet in a bank.
  static __device__ __forceinline__ int place(int i) {
    constexpr int pairs = R / 2;
    const int thread = i / R;
    const int shift = pairs == 3 ? 0 : thread * R / 16;
    return thread * R + (i % R / 2 + shift) % pairs * 2 + i % 2;
  }
};

/// What the threads of a system share.
template <class T, class G, Use use>
struct Desk {
  static constexpr bool keeps = use == Use::inverts;
  static constexpr int slots = G::columns + (use == Use::solves ? 1 : 0), pitch = (slots + 1) / 2 * 2 + 2;
  static constexpr int block_width = use == Use::inverts  ? G::across * pitch
                                     : use == Use::solves ? G::across
                                                          : G::order;
  alignas(16) T column[keeps ? G::order : 2][G::order];  ///< of each step multipliers, and of taken rows U
  alignas(16) T row[2][G::across][pitch];                ///< that is subtracted
  alignas(16) T upper[use == Use::solves ? G::across : 1][G::order];  ///< of U, columns of a block
  alignas(16) T block[G::across][block_width];
  T pivot[G::order], inverse[G::order];
  int taken[G::order], step[G::order];    ///< the row of each step, the step of each row
  int place[G::order], row_at[G::order];  ///< were rows exchanged at once
  int info;
};

template <class G>
__device__ __forceinline__ void wait() {
  if (G::threads == 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// In branches that are alike but for registers: the compiler would make them one, and index these.
template <int Branch>
__device__ __forceinline__ void keep_apart() {
#ifdef __CUDA_ARCH__
  asm volatile("// %0" ::"n"(Branch));
#endif
}

/// The bits of a size and 1, which are ordered as the numbers are, NaN above all.
__device__ __forceinline__ unsigned long long key_of(double size) {
  unsigned long long bits = 0;
  memcpy(&bits, &size, sizeof bits);
  return bits + 1;
}

template <class T>
struct alignas(2 * sizeof(T)) Two {
  T first, second;
};

/// A thread's part of a system.
template <class T, class G, Use use>
class Tile {
  using D = Desk<T, G, use>;
  static constexpr int R = G::rows, C = G::columns, slots = D::slots, half = C / 2;
  static constexpr bool inverts = use == Use::inverts;

 public:
  __device__ __forceinline__ Tile(D& desk, int n)
      : desk_(desk),
        n_(n),
        i_(static_cast<int>(threadIdx.x) % G::down),
        j_(static_cast<int>(threadIdx.x) / G::down) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) done_ |= row(r) < n ? 0 : 1 << r;
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; r += 2) places_[r / 2] = G::place(row(r));
    for (int i = static_cast<int>(threadIdx.x); use == Use::factors && i < n; i += G::threads)
      desk_.place[i] = desk_.row_at[i] = i;
    if (threadIdx.x == 0) desk_.info = 0;
  }

  __device__ __forceinline__ void load(const T* a) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < C; ++c) {
      const int j = c * G::across + j_;
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; ++r) a_[r][c] = row(r) < n_ && j < n_ ? a[row(r) + j * n_] : T(0);
    }
  }
  /// A column of B, of the right-hand sides that the grid takes at once.
  __device__ __forceinline__ void load_beside(const T* b, int count) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) a_[r][slots - 1] = row(r) < n_ && j_ < count ? b[row(r) + j_ * n_] : T(0);
  }

  /// All steps.
  __device__ __forceinline__ void factor() {
    wait<G>();
    if constexpr (inverts) {
      take_steps<C>(0, C);
    } else {
      take_steps<C>(0, half);
      take_steps<half>(half, half);
    }
    wait<G>();
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) step_[r] = row(r) < n_ ? desk_.step[row(r)] : G::order;
  }

  /// Rows of U X = what is beside it, or in L's place, from the last to the first; put(step, column, x).
  template <class Put>
  __device__ __forceinline__ void substitute(Put&& put) {
    GAUSSWEEP_ROLLED
    for (int c = C - 1; c >= 0; --c) {
      if (c * G::across < n_) take_block(c * G::across, put);
      if (!inverts) turn<C, false>();
    }
  }

  /// L and U.
  __device__ __forceinline__ void store(T* a) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    GAUSSWEEP_ROLLED
    for (int c = 0; c < C; ++c) {
      wait<G>();
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; ++r) {
        if (row(r) < n_) desk_.block[j_][step_[r]] = a_[r][half];  // column c, after as many turns
      }
      turn<C, true>();
      wait<G>();
      for (int w = static_cast<int>(threadIdx.x) / 32; w < G::across; w += G::threads / 32) {
        const int column = c * G::across + w;
        for (int i = lane; column < n_ && i < n_; i += 32) a[i + column * n_] = desk_.block[w][i];
      }
    }
  }
  /// As LAPACK's, but from 0.
  __device__ __forceinline__ void store_pivots(int* pivots) const {
    for (int k = static_cast<int>(threadIdx.x); k < n_; k += G::threads) pivots[k] = desk_.taken[k];
  }

 private:
  __device__ __forceinline__ int row(int r) const { return i_ * R + r; }
  __device__ __forceinline__ bool is_done(int r) const { return (done_ >> r & 1) != 0; }

  /// The first Width columns move by one place, to the left or to the right, and what leaves comes in on the
  /// other side.
  template <int Width, bool Left>
  __device__ __forceinline__ void turn() {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) {
      const T moved = a_[r][Left ? 0 : Width - 1];
      GAUSSWEEP_UNROLL
      for (int e = 1; e < Width; ++e) {
        if (Left)
          a_[r][e - 1] = a_[r][e];
        else
          a_[r][Width - e] = a_[r][Width - e - 1];
      }
      a_[r][Left ? Width - 1 : 0] = moved;
    }
  }

  /// The steps whose columns come first in turn, while Width columns are left at the beginning. Where there
  /// are two halves, column c ends in place (c + half) % C.
  template <int Width>
  __device__ __forceinline__ void take_steps(int first, int turns) {
    GAUSSWEEP_ROLLED
    for (int t = 0; t < turns; ++t) {
      GAUSSWEEP_ROLLED
      for (int owner = 0; owner < G::across; ++owner) {
        const int k = (first + t) * G::across + owner;
        if (k < n_) take_step<Width>(k, owner, Width - t);
      }
      turn<Width, true>();
    }
  }

  /// The row that a warp with column k takes: the first of the largest size.
  __device__ __forceinline__ int find_pivot(int owner, T& pivot) const {
    unsigned long long most = 0;
    int found = 0;
    pivot = 0;
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) {
      const unsigned long long own = is_done(r) ? 0 : key_of(std::fabs(static_cast<double>(a_[r][0])));
      const bool larger = own > most;
      most = larger ? own : most;
      found = larger ? row(r) : found;
      pivot = larger ? a_[r][0] : pivot;
    }
    const int lane = lane_of_largest(j_ == owner && most > 0, pivot) & 31;
    pivot = __shfl_sync(0xffffffffu, pivot, lane);
    return __shfl_sync(0xffffffffu, found, lane);
  }

  /// @param live columns of which this one is the first; those behind are finished
  template <int Width>
  __device__ __forceinline__ void take_step(int k, int owner, int live) {
    T* const column = desk_.column[D::keeps ? k : k % 2];
    if (static_cast<int>(threadIdx.x) / 32 == owner * G::down / 32) {
      T pivot = 0;
      const int taken = find_pivot(owner, pivot);
      const T inverse = T(1) / pivot;
      if (j_ == owner) {
        T factors[R];
        GAUSSWEEP_UNROLL
        for (int r = 0; r < R; ++r) factors[r] = a_[r][0] * inverse;
        if (inverse - inverse != T(0)) {
          GAUSSWEEP_UNROLL
          for (int r = 0; r < R; ++r)
            factors[r] = pivot == T(0) ? T(0) : a_[r][0] / pivot;  // at 0 all of the column is 0
        }
        GAUSSWEEP_UNROLL
        for (int r = 0; r < R; ++r) {
          const bool is_left = !is_done(r) && row(r) != taken;
          factors[r] = is_left ? factors[r] : a_[r][0];
          a_[r][0] = !inverts ? factors[r] : row(r) == taken ? T(1) : T(0);
        }
        GAUSSWEEP_UNROLL
        for (int r = 0; r < R; r += 2)
          *reinterpret_cast<Two<T>*>(column + places_[r / 2]) = {factors[r], factors[r + 1]};
      }
      if (threadIdx.x % 32 == 0) {
        desk_.pivot[k] = pivot;
        desk_.inverse[k] = inverse;
        desk_.taken[k] = taken;
        desk_.step[taken] = k;
        if (pivot == T(0) && desk_.info == 0) desk_.info = k + 1;
      }
    }
    wait<G>();
    const int taken = desk_.taken[k];
    if (i_ == taken / R) publish<Width, 0>(k, owner, live, taken % R);
    wait<G>();
    if (use == Use::factors && threadIdx.x == 0) exchange(k, taken);
    T factors[R];
    take_factors(column, factors);
    GAUSSWEEP_UNROLL
    for (int e = 0; e < Width; ++e) subtract(e, factors, desk_.row[k % 2][j_][e]);
    if (use == Use::solves) subtract(C, factors, desk_.row[k % 2][j_][C]);
  }
  /// Of the rows that are left.
  __device__ __forceinline__ void take_factors(const T* column, T (&factors)[R]) const {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; r += 2) {
      const auto two = *reinterpret_cast<const Two<T>*>(column + places_[r / 2]);
      factors[r] = is_done(r) ? T(0) : two.first;
      factors[r + 1] = is_done(r + 1) ? T(0) : two.second;
    }
  }
  __device__ __forceinline__ void subtract(int e, const T (&factors)[R], T own) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) a_[r][e] = std::fma(-factors[r], own, a_[r][e]);
  }
  /// Row r of the thread's goes to the desk, with 0 where it is finished.
  template <int Width, int own>
  __device__ __forceinline__ void publish(int k, int owner, int live, int r) {
    if (r == own) {
      done_ |= 1 << own;
      GAUSSWEEP_UNROLL
      for (int e = 0; e < Width; ++e) {
        const bool finished = !inverts && (e == 0 ? j_ <= owner : e >= live);
        desk_.row[k % 2][j_][e] = finished ? T(0) : a_[own][e];
      }
      if (use == Use::solves) desk_.row[k % 2][j_][C] = a_[own][slots - 1];
      keep_apart<own>();
    } else if constexpr (own + 1 < R) {
      publish<Width, own + 1>(k, owner, live, r);
    }
  }
  /// From here on taken[k] is the place of the row, were rows exchanged at once.
  __device__ __forceinline__ void exchange(int k, int taken) {
    const int place = desk_.place[taken], other = desk_.row_at[k];
    desk_.place[other] = place;
    desk_.row_at[place] = other;
    desk_.taken[k] = place;
  }

  /// Of what is on the way back: a right-hand side, or all columns.
  static constexpr int from = inverts ? 0 : C;
  __device__ __forceinline__ int at(int e) const { return inverts ? j_ * D::pitch + e : j_; }

  /// The steps from `first` on.
  template <class Put>
  __device__ __forceinline__ void take_block(int first, Put& put) {
    wait<G>();
    T(*const upper)[G::order] = inverts ? desk_.column + first : desk_.upper;
    if (!inverts) {
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; r += 2)
        *reinterpret_cast<Two<T>*>(upper[j_] + places_[r / 2]) = {a_[r][half - 1], a_[r + 1][half - 1]};
    }
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) {
      const int own = step_[r] - first;
      if (own < 0 || own >= G::across) continue;
      GAUSSWEEP_UNROLL
      for (int e = from; e < slots; ++e) desk_.block[own][at(e)] = a_[r][e];
    }
    wait<G>();
    solve_triangle(first, upper, put);
    wait<G>();
    done_ = 0;
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) done_ |= step_[r] < first ? 0 : 1 << r;
    const int last = min(G::across, n_ - first);
    GAUSSWEEP_ROLLED
    for (int k = 0; first > 0 && k < last; ++k) {
      T factors[R];
      take_factors(upper[k], factors);
      GAUSSWEEP_UNROLL
      for (int e = from; e < slots; ++e) subtract(e, factors, desk_.block[k][at(e)]);
    }
  }
  /// The unknowns of a block of steps, a thread a column.
  template <class Put>
  __device__ __forceinline__ void solve_triangle(int first, const T (*upper)[G::order], Put& put) {
    const auto t = static_cast<int>(threadIdx.x);
    if (t >= (inverts ? G::order : G::across)) return;
    const int at = inverts ? t / C * D::pitch + t % C : t;
    const int column = inverts ? t % C * G::across + t / C : t, last = min(G::across, n_ - first);
    T x[G::across];
    int places[G::across];
    GAUSSWEEP_UNROLL
    for (int k = 0; k < G::across; ++k) {
      x[k] = k < last ? desk_.block[k][at] : T(0);
      places[k] = k < last ? G::place(desk_.taken[first + k]) : 0;
    }
    GAUSSWEEP_UNROLL
    for (int k = G::across - 1; k >= 0; --k) {
      if (k >= last) continue;
      const T inverse = desk_.inverse[first + k];
      T own = x[k] * inverse;
      if (inverse - inverse != T(0)) own = x[k] / desk_.pivot[first + k];
      desk_.block[k][at] = own;
      put(first + k, column, own);
      GAUSSWEEP_UNROLL
      for (int above = 0; above < k; ++above) x[above] = std::fma(-upper[k][places[above]], own, x[above]);
    }
  }

  D& desk_;
  int n_, i_, j_;
  int done_ = 0;  ///< a bit a row: it does not change any more
  int places_[R / 2];
  int step_[R];
  T a_[R][slots];
};

/// A block has a system; blockIdx.y says which right-hand sides.
template <class T, class G, Use use>
__global__ void __launch_bounds__(G::threads, G::blocks)
    tile_kernel(int n, int nrhs, T* a, const T* b, T* x, int* pivots, int* info) {
  auto& desk = *simt::dynamic_shared<Desk<T, G, use>>();
  const std::int64_t s = blockIdx.x, first = static_cast<std::int64_t>(blockIdx.y) * G::across;
  Tile<T, G, use> tile(desk, n);
  T* const own = a + s * n * n;
  const std::int64_t of_b = (s * nrhs + first) * n;
  const int count = min(G::across, nrhs - static_cast<int>(first));
  tile.load(own);
  if (use == Use::solves) tile.load_beside(b + of_b, count);
  tile.factor();
  if constexpr (use == Use::factors) {
    tile.store(own);
    tile.store_pivots(pivots + s * n);
  } else if constexpr (use == Use::solves) {
    T* const to = x + of_b;
    tile.substitute([&](int k, int column, T value) {
      if (column < count) to[k + column * n] = value;
    });
  } else {
    T* const to = x + s * n * n;
    tile.substitute([&](int k, int column, T value) {
      if (column < n) to[k + desk.taken[column] * n] = value;
    });
  }
  if (threadIdx.x == 0 && blockIdx.y == 0) info[s] = desk.info;
}

/// Calls launch(Grid) for the smallest grid of order n. @pre n <= 128
template <class Launch>
void for_order(std::int64_t n, Launch&& launch) {
  if (n <= 32) return launch(Grid<8, 4, 4, 8, 16>());
  if (n <= 48) return launch(Grid<8, 6, 8, 6, 8>());
  if (n <= 64) return launch(Grid<16, 4, 8, 8, 4>());
  if (n <= 96) return launch(Grid<16, 6, 12, 8, 2>());
  launch(Grid<32, 4, 16, 8, 1>());
}

/// Whether a block's shared memory holds a system of order n.
template <class T, Use use>
bool fits(const Context& context, std::int64_t n) {
  bool does = false;
  for_order(
      n, [&](auto grid) { does = sizeof(Desk<T, decltype(grid), use>) <= simt::max_shared_bytes(context); });
  return does;
}

template <class T, Use use>
void run(Context& context, Operands<T>& op) {
  const Shape& shape = op.shape;
  for_order(shape.n, [&](auto grid) {
    using G = decltype(grid);
    const std::int64_t chunks = use == Use::solves ? (shape.nrhs + G::across - 1) / G::across : 1;
    simt::launch(context, tile_kernel<T, G, use>,
                 dim3(static_cast<unsigned>(shape.batch), static_cast<unsigned>(chunks)), dim3(G::threads),
                 sizeof(Desk<T, G, use>), static_cast<int>(shape.n), static_cast<int>(shape.nrhs), op.a.data,
                 op.b.data, op.x.data, op.pivots, op.info);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small_tiles
