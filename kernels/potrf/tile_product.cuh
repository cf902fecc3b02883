#pragma once
/// Products C = A B^T of 64 x 64 tiles by a thread block of 256 threads, for tile_chain.cuh. Slices of the k
/// range with 128 bytes per row (16 columns in double, 32 in float) are staged in shared memory. While one
/// slice is multiplied, copies of later slices are in flight. All products run on tensor cores; a float is
/// split into two TF32 numbers.
///
/// C has Rows x Columns elements in registers. Each warp has a warp tile of SquaresDown x 2 squares of 16 x
/// 16. Let g = lane / 4 and t = lane % 4. In each square, a lane has rows 2g and 2g + 1 and columns 4t to 4t
/// + 3, in double and in float. For this, rows 2g and 2g + 1 of A take the places of the tensor-core
/// instruction's rows g and g + 8; rows of B are permuted, too. One load of two adjacent elements from shared
/// memory then gives two operands of an instruction. Global memory is accessed 16 bytes at a time.

#include <cstdint>

#include "kernels/potrf/tile_memory.cuh"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

constexpr int tile_order = 64;  ///< rows and columns of a tile
constexpr int threads = 256;

/// Returns the leading dimension of a k slice with `rows` rows, padded by 32 bytes to avoid bank conflicts.
template <class T>
constexpr int stride_of(int rows) {
  return rows + 32 / static_cast<int>(sizeof(T));
}

#ifdef __CUDA_ARCH__
/// Splits x into first + second, two TF32 numbers with 10 fraction bits each. Tensor cores ignore further
/// bits of `second`.
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

/// Computes D += A B in float by TF32 products, where D has 16 x 8 elements and A has 8 columns. With g and t
/// as above, a lane holds rows g and g + 8 of A in columns t and t + 4. It holds rows t and t + 4 of column g
/// of B. D has the layout of the overload for double (triangle_tiles.cuh). Omits the product of both second
/// parts, which is the smallest of the four TF32 products.
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

/// An operand of a product, column-major. Row r of the operand is read from row r % stored_rows of `data`. A
/// single tile can therefore be an operand of 128 rows.
template <class T>
struct Operand {
  const T* data;
  int stored_rows;
};

/// Returns true if columns of T with leading dimension `ld` can be copied 16 bytes at a time.
template <class T>
bool is_packed(const T* data, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % (16 / static_cast<int>(sizeof(T))) == 0;
}

/// The product C = A B^T, for A with Rows rows and B with Columns rows. A *k slice* is the part of both
/// operands in `depth` adjacent columns.
/// @tparam SquaresDown 16 x 16 squares in a column of a warp tile
template <class T, int Rows, int Columns, int SquaresDown>
struct TileProduct {
  static constexpr int rows = Rows, columns = Columns;
  static constexpr int depth = 128 / static_cast<int>(sizeof(T));  ///< columns of a k slice
  static constexpr int slices_per_tile = tile_order / depth;
  static constexpr int warps_down = Rows / (16 * SquaresDown);
  static_assert(warps_down * (Columns / 32) * 32 == threads, "eight warps share the result");
  static constexpr int stride_a = stride_of<T>(Rows);
  static constexpr int stride_b = stride_of<T>(Columns);
  static constexpr int slice_elements = depth * (stride_a + stride_b);  ///< for both operands

  /// The lane's sums: element (2g + r, 4t + c) of square (s, square) is sum[s][square][c % 2][2 r + c / 2].
  T sum[SquaresDown][2][2][4];

  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp_row() { return warp() % warps_down; }
  __device__ static int warp_column() { return warp() / warps_down; }

  /// In float, `partial` has the sums of the products since the last add_partial_sums(). Tensor cores
  /// truncate when they add to an accumulator. An accumulator of fewer products therefore loses less.
  static constexpr bool has_partial = sizeof(T) == sizeof(float);
  T partial[has_partial ? SquaresDown : 1][2][2][4];

