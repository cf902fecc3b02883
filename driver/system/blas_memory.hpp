#pragma once
/// Memory that OpenBLAS needs at least. Its allocator repeats a failed mmap for ever: a process whose limits
/// are too small for it spins without a word.

#include <string>

namespace gaussweep::driver {

/// Returns which of this process's limits (`ulimit -v`, `ulimit -d`) is too small for a process of this
/// program in which OpenBLAS has `threads` threads, and what the limit must be; empty if both suffice.
std::string limit_below_blas(int threads);

}  // namespace gaussweep::driver
