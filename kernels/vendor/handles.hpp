#pragma once
/// Handles of cuBLAS, cuBLASLt and cuSOLVER, bound to a device's stream, and workspace for these libraries.

#include "kernels/device/context.hpp"

#ifdef GAUSSWEEP_HAS_CUDA
struct cublasContext;      // cublasHandle_t points to it
struct cusolverDnContext;  // cusolverDnHandle_t points to it
struct CUstream_st;        // cudaStream_t points to it
#endif

namespace gaussweep {

#ifdef GAUSSWEEP_HAS_CUDA

struct LtProducts;  // the handle of cuBLASLt and its current product: lt_cuda.cpp
struct SolverMg;    // the handles of cuSOLVERMg: solver_mg_cuda.cpp

/// The handles and buffers of a context. They are created on first use and kept, because creating a handle
/// takes longer than most runs. A context must not outlive its device.
struct VendorHandles {
  explicit VendorHandles(Device& device) : device_(device) {}

  /// Return the handle of cuBLAS or cuSOLVER, bound to the device's stream. @throws DeviceError, OutOfMemory
  cublasContext* blas();
  cusolverDnContext* solver();
  /// Returns the device's stream, for libraries whose handles have none.
  CUstream_st* stream() const { return static_cast<CUstream_st*>(device_.stream()); }

  std::shared_ptr<LtProducts> lt;       ///< created on first use
  std::shared_ptr<SolverMg> solver_mg;  ///< created on first use, only in the context that has the group

  /// Returns device memory of at least `bytes`, valid until the next call, with undefined contents. It is
  /// kept for later calls, so that only the warm-up run allocates. Method::workspace_bytes does not include
  /// this memory, because cuSOLVER reports its size only on a GPU.
  void* scratch(std::size_t bytes) { return grow(scratch_, bytes); }
  /// Returns a separate buffer for pivots, kept like scratch().
  int* pivots(std::int64_t count) {
    return static_cast<int*>(grow(pivots_, static_cast<std::size_t>(count) * sizeof(int)));
  }
  /// Returns an int on the device for the info of routines whose info is not needed.
  int* spare_info() { return static_cast<int*>(grow(spare_info_, sizeof(int))); }
  /// Returns host memory of at least `bytes`, kept for later calls.
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

/// Returns the context's handles. @pre the context's device is a GPU
VendorHandles& vendor_handles(Context& context);

#else

struct VendorHandles {};

#endif

}  // namespace gaussweep