  __device__ __forceinline__ void clear() {
    for_pairs([](int, int, T& first, T& second) { first = second = 0; });
    for_partial_sums([](T&, T& partial) { partial = 0; });
  }
  __device__ __forceinline__ void add_partial_sums() {
    for_partial_sums([](T& sum, T& partial) {
      sum += partial;
      partial = 0;
    });
  }
  static constexpr int pairs = 8 * SquaresDown;  ///< pairs of sums per lane; a pair is in rows 2g and 2g + 1
  /// Calls visit(row, column, sum, sum in the next row) for one of the lane's pairs.
  template <class Visit>
  __device__ __forceinline__ void visit_pair(int pair, Visit visit) {
    const int s = pair % SquaresDown, c = pair / SquaresDown % 4, square = pair / SquaresDown / 4;
    visit((warp_row() * SquaresDown + s) * 16 + lane() / 4 * 2,
          warp_column() * 32 + square * 16 + lane() % 4 * 4 + c, sum[s][square][c % 2][c / 2],
          sum[s][square][c % 2][2 + c / 2]);
  }
  /// Calls visit like visit_pair for all pairs of the lane.
  template <class Visit>
  __device__ __forceinline__ void for_pairs(Visit visit) {
    GAUSSWEEP_UNROLL
    for (int pair = 0; pair < pairs; ++pair) visit_pair(pair, visit);
  }

  /// Returns the registers of the sums as an 8 x 4 array, so that RowSolver (tile_factor.cuh) can reuse them.
  __device__ __forceinline__ T (&registers())[8][4] {
    static_assert(sizeof(sum) >= 32 * sizeof(T));
    return reinterpret_cast<T(&)[8][4]>(sum);
  }
  /// Calls visit(sum, partial sum) for all sums of the lane.
  template <class Visit>
  __device__ __forceinline__ void for_partial_sums(Visit visit) {
    if constexpr (has_partial) {
      GAUSSWEEP_UNROLL
      for (int s = 0; s < SquaresDown; ++s) {
        GAUSSWEEP_UNROLL
        for (int e = 0; e < 16; ++e)
          visit(sum[s][e / 8][e / 4 % 2][e % 4], partial[s][e / 8][e / 4 % 2][e % 4]);
      }
    }
  }

  /// Copies k slices of both operands to shared memory, one after another, 16 bytes at a time.
  class SliceCopies {
   public:
    __device__ __forceinline__ SliceCopies(const Operand<T>& a, const Operand<T>& b, std::int64_t ld)
        : a_(a.data + row<Rows>() % a.stored_rows + column<Rows>() * ld),
          b_(b.data + row<Columns>() % b.stored_rows + column<Columns>() * ld),
          ld_(ld) {}
    /// Starts to copy the next slice.
    __device__ __forceinline__ void start(T* to) {
      GAUSSWEEP_UNROLL
      for (int i = 0; i < count; ++i) {
        simt::copy_16_bytes(to + offset(i), from(i));
      }
      commit();
    }
    static constexpr int pack = 16 / static_cast<int>(sizeof(T));  ///< elements per copy
    static constexpr int copies_per_thread_of_a = Rows * depth / pack / threads;
    static constexpr int count = (Rows + Columns) * depth / pack / threads;  ///< copies per thread of A and B
    /// Instead of start(), the caller may start copies 0 to count - 1 itself and then call commit(). The
    /// source of copy i is from(i), its destination is element offset(i) of the slice.
    __device__ __forceinline__ const T* from(int i) const {
      return i < copies_per_thread_of_a ? a_ + i * step<Rows> * ld_
                                        : b_ + (i - copies_per_thread_of_a) * step<Columns> * ld_;
    }
    __device__ __forceinline__ static int offset(int i) {
      return i < copies_per_thread_of_a
                 ? (column<Rows>() + i * step<Rows>)*stride_a + row<Rows>()
                 : depth * stride_a +
                       (column<Columns>() + (i - copies_per_thread_of_a) * step<Columns>)*stride_b +
                       row<Columns>();
    }
    __device__ __forceinline__ void commit() {
      simt::end_copy_group();
      a_ += depth * ld_;
      b_ += depth * ld_;
    }

