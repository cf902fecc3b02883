#pragma once
/// Back substitution as the Gauss methods share it, after F. Fuhrmann, TU Wien 2017. It has sums by reduction
/// within a block (section 4.3.1), and a pipeline of blocks with one lock an unknown (section 4.3.2). The
/// pipeline is as he has it and, as a second form, with flags that one thread of a block looks at.
///
/// [A | B] is row-major with a unit upper triangle in A; X is column-major, n x nrhs, ld = n. All ways add
/// up in the same order, whatever the number of blocks: their answers agree to the bit.

#include <cmath>
#include <cstdint>

#include "kernels/gesv/cyclic_options.hpp"
#include "kernels/gesv/gauss_steps.cuh"
#include "kernels/registry/method.hpp"
#include "kernels/simt/simt.hpp"

namespace gaussweep::GAUSSWEEP_BACKEND {

/// Adds up `value` over the block: the upper half of what is left is added to the lower half until one is
/// left, in cache[0]. All threads call this. @pre the block's threads are past their last use of `cache`,
/// blockDim.x elements
template <class T>
__device__ void reduce_in_block(T* cache, T value) {
  const int thread = static_cast<int>(threadIdx.x);
  cache[thread] = value;
  __syncthreads();
  for (int left = static_cast<int>(blockDim.x); left > 1;) {
    const int half = (left + 1) / 2;
    if (thread + half < left) cache[thread] += cache[thread + half];
    __syncthreads();
    left = half;
  }
}

/// A block a system solves row after row from the last. Thread t sums up the products of the columns that are
/// t modulo the number of threads (counted from the end). The block reduces, thread 0 subtracts from the
/// right-hand side.
template <class T>
__global__ void substitute_by_reduction(const T* a, std::int64_t ld, Shape shape, T* x, const int* info) {
  T* cache = simt::dynamic_shared<T>();
  const std::int64_t s = blockIdx.x, behind = shape.n + gap_of(shape, s);
  const auto n = static_cast<int>(shape.n), nrhs = static_cast<int>(shape.nrhs);
  a += s * n;
  x += s * n * nrhs;
  info += s;
  // Nobody writes to info while this kernel runs, so that all threads read the same.
  if (*info != 0) return;
  const int threads = static_cast<int>(blockDim.x);
  const int last = n - threads + static_cast<int>(threadIdx.x);
  for (int y = n - 1; y >= 0; --y) {
    const T* row = a + y * ld;
    for (int r = 0; r < nrhs; ++r) {
      T* solution = x + static_cast<std::int64_t>(r) * n;
      T sum = 0;
      for (int j = last; j > y; j -= threads) sum = std::fma(row[j], solution[j], sum);
      reduce_in_block(cache, sum);
      if (threadIdx.x == 0) solution[y] = row[behind + r] - cache[0];
      __syncthreads();
    }
  }
}

/// How often a waiting block looks, without any unknown being solved meanwhile, before it gives up. A look
/// takes about a microsecond on a GPU: more than half a minute for a single row, which takes milliseconds at
/// worst.
constexpr std::int64_t pipeline_patience = std::int64_t{1} << 26;

/// Waits, for one thread of a block, until unknown `lowest` is solved, and so all above it. @pre those from
/// `known` on are solved. False where it gave up or where another block had: `*info` is then not 0.
__device__ inline bool wait_until_solved(const int* solved, int known, int lowest, int* info,
                                         std::int64_t patience) {
  int next = known - 1;  // the unknown whose solution would be progress
  std::int64_t looks = 0;
  while (simt::load_volatile(solved + lowest) == 0) {
    if (simt::load_volatile(info) != 0) return false;
    if (++looks >= patience) {
      const int before = next;
      while (next >= lowest && simt::load_volatile(solved + next) != 0) --next;
      if (next == before) {
        atomicCAS(info, 0, -1);
        return false;
      }
      looks = 0;
    }
    simt::spin_pause();
  }
  __threadfence();
  return true;
}

/// The pipeline: position p of gridDim.x positions has the p-th of the contiguous, balanced pieces of the
/// rows, from the last row up. A block sums up what is solved and waits for what is not. Positions are given
/// out as blocks start. So whom a block waits for has started and cannot be waiting for it: no order of
/// starting can hang.
/// @pre solved[0 … n) and *tickets are 0
template <class T>
__global__ void substitute_in_pipeline(const T* a, std::int64_t ld, int n, int nrhs, T* x, int* solved,
                                       int* tickets, int* info, std::int64_t patience) {
  __shared__ int position;
  __shared__ int go_on;
  T* cache = simt::dynamic_shared<T>();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    position = atomicAdd(tickets, 1);
    go_on = simt::load_volatile(info) == 0 ? 1 : 0;
  }
  __syncthreads();
  if (go_on == 0) return;
  const int threads = static_cast<int>(blockDim.x);
  const std::int64_t pieces = gridDim.x;
  const int top = n - 1 - static_cast<int>(static_cast<std::int64_t>(n) * position / pieces);
  const int bottom = n - static_cast<int>(static_cast<std::int64_t>(n) * (position + 1) / pieces);
  int known = n;  // this block has seen that the unknowns from here on are solved
  for (int y = top; y >= bottom; --y) {
    const T* row = a + y * ld;
    for (int r = 0; r < nrhs; ++r) {
      T* solution = x + static_cast<std::int64_t>(r) * n;
      T sum = 0;
      for (int end = n; end > y + 1; end -= threads) {
        const int begin = end - threads;
        const int lowest = begin > y ? begin : y + 1;
        if (lowest < known) {
          // One thread looks for all: the others would only crowd the memory.
          __syncthreads();
          if (thread == 0) go_on = wait_until_solved(solved, known, lowest, info, patience) ? 1 : 0;
          __syncthreads();
          if (go_on == 0) return;
          known = lowest;
        }
        const int j = begin + thread;
        // Volatile: a line of x may be in this multiprocessor's cache from before a neighbour was solved.
        if (j > y) sum = std::fma(row[j], simt::load_volatile(solution + j), sum);
      }
      reduce_in_block(cache, sum);
      if (thread == 0) solution[y] = row[n + r] - cache[0];
      __syncthreads();
    }
    if (thread == 0) simt::store_release(solved + y, 1);
    known = y;
  }
}

