#pragma once
/// Trailing updates of an LU factorisation, C -= A B in double, on tensor cores, for inner sizes too small
/// for a product that reads C, multiplies and writes C one after the other.
///
/// *Algorithm.* Persistent blocks take tiles of C from a counter in global memory. One thread of a block, the
/// loader, brings slabs of 16 columns of A and 16 rows of B into a ring in shared memory (the bulk tensor
/// copy engine, mbarriers), runs ahead into the next tile, and has that tile of C brought to L2 meanwhile.
/// Groups of four warps, one on each quarter of the multiprocessor, hold their part of the tile in registers:
/// -C is where the sum begins, 0 minus the sum is what is stored. A group keeps `lead` slabs ahead of the
/// next one, so that one exchanges its part of C while the others multiply.
///
/// *Cost.* 2 m n k operations; C is read and written once; A is read once a group of tile columns.
/// *Workspace.* Two words, `UpdateCounters`.
/// *Order of summation.* Element by element in the order of k, by one warp, whichever multiprocessor runs it:
/// results have the same bits.
/// *Fails* with a trap if a copy never arrives: no wait is unbounded. Needs compute capability 9.0.
///
/// Fragments of mma.m16n8k8 in double, g = lane / 4, t = lane % 4 (PTX ISA; k16 is two of these side by
/// side):
///
///     a0 (g, t)  a1 (g + 8, t)  a2 (g, t + 4)  a3 (g + 8, t + 4)      k16: a4 … a7 the same for k + 8
///     b0 (t, g)  b1 (t + 4, g)                                        k16: b2, b3 the same for k + 8
///     c0 (g, 2t) c1 (g, 2t + 1) c2 (g + 8, 2t) c3 (g + 8, 2t + 1)
///
/// Which row, column or k of the matrices is which of the instruction's is free, as long as both operands
/// agree. Here, of 16 rows of C, 8 columns and 8 of k:
///
///     row g → 2g, row g + 8 → 2g + 1:           a0 a1, a2 a3 and c0 c2, c1 c3 are neighbours in memory
///     k t → 2t, k t + 4 → 2t + 1:               b0 b1 are neighbours in memory
///     column g → g / 2 + 4 (g % 2):             c0, c2 in column t, c1, c3 in column t + 4
///
/// so that all loads and stores are of 16 bytes: 8 lanes cover 128 bytes of a column of C.
///
/// Shared memory, a slab: A in boxes of 16 rows, 16 columns of 128 bytes each; B in columns of 128 bytes (16
/// k). The copy engine swizzles: of line l (128 bytes), chunk c (16 bytes) lies at place c ^ (l % 8). A load
/// of 16 bytes takes the eight lanes 8q … 8q + 7 at a time: g = 2q and 2q + 1, t = 0 … 3.
///
///     A, a0 a1: line 2t + e (e = 0, or 1 for a2 a3), chunk g: places (2q ^ e ^ 2t) and (2q ^ 1 ^ e ^ 2t),
///               t = 0 … 3: four even and four odd ones, all eight different
///     B, b0 b1: line q (g even) or q + 4 (g odd), chunk t + 4s: places (t ^ q) ^ 4s and (t ^ q) ^ 4s ^ 4:
///               four below 4 and four from 4 on, all eight different
///
/// so no two lanes meet in a bank.

#include <stdexcept>
#include <string>

#include "tests/benchmark/trailing_update/tiles.cuh"

namespace gaussweep::cuda::lu {

/// C -= A B for what is left of a job; see the top of this file. Several launches with the same counters
/// share the job.
///
/// Blocks on reserved multiprocessors end without a tile. While the multiprocessors that are not reserved
/// are still busy with something else, all blocks of the grid could end that way, one after the other, and
/// nobody would be left to work on those when they are free. Therefore a block on a reserved one waits, at
/// most `patience`, until as many blocks work as are wanted, or no tile is left: it keeps others from coming
/// the same way. Where all can start at once, that takes a microsecond or two. Beyond its patience a block
/// ends in any case; the grid has some spare ones for that.
/// @pre blockDim.x == Shape::threads, Shape::shared_bytes of dynamic shared memory
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    update_trailing(const __grid_constant__ UpdateJob job) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char update_shared[];
  const unsigned id = detail::multiprocessor();
  if (job.reserved.has(id)) {
    detail::make_way(job);
    return;
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const bool loads = threadIdx.x == 32 * Shape::warps;
  unsigned tile = 0;
  if (loads) {
    detail::prefetch_map(&job.product[0].a);
    detail::prefetch_map(&job.product[0].b);
    if (job.patience != 0) atomicAdd(&job.counters->started, 1u);
    tile = atomicAdd(&job.counters->next_tile, 1u);
  }
  const unsigned begin = detail::shared_address(update_shared);
  const detail::UpdateMemory<Shape> memory{(begin + 1023) / 1024 * 1024};
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::stages; ++i) {
      detail::start_barrier(memory.full(i), 1);
      detail::start_barrier(memory.empty(i), Shape::warps);
    }
    for (int i = 0; i < Shape::announced; ++i) detail::start_barrier(memory.announced(i), 1);
    for (int i = 0; i < Shape::groups; ++i) detail::start_barrier(memory.led(i), 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warp >= Shape::warps) {
    detail::give_up_registers<Shape::registers_of_loader>();
    if (loads) detail::load_slabs<Shape>(job, tile, memory);
  } else {
    detail::take_registers<Shape::registers_of_others>();
    detail::multiply_slabs<Shape>(job, warp, memory);
  }
#else
  __trap();  // its launches ask for compute capability 9.0
#endif
}

