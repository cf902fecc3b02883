#pragma once
/// Back substitution for gesv/gauss_block and the gesv/gauss_cyclic methods, after F. Fuhrmann, TU Wien 2017:
/// with sum reductions in one block (section 4.3.1), or as a pipeline of blocks with one lock per unknown
/// (section 4.3.2). In the thesis's pipeline every thread polls the locks; in a second pipeline, which the
/// thesis does not have, one thread per block polls flags.
///
/// [A | B] is row-major with a unit upper triangle in A; X is column-major, n x nrhs, ld = n. All variants
/// add in the same order for any number of blocks, so that their answers agree to the last bit.

#include <cmath>
#include <cstdint>

#include "kernels/gesv/cyclic_options.hpp"
#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Sums `value` over the block into partial_sums[0]: adds the upper half of the remaining sums to the lower
/// half until one sum remains. All threads must call this.
/// @pre `partial_sums` has blockDim.x elements of shared memory, which no thread still reads
template <class T>
__device__ void reduce_in_block(T* partial_sums, T value) {
  const int thread = static_cast<int>(threadIdx.x);
  partial_sums[thread] = value;
  __syncthreads();
  for (int remaining = static_cast<int>(blockDim.x); remaining > 1;) {
    const int half = (remaining + 1) / 2;
    if (thread + half < remaining) partial_sums[thread] += partial_sums[thread + half];
    __syncthreads();
    remaining = half;
  }
}

/// Solves one system per block, from the last row to the first. If there are p threads, thread t sums the
/// products in the columns n - p + t, n - 2 p + t, …. The block reduces these sums, and thread 0 subtracts
/// the result from the right-hand side.
template <class T>
__global__ void substitute_by_reduction(const T* a, std::int64_t ld, Shape shape, T* x, const int* info) {
  T* partial_sums = simt::dynamic_shared<T>();
  const std::int64_t s = blockIdx.x, first_rhs = shape.n + columns_between_a_and_b(shape, s);
  const auto n = static_cast<int>(shape.n), nrhs = static_cast<int>(shape.nrhs);
  a += s * n;
  x += s * n * nrhs;
  info += s;
  // No thread writes info during this kernel, so all threads read the same value.
  if (*info != 0) return;
  const int threads = static_cast<int>(blockDim.x);
  const int last_column = n - threads + static_cast<int>(threadIdx.x);  // of the thread
  for (int row_index = n - 1; row_index >= 0; --row_index) {
    const T* row = a + row_index * ld;
    for (int r = 0; r < nrhs; ++r) {
      T* solution = x + static_cast<std::int64_t>(r) * n;
      T sum = 0;
      for (int j = last_column; j > row_index; j -= threads) sum = std::fma(row[j], solution[j], sum);
      reduce_in_block(partial_sums, sum);
      if (threadIdx.x == 0) solution[row_index] = row[first_rhs + r] - partial_sums[0];
      __syncthreads();
    }
  }
}

constexpr int timed_out = -1;  ///< info after a timeout

/// Number of polls after which a waiting block times out if no unknown that it waits for was solved in the
/// meantime. A poll takes about a microsecond on a GPU, so the timeout is about a minute. A row is solved
/// within milliseconds.
constexpr std::int64_t max_flag_polls = std::int64_t{1} << 26;

/// Waits until unknown `lowest` is solved. Unknowns are solved from the last to the first, so that all
/// unknowns with larger indices are then solved, too. One thread per block calls this. Returns false if this
/// wait or another block's wait timed out; *info is then not 0.
/// @pre the unknowns from `known_from` on are solved
__device__ inline bool wait_until_solved(const int* solved, int known_from, int lowest, int* info,
                                         std::int64_t max_polls) {
  int highest_unsolved = known_from - 1;
  std::int64_t polls = 0;
  while (simt::load_volatile(solved + lowest) == 0) {
    if (simt::load_volatile(info) != 0) return false;
    if (++polls >= max_polls) {
      const int previous_highest = highest_unsolved;
      while (highest_unsolved >= lowest && simt::load_volatile(solved + highest_unsolved) != 0)
        --highest_unsolved;
      if (highest_unsolved == previous_highest) {  // no progress since the last timeout check
        atomicCAS(info, 0, timed_out);
        return false;
      }
      polls = 0;
    }
    simt::spin_pause();
  }
  __threadfence();
  return true;
}

/// Splits the rows into gridDim.x contiguous, balanced ranges. The block at pipeline position p solves the
/// p-th range, counted from the last row up. It waits for each unknown before it reads the unknown. Blocks
/// take positions from the counter *next_position when they start. A block therefore waits only for blocks
/// that have started before it, so that no start order can deadlock.
/// @pre solved[0 … n) and *next_position are 0
template <class T>
__global__ void substitute_in_pipeline(const T* a, std::int64_t ld, int n, int nrhs, T* x, int* solved,
                                       int* next_position, int* info, std::int64_t max_polls) {
  __shared__ int position;
  __shared__ int proceed;
  T* partial_sums = simt::dynamic_shared<T>();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    position = atomicAdd(next_position, 1);
    proceed = simt::load_volatile(info) == 0 ? 1 : 0;
  }
  __syncthreads();
  if (proceed == 0) return;
  const int threads = static_cast<int>(blockDim.x);
  const std::int64_t ranges = gridDim.x;
  const int top = n - 1 - static_cast<int>(static_cast<std::int64_t>(n) * position / ranges);
  const int bottom = n - static_cast<int>(static_cast<std::int64_t>(n) * (position + 1) / ranges);
  int known_from = n;  // the unknowns from here on are known to be solved
  for (int row_index = top; row_index >= bottom; --row_index) {
    const T* row = a + row_index * ld;
    for (int r = 0; r < nrhs; ++r) {
      T* solution = x + static_cast<std::int64_t>(r) * n;
      T sum = 0;
      for (int end = n; end > row_index + 1; end -= threads) {
        const int begin = end - threads;
        const int lowest = begin > row_index ? begin : row_index + 1;
        if (lowest < known_from) {
          // One thread polls for the block: polls of the other threads would only add memory traffic.
          __syncthreads();
          if (thread == 0) proceed = wait_until_solved(solved, known_from, lowest, info, max_polls) ? 1 : 0;
          __syncthreads();
          if (proceed == 0) return;
          known_from = lowest;
        }
        const int j = begin + thread;
        // A volatile load bypasses L1, which may hold a line of x from before a neighbouring unknown was
        // solved.
        if (j > row_index) sum = std::fma(row[j], simt::load_volatile(solution + j), sum);
      }
      reduce_in_block(partial_sums, sum);
      if (thread == 0) solution[row_index] = row[n + r] - partial_sums[0];
      __syncthreads();
    }
    if (thread == 0) simt::store_release(solved + row_index, 1);
    known_from = row_index;
  }
}

