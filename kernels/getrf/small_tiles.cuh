#pragma once
/// LU with partial pivoting, or L D L^T, of systems of order 17 to 128, in the registers of a block by tiles.
///
/// Thread (i, j) of a grid has rows R i to R i + R - 1 and of the columns every `across`-th from j on. In
/// step k the warp that has column k finds the pivot and puts the multipliers into shared memory, the threads
/// of the pivot's row put that there, and each thread subtracts an outer product: R + C numbers read for R C
/// products, where a thread with a whole row reads one for each. Rows are not exchanged. Registers cannot be
/// indexed, so a loop goes over the `across` steps whose columns have one place, and such loops follow each
/// other.
///
/// A right-hand side is one more column. For the inverse the columns of L^-1 take the place of those that are
/// finished, and U goes to shared memory. The way back goes by blocks of `across` steps: a thread solves the
/// block's triangle for a column, then all subtract the block's product. An inverse is thus as accurate as
/// LU with both substitutions.

#include <cmath>
#include <cstdint>
#include <cstdlib>
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

/// The bits of a size, which are ordered as the numbers are, NaN above all.
__device__ __forceinline__ unsigned long long bits_of(double size) {
  unsigned long long bits = 0;
  memcpy(&bits, &size, sizeof bits);
  return bits;
}

/// A thread's part of a system.
template <class T, class G, Use use, bool Symmetric>
class Tile {
  using D = Desk<T, G, use>;
  static constexpr int R = G::rows, C = G::columns, slots = D::slots;

