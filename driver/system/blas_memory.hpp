#pragma once
/// The minimum memory for OpenBLAS. Its allocator retries a failed mmap forever, so a process with too small
/// limits hangs without a message.

#include <string>

namespace gaussweep::driver {

/// Returns an error text that names the limit (`ulimit -v` or `ulimit -d`) of this process that is too small
/// for OpenBLAS with `threads` threads, and the required value; empty if both suffice.
std::string limit_below_blas(int threads);

}  // namespace gaussweep::driver
