#pragma once
/// Limits the size of a matrix before memory is allocated for it.

#include <cstdint>
#include <string>

namespace gaussweep::io {

/// 2^53; double represents all integers up to it exactly.
constexpr double largest_exact = 9007199254740992;

/// Returns the bytes that this process can allocate now (io/files/memory.hpp); INT64_MAX if there is no
/// limit.
std::int64_t available_bytes();

/// Returns the reason why a dense matrix of this size cannot be read; empty if it can. The limits are 46341^2
/// elements (about 2^31, for LAPACK's 32-bit indices) and `available` bytes for elements of type double. @pre
/// rows >= 1, cols >= 1
std::string too_large(std::int64_t rows, std::int64_t cols, std::int64_t available = available_bytes());

}  // namespace gaussweep::io