 public:
  __device__ __forceinline__ Tile(D& desk, int n)
      : desk_(desk),
        n_(n),
        i_(static_cast<int>(threadIdx.x) % G::down),
        j_(static_cast<int>(threadIdx.x) / G::down) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) done_ |= row(r) < n ? 0 : 1 << r;
    for (int i = static_cast<int>(threadIdx.x); use == Use::factors && i < n; i += G::threads)
      desk_.place[i] = desk_.row_at[i] = i;
  }

  __device__ __forceinline__ void load(const T* a, Uplo uplo) {
    const bool lower = uplo == Uplo::lower;
    GAUSSWEEP_UNROLL
    for (int c = 0; c < C; ++c) {
      const int j = col(c);
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; ++r) {
        const int i = row(r);
        const bool swaps = Symmetric && lower != (i > j);
        a_[r][c] = i < n_ && j < n_ ? a[swaps ? j + i * n_ : i + j * n_] : T(0);
      }
    }
  }
  /// A column of B, of the right-hand sides that the grid takes at once.
  __device__ __forceinline__ void load_beside(const T* b, int count) {
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) a_[r][slots - 1] = row(r) < n_ && j_ < count ? b[row(r) + j_ * n_] : T(0);
  }

  /// All steps. Returns LAPACK's info, from 1.
  __device__ __forceinline__ int factor() {
    int info = 0;
    wait<G>();
    steps<0>(info);
    wait<G>();
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) step_[r] = row(r) < n_ ? desk_.step[row(r)] : G::order;
    return info;
  }

  /// Rows of U X = what is beside it, or in L's place, from the last to the first; put(step, column, x).
  template <class Put>
  __device__ __forceinline__ void substitute(Put&& put) {
    blocks<C - 1>(put);
  }

  /// L and U, or the Cholesky factor.
  __device__ __forceinline__ void store(T* a, Uplo uplo) {
    GAUSSWEEP_UNROLL
    for (int c = 0; c < C; ++c) {
      wait<G>();
      const int j = col(c);
      const T root = Symmetric && j < n_ ? std::sqrt(desk_.pivot[j]) : T(1);
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; ++r) {
        if (row(r) >= n_ || j >= n_) continue;
        T own = a_[r][c];
        if (Symmetric) own = row(r) == j ? root : own * root;
        if (Symmetric && uplo == Uplo::upper) {
          if (row(r) >= j) a[j + row(r) * n_] = own;
        } else {
          desk_.block[j_][step_[r]] = own;
        }
      }
      wait<G>();
      if (Symmetric && uplo == Uplo::upper) continue;
      const int lane = static_cast<int>(threadIdx.x) % 32;
      for (int w = static_cast<int>(threadIdx.x) / 32; w < G::across; w += G::threads / 32) {
        const int column = c * G::across + w;
        for (int i = lane; column < n_ && i < n_; i += 32) {
          if (!Symmetric || i >= column) a[i + column * n_] = desk_.block[w][i];
        }
      }
    }
  }
  /// As LAPACK's, but from 0.
  __device__ __forceinline__ void store_pivots(int* pivots) const {
    for (int k = static_cast<int>(threadIdx.x); k < n_; k += G::threads) pivots[k] = desk_.taken[k];
  }

 private:
  __device__ __forceinline__ int row(int r) const { return i_ * R + r; }
  __device__ __forceinline__ int col(int c) const { return c * G::across + j_; }
  __device__ __forceinline__ int place(int r) const { return G::place(row(r)); }
  __device__ __forceinline__ bool is_done(int r) const { return (done_ >> r & 1) != 0; }

  template <int c>
  __device__ __forceinline__ void steps(int& info) {
    GAUSSWEEP_ROLLED
    for (int owner = 0; owner < G::across; ++owner) {
      if (c * G::across + owner >= n_) return;
      take_step<c>(c * G::across + owner, owner, info);
    }
    if constexpr (c + 1 < C) steps<c + 1>(info);
  }

  /// The row that a warp with column k takes: the first of the largest size.
  template <int c>
  __device__ __forceinline__ int find_pivot(int owner, T& pivot) const {
    unsigned long long most = 0;
    int found = 0;
    T size = 0;
    pivot = 0;
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) {
      const unsigned long long own = is_done(r) ? 0 : bits_of(std::fabs(static_cast<double>(a_[r][c]))) + 1;
      if (own <= most) continue;
      most = own;
      found = row(r);
      pivot = a_[r][c];
      size = std::fabs(pivot);
    }
    const int lane = lane_of_largest(j_ == owner && most > 0, size) & 31;
    pivot = __shfl_sync(0xffffffffu, pivot, lane);
    return __shfl_sync(0xffffffffu, found, lane);
  }

  template <int c>
  __device__ __forceinline__ void take_step(int k, int owner, int& info) {
    T* const column = desk_.column[D::keeps ? k : k % 2];
    if (static_cast<int>(threadIdx.x) / 32 == owner * G::down / 32) {
      T pivot = 0;
      int taken = k;
      if (Symmetric) {
        GAUSSWEEP_UNROLL
        for (int r = 0; r < R; ++r) pivot = k % R == r ? a_[r][c] : pivot;
        pivot = __shfl_sync(0xffffffffu, pivot, (owner * G::down + k / R) % 32);
      } else {
        taken = find_pivot<c>(owner, pivot);
      }
      const T inverse = T(1) / pivot;
      const bool divides = inverse - inverse != T(0);
      if (j_ == owner) {
        GAUSSWEEP_UNROLL
        for (int r = 0; r < R; ++r) {
          const bool is_left = !is_done(r) && row(r) != taken;
          T factor = a_[r][c] * inverse;
          if (divides) factor = pivot == T(0) ? T(0) : a_[r][c] / pivot;  // at 0 all of the column is 0
          column[place(r)] = is_left ? factor : a_[r][c];
          if (use == Use::inverts) {
            a_[r][c] = row(r) == taken ? T(1) : T(0);
          } else if (is_left) {
            a_[r][c] = factor;
          }
        }
      }
      if (threadIdx.x % 32 == 0) {
        desk_.pivot[k] = pivot;
        desk_.inverse[k] = inverse;
        desk_.taken[k] = taken;
        desk_.step[taken] = k;
      }
    }
    if (!Symmetric) wait<G>();
    const int taken = Symmetric ? k : desk_.taken[k];
    if (i_ == taken / R) {
      publish<c, 0>(k, owner, taken % R);
    }
    wait<G>();
    const T pivot = desk_.pivot[k];
    if (info == 0 && (Symmetric ? !(pivot > T(0)) : pivot == T(0))) info = k + 1;
    if (use == Use::factors && !Symmetric && threadIdx.x == 0) exchange(k, taken);
    T factors[R];
    GAUSSWEEP_UNROLL
    for (int r = 0; r < R; ++r) factors[r] = is_done(r) ? T(0) : column[place(r)];
    GAUSSWEEP_UNROLL
    for (int e = use == Use::inverts ? 0 : c; e < slots; ++e) {
      const T own = desk_.row[k % 2][j_][e];
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; ++r) a_[r][e] = std::fma(-factors[r], own, a_[r][e]);
    }
  }
  /// Row r of the thread's goes to the desk.
  template <int c, int own>
  __device__ __forceinline__ void publish(int k, int owner, int r) {
    if (r == own) {
      done_ |= 1 << own;
      GAUSSWEEP_UNROLL
      for (int e = use == Use::inverts ? 0 : c; e < slots; ++e) {
        const bool finished = use != Use::inverts && e == c && j_ <= owner;
        desk_.row[k % 2][j_][e] = finished ? T(0) : a_[own][e];
      }
      keep_apart<own>();
    } else if constexpr (own + 1 < R) {
      publish<c, own + 1>(k, owner, r);
    }
  }
  /// From here on taken[k] is the place of the row, were rows exchanged at once.
  __device__ __forceinline__ void exchange(int k, int taken) {
    const int place = desk_.place[taken], other = desk_.row_at[k];
    desk_.place[other] = place;
    desk_.row_at[place] = other;
    desk_.taken[k] = place;
  }

  template <int c, class Put>
  __device__ __forceinline__ void blocks(Put& put) {
    const int first = c * G::across;
    if (first < n_) {
      wait<G>();
      T(*const upper)[G::order] = use == Use::solves ? desk_.upper : desk_.column + first;
      constexpr int from = use == Use::solves ? C : 0;
      GAUSSWEEP_UNROLL
      for (int r = 0; r < R; ++r) {
        if (use == Use::solves) upper[j_][place(r)] = a_[r][c];
        const int own = step_[r] - first;
        if (own < 0 || own >= G::across) continue;
        GAUSSWEEP_UNROLL
        for (int e = from; e < slots; ++e)
          desk_.block[own][use == Use::solves ? j_ : j_ * D::pitch + e] = a_[r][e];
      }
      wait<G>();
      solve_triangle(first, upper, put);
      wait<G>();
      const int last = min(G::across, n_ - first);
      GAUSSWEEP_ROLLED
      for (int k = 0; c > 0 && k < last; ++k) {
        T factors[R];
        GAUSSWEEP_UNROLL
        for (int r = 0; r < R; ++r) factors[r] = step_[r] < first ? upper[k][place(r)] : T(0);
        GAUSSWEEP_UNROLL
        for (int e = from; e < slots; ++e) {
          const T x = desk_.block[k][use == Use::solves ? j_ : j_ * D::pitch + e];
          GAUSSWEEP_UNROLL
          for (int r = 0; r < R; ++r) a_[r][e] = std::fma(-factors[r], x, a_[r][e]);
        }
      }
    }
    if constexpr (c > 0) blocks<c - 1>(put);
  }
  /// The unknowns of a block of steps, a thread a column.
  template <class Put>
  __device__ __forceinline__ void solve_triangle(int first, const T (*upper)[G::order], Put& put) {
    const auto t = static_cast<int>(threadIdx.x);
    constexpr bool inverts = use == Use::inverts;
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
  int done_ = 0;  ///< a bit a row: an earlier step took it
  int step_[R];
  T a_[R][slots];
};

