/// Limits the size of a matrix before memory is allocated for it.

#include "io/matrix/matrix_limits.hpp"

#include "io/files/memory.hpp"

namespace gaussweep::io {

std::int64_t available_bytes() {
  const double bytes = available_memory_bytes();
  return bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : INT64_MAX;
}

std::string too_large(std::int64_t rows, std::int64_t cols, std::int64_t available) {
  constexpr std::int64_t most_elements = std::int64_t{46341} * 46341;
  const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows > most_elements / cols) {
    return "a dense " + size + " matrix is too large; allowed: as many elements as 46341 x 46341 has";
  }
  constexpr std::int64_t element = sizeof(double);
  if (rows * cols > available / element) {
    return "a dense " + size + " matrix needs " + std::to_string(rows * cols * element) +
           " bytes of memory; " + std::to_string(available) + " are available";
  }
  return {};
}

}  // namespace gaussweep::io
