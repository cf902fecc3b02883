// Implements tensor_maps.hpp by the driver's function cuTensorMapEncodeTiled.

#ifdef GAUSSWEEP_SM90A

#include "kernels/simt/tensor_maps.hpp"

#include <cuda_runtime.h>

#include <string>

#include "kernels/core/errors.hpp"
#include "kernels/simt/cuda_check.hpp"

namespace gaussweep::cuda::simt {
namespace {

/// Returns the address of cuTensorMapEncodeTiled from the driver, because the program does not link libcuda.
decltype(&cuTensorMapEncodeTiled) driver_function() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  GAUSSWEEP_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                        cudaEnableDefault, &result));
  if (function == nullptr) {
    throw DeviceError("the GPU's driver has no cuTensorMapEncodeTiled; it needs CUDA 12.0 or later",
                      "cuTensorMapEncodeTiled", /*is_sticky=*/false);
  }
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

CUtensorMap byte_matrices(void* data, std::int64_t length, std::int64_t lines, std::int64_t count,
                          int box_lines) {
  static const auto encode = driver_function();
  CUtensorMap map;
  const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(length), static_cast<cuuint64_t>(lines),
                               static_cast<cuuint64_t>(count)};
  const cuuint64_t strides[2] = {sizes[0], sizes[0] * sizes[1]};
  const cuuint32_t box[3] = {128, static_cast<cuuint32_t>(box_lines), 1}, steps[3] = {1, 1, 1};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, data, sizes, strides, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw DeviceError("cuTensorMapEncodeTiled returned " + std::to_string(result) + " for " +
                          std::to_string(count) + " matrices of " + std::to_string(lines) + " lines of " +
                          std::to_string(length) + " bytes",
                      "cuTensorMapEncodeTiled", /*is_sticky=*/false);
  }
  return map;
}

}  // namespace gaussweep::cuda::simt

#endif
