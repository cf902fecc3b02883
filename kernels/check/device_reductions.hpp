#pragma once
/// Implementations of Reductions (reductions.hpp) that run on a device: norms, differences and residuals of
/// matrices in device memory, by kernels without BLAS. Every number has the same bits as on the CPU.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/check/reductions.hpp"
#include "kernels/device/context.hpp"
#include "kernels/staging/staging.hpp"

namespace gaussweep {

/// A host matrix and its copy on a device. `host` always has the numbers of rows and columns. If the host
/// has released its elements, they are only in `device` (see is_on_host).
template <class T>
struct DeviceCopy {
  const HostMatrix<T>* host;
  StridedView<T> device;
};

/// Returns the device copies that the verification of a run uses: the unmodified inputs and the answer in
/// working set `set`. A working set is one of the copies of the operands in which runs compute (staging.hpp).
template <class T>
std::vector<DeviceCopy<T>> device_copies(Staging<T>& staging, const Inputs<T>& inputs,
                                         const Answer<T>& answer, int set);

/// The columns of a residual that one of several devices computes. Blocks of `width` columns are distributed
/// cyclically over the devices.
struct ColumnShare {
  std::int64_t device = 0, devices = 1;

  /// Returns the columns per block: a multiple of 64. Each device has about eight blocks, because with a
  /// triangular operand the work depends on the column index.
  std::int64_t width(std::int64_t cols) const {
    if (devices == 1) return (cols + 63) / 64 * 64;
    return (cols + 512 * devices - 1) / (512 * devices) * 64;
  }
  /// Calls work(begin, width) for the device's columns, at most `max_width` at a time.
  template <class Work>
  void for_columns(std::int64_t cols, std::int64_t max_width, const Work& work) const {
    const std::int64_t block = width(cols);
    for (std::int64_t first = device * block; first < cols; first += devices * block) {
      const std::int64_t end = std::min(first + block, cols);
      for (std::int64_t begin = first; begin < end; begin += max_width)
        work(begin, std::min(max_width, end - begin));
    }
  }
};

/// Returns reductions on the context's device. A matrix without a device copy is uploaded at its first use
/// and stays on the device. For a matrix with a device copy, one reduction still reads the elements on the
/// host: largest_allowance_ratio, the largest |residual element| divided by its allowed value. If the context
/// has a group and `copies` is empty, the devices of the group share the columns of each product L R of a
/// residual. The operands L and R are then uploaded to each device.
/// @param copies matrices that are on the device already. They must equal the host matrices
/// @param workspace the maximum bytes of scratch memory for products; if less is free, products use narrower
/// column blocks
/// @throws OutOfMemory, DeviceError, here or in any reduction
template <class T>
std::unique_ptr<Reductions<T>> device_reductions(Context& context, std::vector<DeviceCopy<T>> copies = {},
                                                 std::size_t workspace = std::size_t{64} << 20);

/// Returns reductions that run on the CPU for a matrix on the host with at most `max_elements` elements,
/// because waiting for a device takes longer. `device` does all other reductions and all products.
template <class T>
std::unique_ptr<Reductions<T>> small_on_host(std::unique_ptr<Reductions<T>> device,
                                             std::size_t max_elements = std::size_t{1} << 14);

/// Returns a digest of memory on the context's device. Different contents have equal digests with probability
/// 2^-64. @pre `bytes` is a multiple of 8
std::uint64_t device_digest(Context& context, const void* data, std::size_t bytes);
/// Writes the same digest to device memory, without waiting for the device.
void start_digest(Context& context, const void* data, std::size_t bytes, unsigned long long* digest);

}  // namespace gaussweep

/// Declares the implementations of one backend, in its namespace `space`. The functions above call those of
/// the context's backend. The namespace `emulated` has the kernels compiled for the CPU, which run without a
/// GPU.
#define GAUSSWEEP_DECLARE_DEVICE_REDUCTIONS(space)                                                    \
  namespace gaussweep::space {                                                                        \
  template <class T>                                                                                  \
  std::unique_ptr<Reductions<T>> device_reductions(Context&, std::vector<DeviceCopy<T>>, std::size_t, \
                                                   ColumnShare);                                      \
  void start_digest(Context&, const void* data, std::size_t bytes, unsigned long long* digest);       \
  }

GAUSSWEEP_DECLARE_DEVICE_REDUCTIONS(emulated)
#ifdef GAUSSWEEP_HAS_CUDA
GAUSSWEEP_DECLARE_DEVICE_REDUCTIONS(cuda)
#endif
