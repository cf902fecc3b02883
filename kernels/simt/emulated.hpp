#pragma once
/// The launch layer (simt.hpp) on the CPU, which is called the emulation. Thread blocks run one after another
/// on the calling host thread. The threads of a block are fibers. A fiber switch happens only when a thread
/// waits at a barrier, at a warp collective or in a spin loop. If the emulation detects behaviour that is
/// undefined on a GPU, `launch` throws. Device memory is ordinary memory, so that sanitizers check every
/// access.
///
/// Static shared memory is a static array, which keeps the values of the previous block. Dynamic shared
/// memory is filled with NaN (all bits set) before every block.

#include <math.h>  // fma, sqrt, fabs, abs, … of float and double in the global namespace, as in nvcc

#include <cmath>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/simt/emulated_block.hpp"

// CUDA's keywords for emulated kernels.
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define GAUSSWEEP_UNROLL
#define GAUSSWEEP_ROLLED

namespace gaussweep::emulated {
using simt::dim3;
using simt::uint3;
}  // namespace gaussweep::emulated

#include "kernels/simt/emulated_builtins.hpp"
#include "kernels/simt/emulated_cluster.hpp"
#include "kernels/simt/launch_shape.hpp"

namespace gaussweep::emulated::simt {

template <class T>
T* dynamic_shared() {
  static_assert(alignof(T) <= 16, "dynamic shared memory is aligned to 16 bytes");
  return reinterpret_cast<T*>(detail::shared_memory());
}

/// Adds to *p and returns the old value.
template <class T>
T atomic_add(T* p, std::common_type_t<T> value, SourceLocation site = SourceLocation::current()) {
  return atomicAdd(p, value, site);
}

template <class T>
T load_volatile(const T* p, SourceLocation site = SourceLocation::current()) {
  detail::poll(p, site);
  return *static_cast<const volatile T*>(p);
}
template <class T>
void store_volatile(T* p, std::common_type_t<T> value) {
  *static_cast<volatile T*>(p) = value;
  detail::progress = true;
}
template <class T>
T load_acquire(const T* p, SourceLocation site = SourceLocation::current()) {
  return load_volatile(p, site);
}
template <class T>
void store_release(T* p, std::common_type_t<T> value) {
  store_volatile(p, value);
}
inline void copy_16_bytes(void* shared, const void* global) {
  std::memcpy(shared, global, 16);
}
inline void copy_16_bytes_through_l1(void* shared, const void* global) {
  copy_16_bytes(shared, global);
}
template <class T>
void copy_or_zero(T* shared, const T* global, bool exists) {
  *shared = exists ? *global : T(0);
}
inline void end_copy_group() {}
template <int PendingGroups>
void await_copy_groups() {}
inline void spin_pause(SourceLocation site = SourceLocation::current()) {
  detail::wait_for_others(site);
}

/// Returns a fixed number, because results that depend on it must not differ between machines.
inline int multiprocessors(const Context&) {
  return 4;
}
inline bool has_clusters(const Context&) {
  return true;
}
/// Returns the maximum shared memory of a block.
inline std::size_t max_shared_bytes(const Context& context) {
  return context.emulation.shared_bytes;
}

namespace detail {

template <class... P, class... A>
void start(Context& context, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
           std::size_t shared_limit, unsigned blocks_per_cluster, A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "the kernel takes another number of arguments");
  static_assert((... && !std::is_reference_v<P>), "kernels take their parameters by value");
  check_launch_shape(grid, block);
  if (context.device.backend() == Backend::cuda) {
    throw std::logic_error("launch: an emulated kernel cannot use the memory of a GPU");
  }
  if (shared_bytes > shared_limit) {
    throw DeviceError("launch: " + std::to_string(shared_bytes) + " bytes of shared memory per block, " +
                          std::to_string(shared_limit) + " allowed (simt::max_shared_bytes)",
                      "invalidValue", /*is_sticky=*/false);
  }
  if (context.stages != nullptr) context.stages->launched(std::nan(""));

  struct Call {
    void (*kernel)(P...);
    std::tuple<P...> values;
  } call{kernel, std::tuple<P...>(std::forward<A>(arguments)...)};
  run_grid(
      {grid, block, shared_bytes, context.emulation.shuffle_seed, blocks_per_cluster,
       context.device.watched_memory(), context.emulation.compares_orders},
      [](void* closure) {
        Call& c = *static_cast<Call*>(closure);
        std::apply(c.kernel, c.values);  // by value: every thread gets separate copies
      },
      &call);
}

}  // namespace detail

/// Runs `kernel` to completion. The arguments are converted to the kernel's parameter types. After an error
/// the device can still be used.
/// @throws std::invalid_argument for an impossible grid or block; exceptions of kernel threads; DeviceError
/// with one of these names:
/// - divergentBarrier: not all threads of a block reach the same __syncthreads;
/// - divergentWarp: not all lanes of a mask reach the same warp collective;
/// - deadlock: threads spin and nothing changes;
/// - invalidMask, invalidValue: a wrong argument of a warp collective, a cluster function or the launch;
/// - outOfBounds: a write outside of an operand;
/// - orderDependence: see Emulation::compares_orders.
template <class... P, class... A>
void launch(Context& context, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            A&&... arguments) {
  detail::start(context, kernel, grid, block, shared_bytes, max_shared_bytes(context),
                /*blocks_per_cluster=*/1, std::forward<A>(arguments)...);
}

/// Does the same as `launch`, because earlier launches are always complete.
template <class... P, class... A>
void launch_early(Context& context, void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
                  A&&... arguments) {
  launch(context, kernel, grid, block, shared_bytes, std::forward<A>(arguments)...);
}

/// Runs a grid of `clusters` clusters with `blocks` <= 16 blocks each. A block may use 227 KiB of shared
/// memory, as on a GPU with clusters.
/// @throws as launch; std::invalid_argument unless a block consists of whole warps
template <class... P, class... A>
void launch_clusters(Context& context, void (*kernel)(P...), unsigned blocks, unsigned clusters, dim3 block,
                     std::size_t shared_bytes, A&&... arguments) {
  check_cluster_shape(blocks, block);
  detail::start(context, kernel, dim3(blocks * clusters), block, shared_bytes, /*shared_limit=*/227 * 1024,
                blocks, std::forward<A>(arguments)...);
}

}  // namespace gaussweep::emulated::simt