struct Batch {
  int n, nrhs;
  Uplo uplo;
};

/// A block has a system; blockIdx.y says which right-hand sides.
template <class T, class G, Use use, bool Symmetric>
__global__ void __launch_bounds__(G::threads, G::blocks)
    tile_kernel(Batch batch, T* a, const T* b, T* x, int* pivots, int* info) {
  auto& desk = *simt::dynamic_shared<Desk<T, G, use>>();
  const std::int64_t s = blockIdx.x, n = batch.n, first = static_cast<std::int64_t>(blockIdx.y) * G::across;
  Tile<T, G, use, Symmetric> tile(desk, batch.n);
  T* const own = a + s * n * n;
  const std::int64_t of_b = (s * batch.nrhs + first) * n;
  const int count = min(G::across, batch.nrhs - static_cast<int>(first));
  tile.load(own, batch.uplo);
  if (use == Use::solves) tile.load_beside(b + of_b, count);
  const int found = tile.factor();
  if constexpr (use == Use::factors) {
    tile.store(own, batch.uplo);
    if (!Symmetric) tile.store_pivots(pivots + s * n);
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
  if (threadIdx.x == 0 && blockIdx.y == 0) info[s] = found;
}

/// Calls launch(Grid) for the smallest grid of order n. @pre n <= 128
template <class Launch>
void for_order(std::int64_t n, Launch&& launch) {
  if (const char* e = std::getenv("GAUSSWEEP_TILES"); e != nullptr && n > 48 && n <= 64) {
    if (e[0] == '1') return launch(Grid<8, 8, 8, 8, 4>());
    if (e[0] == '2') return launch(Grid<8, 8, 8, 8, 6>());
  }
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

template <class T, Use use, bool Symmetric>
void run(Context& context, Operands<T>& op) {
  const Shape& shape = op.shape;
  const Batch batch{static_cast<int>(shape.n), static_cast<int>(shape.nrhs), shape.uplo};
  for_order(shape.n, [&](auto grid) {
    using G = decltype(grid);
    const std::int64_t chunks = use == Use::solves ? (shape.nrhs + G::across - 1) / G::across : 1;
    simt::launch(context, tile_kernel<T, G, use, Symmetric>,
                 dim3(static_cast<unsigned>(shape.batch), static_cast<unsigned>(chunks)), dim3(G::threads),
                 sizeof(Desk<T, G, use>), batch, op.a.data, op.b.data, op.x.data, op.pivots, op.info);
  });
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND::small_tiles