/// Number of polls of a lock after which a thread times out. This many polls take about a minute on a GPU.
/// The whole substitution takes at most seconds.
constexpr std::int64_t max_lock_polls = std::int64_t{1} << 26;
/// Number of polls after which a thread checks whether another thread timed out.
constexpr std::int64_t polls_between_checks = 1024;

/// Polls until the lock is open. Returns false if this thread or another thread timed out; *info is then not
/// 0.
__device__ inline bool wait_for_lock(int* lock, int* info, std::int64_t max_polls) {
  std::int64_t polls = 0;
  while (atomicAnd(lock, 1) == 0) {
    if (++polls % polls_between_checks != 0) continue;
    if (simt::load_volatile(info) != 0) return false;
    if (polls >= max_polls) {
      atomicCAS(info, 0, timed_out);
      return false;
    }
    simt::spin_pause();
  }
  __threadfence();
  return true;
}

/// Solves with the pipeline of the thesis: block b solves the b-th contiguous range of n / gridDim.x rows,
/// counted from the last row up; the last block also solves the remainder. Every thread of every block except
/// the first polls the lock of each unknown that it reads, even if its own block solved the unknown. The GPU
/// may start blocks in any order. If waiting blocks occupy all multiprocessors and the block that they wait
/// for cannot start, they deadlock and then time out. Unlike the thesis's code, this kernel makes x visible
/// to other blocks before the lock opens, and reads x past the L1 cache. Answers would be wrong without both.
/// @pre locks[j * lock_spacing] is 0 (closed) for all unknowns j
template <class T>
__global__ void substitute_behind_locks(const T* a, std::int64_t ld, int n, int nrhs, T* x, int* locks,
                                        int* info, std::int64_t max_polls) {
  __shared__ int failed;
  T* partial_sums = simt::dynamic_shared<T>();
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  if (thread == 0) failed = simt::load_volatile(info) != 0 ? 1 : 0;
  __syncthreads();
  if (failed != 0) return;
  const int ranges = static_cast<int>(gridDim.x);
  const int range = static_cast<int>(blockIdx.x);
  const int top = n - 1 - n / ranges * range;
  const int rows = n / ranges + (range == ranges - 1 ? n % ranges : 0);
  for (int row_index = top; row_index > top - rows; --row_index) {
    const T* row = a + row_index * ld;
    for (int r = 0; r < nrhs; ++r) {
      T* solution = x + static_cast<std::int64_t>(r) * n;
      T sum = 0;
      for (int j = n - threads + thread; j > row_index; j -= threads) {
        if (range > 0 && !wait_for_lock(locks + j * lock_spacing, info, max_polls)) {
          failed = 1;
          break;
        }
        sum = std::fma(row[j], simt::load_volatile(solution + j), sum);
      }
      reduce_in_block(partial_sums, sum);
      if (failed != 0) return;
      if (thread == 0) solution[row_index] = row[n + r] - partial_sums[0];
      __syncthreads();
    }
    if (thread == 0) {
      __threadfence();
      atomicExch(locks + row_index * lock_spacing, 1);
    }
  }
}

/// Launches the back substitution; `blocks` is used only by the pipelines.
template <class T>
void back_substitute(Context& context, Operands<T>& op, Substitution variant, int blocks, int threads) {
  const auto n = static_cast<int>(op.shape.n);
  const auto nrhs = static_cast<int>(op.shape.nrhs);
  const dim3 block(static_cast<unsigned>(threads));
  const std::size_t shared_bytes = static_cast<std::size_t>(threads) * sizeof(T);
  const T* a = op.a.data;
  if (variant == Substitution::reduction) {
    const int* info = op.info;
    simt::launch(context, substitute_by_reduction<T>, dim3(static_cast<unsigned>(op.shape.batch)), block,
                 shared_bytes, a, op.a.ld, op.shape, op.x.data, info);
    return;
  }
  const std::int64_t ints = substitution_ints(variant, n);
  int* solved = op.workspace.template take<int>(ints);
  context.device.fill(solved, 0, static_cast<std::size_t>(ints) * sizeof(int));
  const dim3 grid(static_cast<unsigned>(blocks));
  if (variant == Substitution::pipelined_locks) {
    simt::launch(context, substitute_behind_locks<T>, grid, block, shared_bytes, a, op.a.ld, n, nrhs,
                 op.x.data, solved, op.info, max_lock_polls);
    return;
  }
  simt::launch(context, substitute_in_pipeline<T>, grid, block, shared_bytes, a, op.a.ld, n, nrhs, op.x.data,
               solved, solved + n, op.info, max_flag_polls);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