   private:
    /// The number of columns of `Lines` rows that the thread block copies at a time.
    template <int Lines>
    static constexpr int step = (threads * pack) / Lines;
    /// Return the row and the column of the thread's first copy in a slice with `Lines` rows.
    template <int Lines>
    __device__ static int row() {
      return static_cast<int>(threadIdx.x) % (Lines / pack) * pack;
    }
    template <int Lines>
    __device__ static int column() {
      return static_cast<int>(threadIdx.x) / (Lines / pack);
    }
    const T* a_;
    const T* b_;
    std::int64_t ld_;
  };

  /// Adds the product of `Depth` columns of A and B in shared memory, with leading dimensions StrideA and
  /// StrideB. `row` and `column` are the warp tile's first rows in A and in B. Calls overlapped_work() after
  /// the first multiplications, so that its work overlaps with the remaining ones.
  template <int StrideA, int StrideB, int Depth, class OverlappedWork>
  __device__ __forceinline__ void add(const T* a, const T* b, int row, int column,
                                      OverlappedWork overlapped_work) {
    const int g = lane() / 4, t = lane() % 4;
    const T* const a_rows = a + row + 2 * g;
    if constexpr (sizeof(T) == sizeof(double)) {
      // Double buffering: the next four columns are loaded to registers while four are multiplied.
      const T* const left = a_rows + t * StrideA;
      const T* const right = b + column + 2 * g + t * StrideB;
      double left_of[2][SquaresDown][2], right_of[2][2][2];
      const auto load = [&](int k) {
        GAUSSWEEP_UNROLL
        for (int s = 0; s < SquaresDown; ++s) {
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
        for (int s = 0; s < SquaresDown; ++s) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) {
            lu::multiply_16x8(sum[s][e / 2][e % 2], left_of[k / 4 % 2][s], right_of[k / 4 % 2][e / 2][e % 2]);
          }
        }
        if (k == 0) overlapped_work();
      }
    } else {
#ifdef __CUDACC__
      GAUSSWEEP_UNROLL
      for (int k = 0; k < Depth; k += 8) {
        float left_of[SquaresDown][4], right_of[4][2];
        GAUSSWEEP_UNROLL
        for (int h = 0; h < 2; ++h) {
          const int own_column = k + 4 * h + t;
          GAUSSWEEP_UNROLL
          for (int s = 0; s < SquaresDown; ++s) {
            load_two(a_rows + own_column * StrideA + s * 16, left_of[s][2 * h], left_of[s][2 * h + 1]);
          }
          GAUSSWEEP_UNROLL
          for (int square = 0; square < 2; ++square) {
            load_two(b + column + 2 * g + own_column * StrideB + square * 16, right_of[2 * square][h],
                     right_of[2 * square + 1][h]);
          }
        }
        GAUSSWEEP_UNROLL
        for (int s = 0; s < SquaresDown; ++s) {
          GAUSSWEEP_UNROLL
          for (int e = 0; e < 4; ++e) multiply_16x8(partial[s][e / 2][e % 2], left_of[s], right_of[e]);
        }
        if (k == 0) overlapped_work();
      }
#else
      // The CPU build needs no tensor-core layout, whose shuffles would take most of its time.
      overlapped_work();
      for (int k = 0; k < Depth; ++k) {
        for (int s = 0; s < SquaresDown; ++s) {
          for (int e = 0; e < 16; ++e) {
            const int c = e % 4, square = e / 4 % 2, r = e / 8;
            T& value = sum[s][square][c % 2][2 * r + c / 2];
            value = std::fma(a_rows[k * StrideA + s * 16 + r],
                             b[column + 4 * t + k * StrideB + square * 16 + c], value);
          }
        }
      }
#endif
    }
  }

