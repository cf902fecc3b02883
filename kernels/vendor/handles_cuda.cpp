// Implements handles.hpp and status_cuda.hpp.

#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/simt/cuda_check.hpp"
#include "kernels/vendor/handles.hpp"
#include "kernels/vendor/status_cuda.hpp"

namespace gaussweep {
namespace vendor {
namespace {

std::string error_message(const char* call, const std::string& name, const std::string& text,
                          const char* file, int line) {
  return std::string(call) + ": " + name + " (" + text + ") at " + file + ":" + std::to_string(line);
}

/// Names of cuSOLVER's errors. Unlike cuBLAS, cuSOLVER has no function for this.
struct NamedStatus {
  cusolverStatus_t status;
  const char* name;
  const char* text;
};
constexpr NamedStatus cusolver_errors[] = {
    {CUSOLVER_STATUS_NOT_INITIALIZED, "CUSOLVER_STATUS_NOT_INITIALIZED", "the library was not initialised"},
    {CUSOLVER_STATUS_ALLOC_FAILED, "CUSOLVER_STATUS_ALLOC_FAILED", "memory ran out"},
    {CUSOLVER_STATUS_INVALID_VALUE, "CUSOLVER_STATUS_INVALID_VALUE", "an argument is not allowed"},
    {CUSOLVER_STATUS_ARCH_MISMATCH, "CUSOLVER_STATUS_ARCH_MISMATCH",
     "this GPU lacks a feature that the function needs"},
    {CUSOLVER_STATUS_MAPPING_ERROR, "CUSOLVER_STATUS_MAPPING_ERROR", "GPU memory could not be mapped"},
    {CUSOLVER_STATUS_EXECUTION_FAILED, "CUSOLVER_STATUS_EXECUTION_FAILED", "a kernel failed"},
    {CUSOLVER_STATUS_INTERNAL_ERROR, "CUSOLVER_STATUS_INTERNAL_ERROR", "an internal error of the library"},
    {CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED, "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
     "the function does not take this kind of matrix"},
    {CUSOLVER_STATUS_NOT_SUPPORTED, "CUSOLVER_STATUS_NOT_SUPPORTED", "the library does not offer this"},
    {CUSOLVER_STATUS_ZERO_PIVOT, "CUSOLVER_STATUS_ZERO_PIVOT", "a pivot is zero"},
    {CUSOLVER_STATUS_INVALID_LICENSE, "CUSOLVER_STATUS_INVALID_LICENSE", "no licence"},
};

}  // namespace

void throw_cublas(cublasStatus_t status, const char* call, const char* file, int line) {
  const std::string name = cublas_library().cublasGetStatusName(status);
  const std::string message =
      error_message(call, name, cublas_library().cublasGetStatusString(status), file, line);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
  const bool sticky = status == CUBLAS_STATUS_EXECUTION_FAILED || status == CUBLAS_STATUS_MAPPING_ERROR ||
                      status == CUBLAS_STATUS_INTERNAL_ERROR;
  throw DeviceError(message, name, sticky);
}

void throw_cusolver(cusolverStatus_t status, const char* call, const char* file, int line) {
  std::string name = "cusolverStatus_t " + std::to_string(static_cast<int>(status));
  std::string text = "see cusolver_common.h";
  for (const NamedStatus& known : cusolver_errors) {
    if (known.status == status) {
      name = known.name;
      text = known.text;
    }
  }
  const std::string message = error_message(call, name, text, file, line);
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
  const bool sticky = status == CUSOLVER_STATUS_EXECUTION_FAILED || status == CUSOLVER_STATUS_MAPPING_ERROR ||
                      status == CUSOLVER_STATUS_INTERNAL_ERROR;
  throw DeviceError(message, name, sticky);
}

}  // namespace vendor

void VendorHandles::Destroy::operator()(cublasContext* handle) const noexcept {
  vendor::cublas_library().cublasDestroy(handle);
}

void VendorHandles::Destroy::operator()(cusolverDnContext* handle) const noexcept {
  vendor::cusolver_library().cusolverDnDestroy(handle);
}

cublasContext* VendorHandles::blas() {
  if (!blas_) {
    cublasHandle_t handle = nullptr;
    GAUSSWEEP_CUBLAS(cublasCreate(&handle));
    blas_.reset(handle);
    GAUSSWEEP_CUBLAS(cublasSetStream(handle, static_cast<cudaStream_t>(device_.stream())));
  }
  return blas_.get();
}

cusolverDnContext* VendorHandles::solver() {
  if (!solver_) {
    cusolverDnHandle_t handle = nullptr;
    GAUSSWEEP_CUSOLVER(cusolverDnCreate(&handle));
    solver_.reset(handle);
    GAUSSWEEP_CUSOLVER(cusolverDnSetStream(handle, static_cast<cudaStream_t>(device_.stream())));
  }
  return solver_.get();
}

void* VendorHandles::grow(Buffer& buffer, std::size_t bytes) {
  if (buffer.data() == nullptr || buffer.bytes() < bytes) {
    device_.synchronize();  // work on the stream may still use the old buffer
    buffer.reset();
    buffer = Buffer(device_, bytes);
  }
  return buffer.data();
}

VendorHandles& vendor_handles(Context& context) {
  if (!context.vendor) context.vendor = std::make_shared<VendorHandles>(context.device);
  return *context.vendor;
}

}  // namespace gaussweep
