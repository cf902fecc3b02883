#pragma once
/// cuBLAS and cuSOLVER handles bound to a device's stream, and the memory that these libraries ask for.

#include "kernels/device/context.hpp"

#ifdef GAUSSWEEP_HAS_CUDA
struct cublasContext;      // cublasHandle_t is a pointer to it,
struct cusolverDnContext;  // cusolverDnHandle_t to this
#endif

namespace gaussweep {

#ifdef GAUSSWEEP_HAS_CUDA

/// Made on first use and kept in the context: creating a handle takes longer than most runs. A context must
/// not outlive its device.
struct VendorHandles {
  explicit VendorHandles(Device& device) : device_(device) {}

  /// The handles, with the device's stream set. @throws DeviceError, OutOfMemory
  cublasContext* blas();
  cusolverDnContext* solver();

  /// Device memory of at least `bytes`, kept for the next call. So a run allocates only in the warm-up,
  /// where none of this size came before it. How much cuSOLVER wants can only be asked with a handle, on a
  /// GPU, so no row can announce it in its workspace_bytes. Contents are undefined; valid until the next
  /// call.
  void* scratch(std::size_t bytes) { return grow(scratch_, bytes); }
  /// The same, a second piece, for pivots.
  int* pivots(std::int64_t count) {
    return static_cast<int*>(grow(pivots_, static_cast<std::size_t>(count) * sizeof(int)));
  }
  /// One int on the device for an info that only repeats what is known.
  int* spare_info() { return static_cast<int*>(grow(spare_info_, sizeof(int))); }
  /// Host memory of at least `bytes`, kept likewise.
  void* host_scratch(std::size_t bytes) {
    if (host_scratch_.size() < bytes) host_scratch_.resize(bytes);
    return host_scratch_.data();
  }

 private:
  struct Destroy {
    void operator()(cublasContext* handle) const noexcept;
    void operator()(cusolverDnContext* handle) const noexcept;
  };
  void* grow(Buffer& buffer, std::size_t bytes);

  Device& device_;
  Buffer scratch_, pivots_, spare_info_;
  std::vector<unsigned char> host_scratch_;
  std::unique_ptr<cublasContext, Destroy> blas_;
  std::unique_ptr<cusolverDnContext, Destroy> solver_;
};

/// The context's handles. @pre the context's device is a GPU
VendorHandles& vendor_handles(Context& context);

#else

struct VendorHandles {};

#endif

}  // namespace gaussweep
