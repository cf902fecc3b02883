#pragma once
/// Receives a factored diagonal tile from its mailbox in global memory (tile_factor.cuh).

#include "kernels/potrf/tile_factor.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// Copies a triangle and the inverses of its 8 x 8 diagonal tiles to shared memory. Copies eight columns at a
/// time, as they arrive in the mailbox. Omits the 8 x 8 diagonal tiles, because the solve uses their
/// inverses.
/// @tparam Waiter has a method times_out(polls), which returns true to all lanes of a warp if a wait has
/// timed out (TaskExecutor)
template <class T, class Waiter>
class TriangleReceiver {
 public:
  /// Starts the loads of the first columns. `triangle` and `inverses` are in shared memory.
  __device__ __forceinline__ TriangleReceiver(const Waiter& waiter, const T* mailbox, T* triangle,
                                              T* inverses)
      : waiter_(waiter), mailbox_(mailbox), triangle_(triangle), inverses_(inverses) {
    load(0);
  }
  /// Waits for columns 8m to 8m + 7 and stores them to shared memory. Starts the loads of the next columns.
  /// Ends with a barrier of the thread block.
  __device__ __forceinline__ void receive(int m) {
    for (int polls = 0; has_missing_element() && !waiter_.times_out(polls); ++polls) load(m);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < per_thread; ++k) {
      triangle_[(8 * m + column() + k * column_step) * triangle_stride + row()] = value_[k];
    }
    if (thread() < 64) inverses_[(8 * m + thread() / 8) * inverse_stride + thread() % 8] = inverse_;
    if (m < 7) load(m + 1);
    __syncthreads();
  }

 private:
  static constexpr int column_step = threads / tile_order, per_thread = 8 / column_step;
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int row() { return thread() % tile_order; }
  __device__ static int column() { return thread() / tile_order; }
  /// Loads the thread's elements of columns 8m to 8m + 7 and of their diagonal tile's inverse to registers.
  __device__ __forceinline__ void load(int m) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < per_thread; ++k) {
      const T* const source = mailbox_ + (8 * m + column() + k * column_step) * tile_order + row();
      value_[k] = row() >= 8 * m + 8 ? simt::load_volatile(source) : T(0);
    }
    inverse_ = thread() < 64 ? simt::load_volatile(mailbox_ + (mailbox_inverses + 64 * m) + thread()) : T(0);
  }
  /// Returns true to all lanes of a warp if an element of one of these lanes has not been sent yet (all of
  /// its bits are set).
  __device__ __forceinline__ bool has_missing_element() const {
    // Tests the inverse last: in another order the compiler moves registers whose loads are still in flight,
    // and waits.
    bool missing = false;
    GAUSSWEEP_UNROLL
    for (int k = 0; k < per_thread; ++k) missing = missing || chain::is_unpublished(value_[k]);
    missing = missing || chain::is_unpublished(inverse_);
    return __any_sync(0xffffffffu, missing) != 0;
  }

  const Waiter& waiter_;
  const T* mailbox_;
  T* triangle_;
  T* inverses_;
  T value_[per_thread], inverse_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
