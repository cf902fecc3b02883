#pragma once
/// Products of tiles of 64 rows as a thread block does them: pieces of 16 columns go through shared memory,
/// some of them on their way while one is multiplied. All on tensor cores, floats as two TF32 numbers each.
///
/// A block has 256 threads. A result of Rows x Columns lies in its warps' registers, a part of 16 Strips x 32
/// each. Which rows and columns of it a lane has is the same in both precisions, g = lane / 4, t = lane % 4:
/// of each 16 x 16 square, rows 2g and 2g + 1 and columns 4t to 4t + 3, so that loads of two elements from
/// shared memory give what an instruction of the tensor cores wants, and global memory is met 16 bytes at a
/// time.

#include <cstdint>

#include "kernels/getrf/triangle_tiles.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int order = 64;  ///< of a tile
constexpr int threads = 256;
constexpr int depth = 16;  ///< columns of a piece
constexpr int pieces_of_a_tile = order / depth;

/// Elements between two columns of a piece of so many rows: lanes of a load meet in no bank.
template <class T>
constexpr int stride_of(int rows) {
  return rows + 32 / static_cast<int>(sizeof(T));
}

using lu::load_two;

/// Brings a line to the L2 cache.
__device__ __forceinline__ void prefetch([[maybe_unused]] const void* line) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#endif
}

#ifdef __CUDA_ARCH__
/// x is nearly first + second, both as TF32 has them (10 bits behind the leading one; of what is behind
/// second's tensor cores take no notice).
__device__ __forceinline__ void split_tf32(float x, unsigned& first, unsigned& second) {
  first = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  second = __float_as_uint(x - __uint_as_float(first));
}
__device__ __forceinline__ void multiply_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
#endif

/// D += A B, 16 x 8, with 8 columns of A, as in triangle_tiles.cuh: rows g and g + 8 of A in two columns, the
/// same two rows of B. Of two numbers' four products the smallest is left out.
using lu::multiply_16x8;
__device__ __forceinline__ void multiply_16x8(float (&d)[4], const float (&a)[4], const float (&b)[2]) {
#ifdef __CUDA_ARCH__
  unsigned a_first[4], a_second[4], b_first[2], b_second[2];
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 4; ++i) split_tf32(a[i], a_first[i], a_second[i]);
  GAUSSWEEP_UNROLL
  for (int i = 0; i < 2; ++i) split_tf32(b[i], b_first[i], b_second[i]);
  multiply_tf32(d, a_second, b_first);
  multiply_tf32(d, a_first, b_second);
  multiply_tf32(d, a_first, b_first);
#else
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int h = 0; h < 2; ++h) {
    for (int k = 0; k < 4; ++k) {
      float left[2], right[2];
      for (int q = 0; q < 2; ++q) {
        left[q] = __shfl_sync(0xffffffffu, a[2 * h + q], lane / 4 * 4 + k);
        right[q] = __shfl_sync(0xffffffffu, b[h], (lane % 4 * 2 + q) * 4 + k);
      }
      for (int e = 0; e < 4; ++e) d[e] = std::fma(left[e / 2], right[e % 2], d[e]);
    }
  }
#endif
}

/// Rows of one operand of a product: `given` of them are there; what would follow is read from 64 rows above.
template <class T>
struct Operand {
  const T* data;
  int given;
};

/// Whether columns of T that are `ld` apart can be copied 16 bytes at a time.
template <class T>
__host__ __device__ inline bool is_packed(const T* data, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % (16 / static_cast<int>(sizeof(T))) == 0;
}

/// C = A B^T for A of Rows rows and B of Columns rows.
template <class T, int Rows, int Columns, int Strips>
struct TileProduct {
  static constexpr int warps_down = Rows / (16 * Strips);
  static_assert(warps_down * (Columns / 32) * 32 == threads, "eight warps share the result");
  static constexpr int stride_a = stride_of<T>(Rows);
  static constexpr int stride_b = stride_of<T>(Columns);
  static constexpr int piece = depth * (stride_a + stride_b);  ///< elements

  T sum[Strips][2][2][4];  ///< [strip][square][column's parity][2 (row's parity) + column's half]

  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp_row() { return warp() % warps_down; }
  __device__ static int warp_column() { return warp() / warps_down; }

  /// Of floats, what `add` has summed up since `settle`: tensor cores cut off, not round, what they add to an
  /// accumulator, and a short sum has little that could be cut off.
  static constexpr bool has_part = sizeof(T) == sizeof(float);
  T part[has_part ? Strips : 1][2][2][4];