using EncodeTensorMap = decltype(&cuTensorMapEncodeTiled);

/// The driver's function, found through the runtime, so that nothing is linked with the driver.
/// @throws std::runtime_error where there is none
inline EncodeTensorMap tensor_map_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess || function == nullptr) {
    throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
  }
  return reinterpret_cast<EncodeTensorMap>(function);
}

namespace detail {

/// A matrix by columns, `rows` x `columns`, from which boxes of `box_rows` x `box_columns` are taken; what a
/// box has beyond it is 0.
inline CUtensorMap tensor_map(EncodeTensorMap encode, const double* data, std::int64_t ld, int rows,
                              int columns, int box_rows, int box_columns, bool swizzled) {
  CUtensorMap map{};
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(rows), static_cast<cuuint64_t>(columns)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(ld) * 8};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_rows), static_cast<cuuint32_t>(box_columns)};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, const_cast<double*>(data), sizes,
                                 strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled: error " + std::to_string(static_cast<int>(result)));
  }
  return map;
}

}  // namespace detail

/// Whether `update_trailing` can do this product.
inline bool can_update(const double* a, std::int64_t lda, const double* b, std::int64_t ldb, const double* c,
                       std::int64_t ldc, int m, int n, int k) {
  const auto aligned = [](const double* p, std::int64_t ld) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && ld % 2 == 0;
  };
  return m > 0 && n > 0 && k > 0 && k % 16 == 0 && lda >= m && ldb >= k && ldc >= m && ldc < 1 << 28 &&
         aligned(a, lda) && aligned(b, ldb) && aligned(c, ldc);
}

/// @throws std::invalid_argument unless can_update
template <class Shape>
UpdateProduct update_product(EncodeTensorMap encode, const double* a, std::int64_t lda, const double* b,
                             std::int64_t ldb, double* c, std::int64_t ldc, int m, int n, int k) {
  if (!can_update(a, lda, b, ldb, c, ldc, m, n, k)) {
    throw std::invalid_argument(
        "update_product: wants even leading dimensions, 16-byte aligned operands and "
        "an inner size that is a multiple of 16");
  }
  UpdateProduct product{};
  product.a = detail::tensor_map(encode, a, lda, m, k, 16, Shape::slab, true);
  product.b = detail::tensor_map(encode, b, ldb, k, n, Shape::slab, Shape::columns, true);
  product.c =
      detail::tensor_map(encode, c, ldc, m, n, Shape::rows, Shape::columns / Shape::prefetch_parts, false);
  product.c_data = c;
  product.ldc = static_cast<int>(ldc);
  product.rows = m;
  product.columns = n;
  product.slabs = k / Shape::slab;
  product.tile_rows = (m + Shape::rows - 1) / Shape::rows;
  product.tile_columns = (n + Shape::columns - 1) / Shape::columns;
  return product;
}

/// A job of one product, or of two of which the first one's tiles come first. `lead` < 0: a default.
template <class Shape>
UpdateJob update_job(UpdateCounters* counters, const UpdateProduct& first,
                     const UpdateProduct* second = nullptr, int lead = -1) {
  UpdateJob job{};
  job.product[0] = first;
  job.product[1] = second != nullptr ? *second : first;
  job.counters = counters;
  job.first_tiles = static_cast<unsigned>(first.tile_rows) * static_cast<unsigned>(first.tile_columns);
  job.tiles = job.first_tiles;
  int slabs = first.slabs;
  if (second != nullptr) {
    job.tiles += static_cast<unsigned>(second->tile_rows) * static_cast<unsigned>(second->tile_columns);
    slabs = std::min(slabs, second->slabs);
  }
  job.group_columns = std::max(1024 / Shape::columns, 1);
  // A group that waits for the one before it still holds the tile's first stage; and where a tile had fewer
  // slabs than the ring, one group could be two tiles ahead of the next, whose barriers know one.
  if (Shape::groups > 1 && slabs >= Shape::stages) {
    const int most = (Shape::stages - 1) / std::max(Shape::groups - 1, 1);
    job.lead = std::min(lead < 0 ? (Shape::groups == 2 ? 3 : 2) : lead, most);
  }
  job.prefetch = 1;
  job.hints = 1;
  return job;
}

/// Blocks of a launch on a GPU of `multiprocessors`, of which `job` has reserved some; sets what the job says
/// of them. `spare`: blocks that may run out of patience.
template <class Shape>
unsigned update_grid(UpdateJob& job, int multiprocessors, unsigned patience = 20000, unsigned spare = 64) {
  int reserved = 0;
  for (int id = 0; id < multiprocessors; ++id)
    reserved += job.reserved.has(static_cast<unsigned>(id)) ? 1 : 0;
  job.wanted = static_cast<unsigned>((multiprocessors - reserved) * Shape::blocks);
  job.patience = reserved == 0 ? 0 : patience;
  const auto all = static_cast<unsigned>(multiprocessors * Shape::blocks);
  return reserved == 0 ? std::min(all, job.tiles) : all + (patience == 0 ? 0 : spare);
}

}  // namespace gaussweep::cuda::lu
