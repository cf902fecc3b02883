#pragma once
/// The launch layer: one `.cu` source runs on a GPU (compiled by nvcc) and on the CPU (compiled as C++). The
/// two builds are called the backends `cuda` and `emulated`. Emulated threads of a block are fibers.
///
/// Portable code is in `namespace gaussweep::GAUSSWEEP_BACKEND`, and kernels are in an anonymous namespace
/// inside it. GAUSSWEEP_BACKEND is `cuda` or `emulated`, so that one program can contain both builds of a
/// file. Inside that namespace CUDA's names work on both backends (`threadIdx`, `__shared__`,
/// `__syncthreads`, `__shfl_sync`, `atomicAdd`, …). `simt` adds these functions:
///
///   simt::launch(context, kernel, grid, block, shared_bytes, args…)   on the device's stream
///   simt::launch_early(…)              may overlap the previous kernel until it calls griddepcontrol_wait
///   simt::dynamic_shared<T>()          the block's dynamic shared memory, aligned for any T (16 bytes)
///   simt::atomic_add(pointer, value)   int, unsigned, unsigned long long, float, double on every GPU
///   simt::load_volatile, store_volatile, load_acquire, store_release, spin_pause    for flags between blocks
///   simt::copy_16_bytes, copy_16_bytes_through_l1, copy_or_zero, end_copy_group,
///   await_copy_groups<PendingGroups>
///                                      asynchronous copies to shared memory
///   simt::multiprocessors(context), simt::max_shared_bytes(context), simt::has_clusters(context)
///   GAUSSWEEP_UNROLL                   unrolls the next loop, so that its arrays stay in registers
///   GAUSSWEEP_ROLLED                   keeps the compiler from unrolling the next loop
///
/// Kernels launched by simt::launch_clusters can also use the functions of cuda_cluster.cuh: cluster_rank,
/// cluster_arrive, mbarrier_wait, st_async and so on. Such kernels need compute capability 9.0 and `#if
/// GAUSSWEEP_CLUSTERS` around their bodies. They must use dynamic shared memory: emulated blocks of a cluster
/// run concurrently, and all emulated blocks share one static shared memory.
///
/// To wait for another block, spin on `load_acquire(flag)` with `spin_pause()` in the loop. A block may wait
/// only for blocks of lower index (or with a lower number from an atomic counter). The reason: emulated
/// blocks run one after another, in order. A wait for a block of higher index throws DeviceError "deadlock".
///
/// Not portable: `extern __shared__` (use dynamic_shared), `<<<>>>`, `__activemask`, `printf`, `atomicAdd` on
/// double (use simt::atomic_add), textures, cooperative groups.

#include <cstddef>
#include <stdexcept>
#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/device/context.hpp"

#ifdef __CUDACC__
#define GAUSSWEEP_BACKEND cuda
#include "kernels/simt/cuda_launch.cuh"
#else
#define GAUSSWEEP_BACKEND emulated
#include "kernels/simt/emulated.hpp"
#endif
