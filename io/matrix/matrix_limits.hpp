#pragma once
/// How large a matrix a file may announce before memory is taken for it.

#include <cstdint>
#include <string>

namespace gaussweep::io {

/// 2^53: a double holds all integers up to it.
constexpr double largest_exact = 9007199254740992;

/// Bytes that this process can take now (io/files/memory.hpp); INT64_MAX where nothing limits them.
std::int64_t available_bytes();

/// Why a dense matrix of this size is not read; empty where it is. It has more elements than a signed 32-bit
/// LAPACK index can reach, or more than `available` bytes as double. @pre rows >= 1, cols >= 1
std::string too_large(std::int64_t rows, std::int64_t cols, std::int64_t available = available_bytes());

}  // namespace gaussweep::io