  __device__ __forceinline__ void clear() {
    for_pairs([](int, int, T& first, T& second) { first = second = 0; });
    for_parts([](T&, T& own) { own = 0; });
  }
  /// Adds to the sums what is not in them yet.
  __device__ __forceinline__ void settle() {
    for_parts([](T& all, T& own) {
      all += own;
      own = 0;
    });
  }
  /// Calls visit(row, column, sum of the row, of the next one) for all pairs that the lane has.
  template <class Visit>
  __device__ __forceinline__ void for_pairs(Visit visit) {
    const int g = lane() / 4, t = lane() % 4;
    GAUSSWEEP_UNROLL
    for (int s = 0; s < Strips; ++s) {
      GAUSSWEEP_UNROLL
      for (int square = 0; square < 2; ++square) {
        GAUSSWEEP_UNROLL
        for (int c = 0; c < 4; ++c) {
          visit((warp_row() * Strips + s) * 16 + 2 * g, warp_column() * 32 + square * 16 + 4 * t + c,
                sum[s][square][c % 2][c / 2], sum[s][square][c % 2][2 + c / 2]);
        }
      }
    }
  }

  /// The sums' registers, for something else.
  __device__ __forceinline__ T (&registers())[8][4] {
    static_assert(sizeof(sum) >= 32 * sizeof(T));
    return reinterpret_cast<T(&)[8][4]>(sum);
  }
  template <class Visit>
  __device__ __forceinline__ void for_parts(Visit visit) {
    if constexpr (has_part) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < Strips; ++s) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 16; ++e) visit(sum[s][e / 8][e / 4 % 2][e % 4], part[s][e / 8][e / 4 % 2][e % 4]);
      }
    }
  }

  /// Copies pieces of both operands to shared memory, one after another. A thread has the same rows of each
  /// tile of 64.
  class Copies {
   public:
    __device__ __forceinline__ Copies(const Operand<T>& a, const Operand<T>& b, std::int64_t ld, bool packed)
        : a_(a.data + row() + column() * ld),
          b_(b.data + row() + column() * ld),
          ld_(ld),
          a_high_(a.given > order ? order : 0),
          b_high_(b.given > order ? order : 0),
          packed_(packed) {}
    /// Starts to copy the next piece.
    __device__ __forceinline__ void start(T* to) {
      GAUSSWEEP_UNROLL
      for (int c = 0; c < depth; c += columns_at_once) {
        T* const left = to + (column() + c) * stride_a + row();
        T* const right = to + depth * stride_a + (column() + c) * stride_b + row();
        copy(left, a_ + c * ld_);
        if (Rows > order) copy(left + order, a_ + c * ld_ + a_high_);
        copy(right, b_ + c * ld_);
        if (Columns > order) copy(right + order, b_ + c * ld_ + b_high_);
      }
      simt::end_copy_group();
      a_ += depth * ld_;
      b_ += depth * ld_;
    }

   private:
    static constexpr int pack = 16 / static_cast<int>(sizeof(T));
    static constexpr int columns_at_once = threads / (order / pack);
    __device__ static int row() { return static_cast<int>(threadIdx.x) % (order / pack) * pack; }
    __device__ static int column() { return static_cast<int>(threadIdx.x) / (order / pack); }
    __device__ __forceinline__ void copy(T* to, const T* from) const {
      if (packed_) {
        simt::copy_pack(to, from);
      } else {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < pack; ++e) to[e] = from[e];
      }
    }
    const T* a_;
    const T* b_;
    std::int64_t ld_;
    int a_high_, b_high_;
    bool packed_;
  };

  /// Adds the product of `Depth` columns in shared memory: rows of A and B as far apart as the strides say.
  /// meanwhile() is done beside the first ones.
  template <int StrideA, int StrideB, int Depth, class Meanwhile>
  __device__ __forceinline__ void add(const T* a, const T* b, int row, int column, Meanwhile meanwhile) {
    const int g = lane() / 4, t = lane() % 4;
    const T* const own_a = a + row + 2 * g;
    if constexpr (sizeof(T) == sizeof(double)) {
      // The next four columns are on their way to registers while four are multiplied.
      const T* const left = own_a + t * StrideA;
      const T* const right = b + column + 2 * g + t * StrideB;
      double left_of[2][Strips][2], right_of[2][2][2];
      const auto load = [&](int k) {
        GAUSSWEEP_UNROLL
        for (int s = 0; s < Strips; ++s) {
          double(&pair)[2] = left_of[k / 4 % 2][s];
          lu::load_two(left + k * StrideA + s * 16, pair[0], pair[1]);
        }
        GAUSSWEEP_UNROLL
        for (int square = 0; square < 2; ++square) {
          double(&pair)[2] = right_of[k / 4 % 2][square];
          lu::load_two(right + k * StrideB + square * 16, pair[0], pair[1]);
        }
      };
      load(0);
      GAUSSWEEP_UNROLL
      for (int k = 0; k < Depth; k += 4) {
        if (k + 4 < Depth) load(k + 4);
        GAUSSWEEP_UNROLL
        for (int s = 0; s < Strips; ++s) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) {
            lu::multiply_16x8(sum[s][e / 2][e % 2], left_of[k / 4 % 2][s], right_of[k / 4 % 2][e / 2][e % 2]);
          }
        }
        if (k == 0) meanwhile();
      }
    } else {
#ifdef __CUDACC__
      GAUSSWEEP_UNROLL
      for (int k = 0; k < Depth; k += 8) {
        float left_of[Strips][4], right_of[4][2];
        GAUSSWEEP_UNROLL
        for (int h = 0; h < 2; ++h) {
          const int inner = k + 4 * h + t;
          GAUSSWEEP_UNROLL
          for (int s = 0; s < Strips; ++s) {
            load_two(own_a + inner * StrideA + s * 16, left_of[s][2 * h], left_of[s][2 * h + 1]);
          }
          GAUSSWEEP_UNROLL
          for (int square = 0; square < 2; ++square) {
            load_two(b + column + 2 * g + inner * StrideB + square * 16, right_of[2 * square][h],
                     right_of[2 * square + 1][h]);
          }
        }
        GAUSSWEEP_UNROLL
        for (int s = 0; s < Strips; ++s) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) multiply_16x8(part[s][e / 2][e % 2], left_of[s], right_of[e]);
        }
        if (k == 0) meanwhile();
      }
