#pragma once
/// Makes descriptions of matrices (tensor maps) for Hopper's copy engine, the Tensor Memory Accelerator
/// (cuda_tensor.cuh).

#include <cuda.h>

#include <cstdint>

namespace gaussweep::cuda::simt {

/// Describes `count` matrices of bytes to the copy engine: each has `lines` lines of `length` contiguous
/// bytes, and they follow one another in memory. One copy moves a box of `box_lines` lines of 128 bytes;
/// bytes outside the matrix are zeros when loaded and ignored when stored. Boxes in shared memory have the
/// 128-byte swizzle, so that accesses have no bank conflicts. The 16-byte chunk with index u in line i is
/// stored as chunk u xor (i % 8) of that line.
/// @pre `length` and the address are multiples of 16
/// @throws DeviceError if the driver is too old or refuses the sizes
CUtensorMap byte_matrices(void* data, std::int64_t length, std::int64_t lines, std::int64_t count,
                          int box_lines);

}  // namespace gaussweep::cuda::simt
