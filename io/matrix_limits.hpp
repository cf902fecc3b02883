#pragma once
/// How large a matrix a file may announce before memory is taken for it.

#include <cstdint>
#include <string>

#include <unistd.h>

namespace gaussweep::io {

/// Why a dense matrix of this size is not read: more elements than a signed 32-bit LAPACK index can reach, or
/// more than this machine's memory; empty where it may be.
inline std::string too_large(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t most_elements = std::int64_t{46341} * 46341;
  const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows > most_elements / cols)
    return "a dense " + size + " matrix is too large; allowed: up to 46341 x 46341";
  const auto memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (rows * cols > memory / 8) return "a dense " + size + " matrix does not fit into this machine's memory";
  return {};
}

}  // namespace gaussweep::io