#else
      // Shuffles would take most of the time of an emulated factorisation.
      meanwhile();
      for (int k = 0; k < Depth; ++k) {
        for (int s = 0; s < Strips; ++s) {
          for (int e = 0; e < 16; ++e) {
            const int c = e % 4, square = e / 4 % 2, r = e / 8;
            T& value = sum[s][square][c % 2][2 * r + c / 2];
            value = std::fma(own_a[k * StrideA + s * 16 + r],
                             b[column + 4 * t + k * StrideB + square * 16 + c], value);
          }
        }
      }
#endif
    }
  }

  /// Adds the product of `tiles` tiles of columns. `memory`: `Pieces` pieces of shared
  /// memory. `gate`: which tiles may be read by now. All threads of the block know the same of it:
  ///   bool is_open(tile)      what is known
  ///   void wait_for(tile)     until it is open; a barrier of the block
  ///   void look(p, useful)    once for each piece p, whether more is open if that is of use; a barrier
  /// Ends with a barrier of the block.
  template <int Pieces, class Gate>
  __device__ __forceinline__ void add_tiles(T* memory, const Operand<T>& a, const Operand<T>& b,
                                            std::int64_t ld, bool packed, int tiles, Gate& gate) {
    const int count = tiles * pieces_of_a_tile;
    int started = 0;
    Copies copies(a, b, ld, packed);
    const auto start_as_known = [&](int end) {
      while (started < count && started < end && gate.is_open(started / pieces_of_a_tile)) {
        copies.start(memory + started % Pieces * piece);
        ++started;
      }
    };
    start_as_known(Pieces - 1);
    GAUSSWEEP_ROLLED
    for (int p = 0; p < count; ++p) {
      if (started == p) {
        gate.wait_for(p / pieces_of_a_tile);
        start_as_known(p + Pieces - 1);
      }
      const int later = started - p - 1;
      if (later == 0) {
        simt::await_copy_groups<0>();
      } else if (later == 1) {
        simt::await_copy_groups<1>();
      } else {
        simt::await_copy_groups<2>();
      }
      gate.look(p, started < count);  // and a barrier: all have the piece
      const T* const from = memory + p % Pieces * piece;
      add<stride_a, stride_b, depth>(from, from + depth * stride_a, warp_row() * 16 * Strips,
                                     warp_column() * 32, [&] { start_as_known(p + Pieces); });
      if (p % pieces_of_a_tile == pieces_of_a_tile - 1) settle();
    }
    __syncthreads();
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
