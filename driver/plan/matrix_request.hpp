#pragma once
/// From a plan's `matrix:` block to a MatrixRequest.

#include <filesystem>

#include "driver/plan/expand.hpp"

namespace gaussweep::driver {

/// The block that stands for a plan that names no matrix: kind uniform with its defaults.
io::MatrixBlock default_matrix_block(const io::Place& place);

/// Reads a block. `seed`, where given, overrides the block's. Sizes are set for files only (spec.rows,
/// spec.cols) and, in spec.blur, as far as a block of kind blur says its image's.
/// @throws io::InputError with the place: unknown kind or key (with the nearest), a value out of range, no
/// such file
MatrixRequest request_matrix(const io::MatrixBlock& block, const io::Scalar* seed, const FileLookup& lookup);

/// The seed of a gemm's B where the plan gives it none: after the last seed comes the first.
std::uint64_t next_seed(std::uint64_t seed);

/// Kinds whose matrices need not be square.
bool may_be_rectangular(MatrixKind kind);

/// Checks and completes what depends on the size, once it is known. @throws io::InputError at `place`
void settle_size(MatrixRequest& request, const io::Place& place);

/// Completes the digest, once sizes are known.
void finish_request(MatrixRequest& request, Precision precision, std::int64_t nrhs);

}  // namespace gaussweep::driver
