#pragma once
/// The judge on a device: reductions of matrices where they lie, by kernels of our own that no BLAS has a
/// part in. Every number has the bits that the CPU's (reductions.hpp) has.

#include <memory>
#include <vector>

#include "kernels/device/context.hpp"
#include "kernels/residual/reductions.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep {

/// A host matrix and where the same elements lie on a device; or there alone, where the host has released
/// them.
template <class T>
struct DeviceCopy {
  const HostMatrix<T>* host;
  Strided<T> place;
};

/// What the judge of a run finds on the device: the pristine inputs, and the answer of a working set.
template <class T>
std::vector<DeviceCopy<T>> device_copies(Staging<T>& staging, const Inputs<T>& inputs,
                                         const Answer<T>& answer, int copy);

/// On the context's device. Matrices of which there is no copy are uploaded when they are first met, and
/// kept. Where there is a copy, only largest_share reads the host's elements. Beside them it takes up to 64
/// MiB, and where that is not free less, a strip of columns at a time.
/// @param copies of the same elements as on the host: who lends them answers for it
/// @throws OutOfMemory, DeviceError, here or in any reduction
template <class T>
std::unique_ptr<Reductions<T>> device_reductions(Context& context, std::vector<DeviceCopy<T>> copies = {},
                                                 std::size_t workspace = std::size_t{64} << 20);

/// By the CPU where a matrix has at most `most` elements on the host: that takes less time than waiting for a
/// device. Else, and for all products, by `device`.
template <class T>
std::unique_ptr<Reductions<T>> little_on_host(std::unique_ptr<Reductions<T>> device,
                                              std::size_t most = std::size_t{1} << 14);

/// A digest of memory on the context's device: another where any bit was changed, but for one case in 2^64.
/// @pre `bytes` is a multiple of 8
std::uint64_t device_digest(Context& context, const void* data, std::size_t bytes);
/// The same, into memory of the device, without waiting for it.
void start_digest(Context& context, const void* data, std::size_t bytes, unsigned long long* digest);

}  // namespace gaussweep

#define GAUSSWEEP_DECLARE_DEVICE_REDUCTIONS(space)                                                     \
  namespace gaussweep::space {                                                                         \
  template <class T>                                                                                   \
  std::unique_ptr<Reductions<T>> device_reductions(Context&, std::vector<DeviceCopy<T>>, std::size_t); \
  void start_digest(Context&, const void* data, std::size_t bytes, unsigned long long* digest);        \
  }

GAUSSWEEP_DECLARE_DEVICE_REDUCTIONS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_DEVICE_REDUCTIONS(cuda)
#endif
