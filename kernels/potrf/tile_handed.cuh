#pragma once
/// How a block takes what another one hands on of a factored tile: see tile_chain.cuh.

#include "kernels/potrf/tile_factor.cuh"

namespace gaussweep::GAUSSWEEP_BACKEND::tiles {

/// A triangle and the inverses in it, eight columns after another, on their way to shared memory. What is on
/// and above the diagonal is not needed.
/// @tparam Waiter whose lose_patience(polls) tells a warp whether a wait is given up
template <class T, class Waiter>
class Handed {
 public:
  /// `from`: where it is handed on; `triangle` and `inverses`: in shared memory. The first columns are on
  /// their way then.
  __device__ __forceinline__ Handed(const Waiter& waiter, const T* from, T* triangle, T* inverses)
      : waiter_(waiter), from_(from), triangle_(triangle), inverses_(inverses) {
    load(0);
  }
  /// Columns 8m to 8m + 7, as soon as they were handed on; a barrier of the block. The next ones are on their
  /// way then.
  __device__ __forceinline__ void take(int m) {
    for (int polls = 0; is_missing() && !waiter_.lose_patience(polls); ++polls) load(m);
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      triangle_[(8 * m + column() + k * step) * triangle_stride + row()] = value_[k];
    }
    if (thread() < 64) inverses_[(8 * m + thread() / 8) * inverse_stride + thread() % 8] = inverse_;
    if (m < 7) load(m + 1);
    __syncthreads();
  }

 private:
  static constexpr int step = threads / order, share = 8 / step;
  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int row() { return thread() % order; }
  __device__ static int column() { return thread() / order; }
  __device__ __forceinline__ void load(int m) {
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) {
      const T* const place = from_ + (8 * m + column() + k * step) * order + row();
      value_[k] = row() >= 8 * m + 8 ? simt::load_volatile(place) : T(0);
    }
    inverse_ = thread() < 64 ? simt::load_volatile(from_ + (handed_inverses + 64 * m) + thread()) : T(0);
  }
  /// Of a warp.
  __device__ __forceinline__ bool is_missing() const {
    bool missing = false;  // the inverse is last: otherwise registers move while loads are on their way
    GAUSSWEEP_UNROLL
    for (int k = 0; k < share; ++k) missing = missing || chain::is_absent(value_[k]);
    missing = missing || chain::is_absent(inverse_);
    return __any_sync(0xffffffffu, missing) != 0;
  }

  const Waiter& waiter_;
  const T* from_;
  T* triangle_;
  T* inverses_;
  T value_[share], inverse_;
};

}  // namespace gaussweep::GAUSSWEEP_BACKEND::tiles