#ifdef __CUDACC__
  /// The software pipeline in double: the double-buffered fragments in registers, and the address of the k
  /// slices in shared memory. The fragments of the next products are loaded during the current ones, also
  /// from one slice to the next.
  struct Pipeline {
    unsigned begin;  ///< shared-memory address of stage 0
    int slot = 0;    ///< the stage (slice buffer) of the next slice to multiply
    double left[2][SquaresDown][2], right[2][2];

    __device__ __forceinline__ explicit Pipeline(const T* memory)
        : begin(static_cast<unsigned>(__cvta_generic_to_shared(memory))) {
      load_left(/*buffer=*/0, begin, /*step=*/0);
      load_right(/*buffer=*/0, begin, /*step=*/0, /*square=*/0);
    }
    /// Load the lane's fragments of A and B for step `step` (four columns) of the slice at `from` to
    /// buffer `buffer`.
    __device__ __forceinline__ void load_left(int buffer, unsigned from, int step) {
      const unsigned lane_offset =
          (lane() % 4 * stride_a + warp_row() * 16 * SquaresDown + lane() / 4 * 2) * element_bytes;
      GAUSSWEEP_UNROLL
      for (int s = 0; s < SquaresDown; ++s) {
        load_in_order(from + lane_offset + (4 * step * stride_a + s * 16) * element_bytes, left[buffer][s]);
      }
    }
    __device__ __forceinline__ void load_right(int buffer, unsigned from, int step, int square) {
      const unsigned lane_offset =
          (depth * stride_a + lane() % 4 * stride_b + warp_column() * 32 + lane() / 4 * 2) * element_bytes;
      load_in_order(from + lane_offset + (4 * step * stride_b + square * 16) * element_bytes, right[buffer]);
    }
  };
  static constexpr int element_bytes = static_cast<int>(sizeof(T));

  /// Multiplies the next slice, interleaved with the start of copies of a later slice.
  /// @param copies_next true if there is a later slice to copy
  /// @param on_copied on_copied() is called after all copies have been started
  /// @param await_next await_next() waits for the next slice and returns true if there is one
  template <int Stages, class OnCopied, class Await>
  __device__ __forceinline__ void multiply_slice(Pipeline& pipeline, SliceCopies& copies, bool copies_next,
                                                 OnCopied on_copied, Await await_next) {
    constexpr int steps = depth / 4;
    // One copy is started per this number of products, so that all have been started before on_copied().
    constexpr int products_per_copy = (2 * steps - 1) * 2 * SquaresDown / SliceCopies::count;
    const unsigned current = pipeline.begin + pipeline.slot * (slice_elements * element_bytes);
    const unsigned previous = pipeline.begin + (pipeline.slot == 0 ? Stages - 1 : pipeline.slot - 1) *
                                                   (slice_elements * element_bytes);
    pipeline.slot = pipeline.slot == Stages - 1 ? 0 : pipeline.slot + 1;
    const unsigned next = pipeline.begin + pipeline.slot * (slice_elements * element_bytes);
    GAUSSWEEP_UNROLL
    for (int step = 0; step < steps; ++step) {
      GAUSSWEEP_UNROLL
      for (int square = 0; square < 2; ++square) {
        if (square == 0 && step < steps - 1) pipeline.load_left((step + 1) % 2, current, step + 1);
        if (square == 0 || step < steps - 1) {
          pipeline.load_right(1 - square, current, step + square, 1 - square);
        } else {
          on_copied();
          if (await_next()) {
            pipeline.load_left(0, next, 0);
            pipeline.load_right(0, next, 0, 0);
          }
        }
        GAUSSWEEP_UNROLL
        for (int i = 0; i < 2 * SquaresDown; ++i) {
          const int s = i % SquaresDown, half = i / SquaresDown;
          lu::multiply_16x8(sum[s][square][half], pipeline.left[step % 2][s], pipeline.right[square][half]);
          const int product_number = (2 * step + square) * 2 * SquaresDown + i;
          GAUSSWEEP_UNROLL
          for (int k = 0; k < SliceCopies::count; ++k) {
            if (product_number != k * products_per_copy + 1) continue;
            copy_16_bytes_if(copies_next, previous + SliceCopies::offset(k) * element_bytes, copies.from(k));
          }
        }
      }
    }
  }
