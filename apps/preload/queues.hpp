#pragma once
/// Finds the stream of a call, and creates what libgaussweep needs to answer calls on this stream.

#include <cstddef>
#include <mutex>
#include <string>

#include "apps/c_api/gaussweep.h"
#include "apps/preload/cutoffs.hpp"

namespace gaussweep::preload {

/// The routines of libgaussweep in one precision.
template <class T>
struct Routines;
// Applies the macro F(p, name) to each routine that this library may call; p is the letter of the precision.
// clang-format off
#define GAUSSWEEP_ROUTINE_NAMES(F, p) \
  F(p, getrf_work) F(p, getrf) F(p, getrs) F(p, potrf_work) F(p, potrf) F(p, potrs) F(p, potri_work) \
  F(p, potri) F(p, trsm) F(p, trtri_work) F(p, trtri) F(p, gemm)
// clang-format on
#define GAUSSWEEP_ROUTINE_MEMBER(p, name) decltype(&gaussweep_##p##name) name = nullptr;
template <>
struct Routines<float> {
  GAUSSWEEP_ROUTINE_NAMES(GAUSSWEEP_ROUTINE_MEMBER, s)
};
template <>
struct Routines<double> {
  GAUSSWEEP_ROUTINE_NAMES(GAUSSWEEP_ROUTINE_MEMBER, d)
};
#undef GAUSSWEEP_ROUTINE_MEMBER

/// Pointers to the functions of libgaussweep. The library is loaded on first use, so that the program's own
/// CUDA libraries are loaded before it.
struct Library {
  decltype(&gaussweep_create) create = nullptr;
  decltype(&gaussweep_set_stream) set_stream = nullptr;
  decltype(&gaussweep_last_error) last_error = nullptr;
  decltype(&gaussweep_widen_pivots) widen_pivots = nullptr;
  decltype(&gaussweep_narrow_pivots) narrow_pivots = nullptr;
  Routines<float> s;
  Routines<double> d;

  template <class T>
  const Routines<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return s;
    } else {
      return d;
    }
  }
};

/// A queue: a stream with libgaussweep's handle for it. Several threads and cuSOLVER handles may share one.
struct StreamHandle {
  const void* context = nullptr;     ///< CUcontext
  unsigned long long stream = 0;     ///< the stream's id, which is never used again
  std::string device;                ///< name of the GPU
  std::size_t most_bytes = 0;        ///< the largest workspace that a query returns
  const Library* library = nullptr;  ///< null if gaussweep cannot work here
  gaussweep_handle handle = nullptr;
  char* scratch = nullptr;  ///< scratch_bytes of device memory, for routines of cuSOLVER without a workspace
  std::mutex busy;          ///< held while a call queues its work
  static constexpr std::size_t scratch_bytes = std::size_t{40} << 20;
};

/// Returns the queue for a call on `stream` that gaussweep answers faster. Otherwise returns null and sets
/// `reason`. @param creates whether a missing queue is created, which allocates device memory
StreamHandle* find_queue(void* stream, const Task& task, bool creates, const char*& reason);

}  // namespace gaussweep::preload