/// How often a thread polls a lock before it gives up, and how often it polls between two looks at whether
/// another gave up. A poll takes about a microsecond on a GPU: a minute, where the whole substitution takes
/// seconds at worst.
constexpr std::int64_t lock_patience = std::int64_t{1} << 26;
constexpr std::int64_t polls_between_looks = 1024;

/// Polls until the lock is open. False where it gave up or where another had: `*info` is then not 0.
__device__ inline bool wait_for_lock(int* lock, int* info, std::int64_t patience) {
  std::int64_t polls = 0;
  while (atomicAnd(lock, 1) == 0) {
    if (++polls % polls_between_looks != 0) continue;
    if (simt::load_volatile(info) != 0) return false;
    if (polls >= patience) {
      atomicCAS(info, 0, -1);
      return false;
    }
    simt::spin_pause();
  }
  __threadfence();
  return true;
}

/// The paper's pipeline: block b has the b-th of the contiguous pieces of n / gridDim.x rows, from the last
/// row up. The last block has what is left over. Every thread of every block but the first polls the lock of
/// each unknown that it reads, also of those that its own block solved. A block that starts before one that
/// it waits for, with no room left for that one, would wait for ever: it gives up. What the paper leaves out
/// and a right answer needs: x is visible before its lock opens, and is read from memory.
/// @pre locks[j * lock_spacing] is 0, closed, for all unknowns j
template <class T>
__global__ void substitute_behind_locks(const T* a, std::int64_t ld, int n, int nrhs, T* x, int* locks,
                                        int* info, std::int64_t patience) {
  __shared__ int failed;
  T* cache = simt::dynamic_shared<T>();
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  if (thread == 0) failed = simt::load_volatile(info) != 0 ? 1 : 0;
  __syncthreads();
  if (failed != 0) return;
  const int pieces = static_cast<int>(gridDim.x);
  const int piece = static_cast<int>(blockIdx.x);
  const int top = n - 1 - n / pieces * piece;
  const int rows = n / pieces + (piece == pieces - 1 ? n % pieces : 0);
  for (int y = top; y > top - rows; --y) {
    const T* row = a + y * ld;
    for (int r = 0; r < nrhs; ++r) {
      T* solution = x + static_cast<std::int64_t>(r) * n;
      T sum = 0;
      for (int j = n - threads + thread; j > y; j -= threads) {
        if (piece > 0 && !wait_for_lock(locks + j * lock_spacing, info, patience)) {
          failed = 1;
          break;
        }
        sum = std::fma(row[j], simt::load_volatile(solution + j), sum);
      }
      reduce_in_block(cache, sum);
      if (failed != 0) return;
      if (thread == 0) solution[y] = row[n + r] - cache[0];
      __syncthreads();
    }
    if (thread == 0) {
      __threadfence();
      atomicExch(locks + y * lock_spacing, 1);
    }
  }
}

/// Launches the back substitution, `blocks` of them where it is pipelined.
template <class T>
void back_substitute(Context& context, Operands<T>& op, Substitution how, int blocks, int threads) {
  const auto n = static_cast<int>(op.shape.n);
  const auto nrhs = static_cast<int>(op.shape.nrhs);
  const dim3 block(static_cast<unsigned>(threads));
  const std::size_t shared_bytes = static_cast<std::size_t>(threads) * sizeof(T);
  const T* a = op.a.data;
  if (how == Substitution::reduction) {
    const int* info = op.info;
    simt::launch(context, substitute_by_reduction<T>, dim3(static_cast<unsigned>(op.shape.batch)), block,
                 shared_bytes, a, op.a.ld, op.shape, op.x.data, info);
    return;
  }
  const std::int64_t ints = substitution_ints(how, n);
  int* solved = op.workspace.template take<int>(ints);
  context.device.fill(solved, 0, static_cast<std::size_t>(ints) * sizeof(int));
  const dim3 grid(static_cast<unsigned>(blocks));
  if (how == Substitution::pipelined_locks) {
    simt::launch(context, substitute_behind_locks<T>, grid, block, shared_bytes, a, op.a.ld, n, nrhs,
                 op.x.data, solved, op.info, lock_patience);
    return;
  }
  simt::launch(context, substitute_in_pipeline<T>, grid, block, shared_bytes, a, op.a.ld, n, nrhs, op.x.data,
               solved, solved + n, op.info, pipeline_patience);
}

}  // namespace gaussweep::GAUSSWEEP_BACKEND