#endif

  /// Adds the product of A and B in `tiles` columns of tiles. `memory` has `Stages` k slices of shared
  /// memory. Calls on_first_slice() when the first slice has arrived. Ends with a barrier of the thread
  /// block.
  ///
  /// `ready_tiles` (TaskExecutor::ReadyTiles) tracks which tiles may be read. All threads of the thread block
  /// get the same answers:
  ///   is_ready(column)       returns true if tile column `column` of both operands may be read
  ///   all_are_ready()        returns true if all columns may be read
  ///   wait_for(column)      waits until the column may be read; has a barrier of the thread block
  ///   poll_for_slice(p, polls)   is called once per slice p; polls if `polls`; has a barrier of the thread
  ///   block
  template <int Stages, class ReadyTiles, class OnFirstSlice>
  __device__ __forceinline__ void add_tiles(T* memory, const Operand<T>& a, const Operand<T>& b,
                                            std::int64_t ld, int tiles, ReadyTiles& ready_tiles,
                                            OnFirstSlice on_first_slice) {
    const int count = tiles * slices_per_tile;
    int started = 0;  // number of slices whose copies have been started
    SliceCopies copies(a, b, ld);
    const auto can_start = [&](int end) {
      return started < count && started < end && ready_tiles.is_ready(started / slices_per_tile);
    };
    // Waits until slice p has arrived for all threads, and all threads have read slice p - 2. Starts copies
    // of later slices up to p + Stages - 2.
    const auto await_slice = [&](int p) {
      if (started == p) ready_tiles.wait_for(p / slices_per_tile);
      while (can_start(p + Stages - 1)) {
        copies.start(memory + started % Stages * slice_elements);
        ++started;
      }
      const int later_copies = started - p - 1;  // these may still be in flight
      if (later_copies == 0) {
        simt::await_copy_groups<0>();
      } else if (later_copies == 1) {
        simt::await_copy_groups<1>();
      } else {
        simt::await_copy_groups<2>();
      }
      ready_tiles.poll_for_slice(p, started < count);
    };
    if (count == 0) return __syncthreads();
    await_slice(0);
    on_first_slice();
#ifdef __CUDACC__
    constexpr bool pipelined = sizeof(T) == sizeof(double);
    if constexpr (pipelined) {
      Pipeline pipeline(memory);
      int p = 0;
      // This loop runs until all tiles may be read. The next loop does not poll, which saves a tenth of the
      // products' time.
      GAUSSWEEP_ROLLED
      for (; p < count && !(started == p + Stages - 1 && ready_tiles.all_are_ready()); ++p) {
        const bool copies_next = started == p + Stages - 1 && can_start(p + Stages);
        const auto on_copied = [&] {
          if (!copies_next) return;
          copies.commit();
          ++started;
        };
        multiply_slice<Stages>(pipeline, copies, copies_next, on_copied, [&] {
          if (p + 1 == count) return false;
          await_slice(p + 1);
          return true;
        });
      }
      GAUSSWEEP_ROLLED
      for (; p < count; ++p) {
        multiply_slice<Stages>(
            pipeline, copies, p + Stages - 1 < count, [&] { copies.commit(); },
            [&] {
              if (p + 1 == count) return false;
              simt::await_copy_groups<Stages - 2>();
              __syncthreads();
              return true;
            });
      }
      simt::await_copy_groups<0>();
    }
#else
    constexpr bool pipelined = false;
#endif
    if constexpr (!pipelined) {
      GAUSSWEEP_ROLLED
      for (int p = 0; p < count; ++p) {
        const T* const slice = memory + p % Stages * slice_elements;
        add<stride_a, stride_b, depth>(slice, slice + depth * stride_a, warp_row() * 16 * SquaresDown,
                                       warp_column() * 32, [&] {
                                         if (!can_start(p + Stages)) return;
                                         copies.start(memory + started % Stages * slice_elements);
                                         ++started;
                                       });
        if (p % slices_per_tile == slices_per_tile - 1) add_partial_sums();
        if (p + 1 < count) await_slice(p + 1);
      }
    }
    __syncthreads();
  }
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
