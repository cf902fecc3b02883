/// Fuzzes the Matrix Market reader: it must return a matrix of the announced size or an InputError.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "io/files/errors.hpp"
#include "io/matrix/matrix_market.hpp"
#include "tests/fuzz/memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gaussweep;
  const fuzz::MemoryFile file(data, size);
  io::MatrixInfo info;
  bool readable = false;
  try {
    io::read_matrix_market(file.path(), false, info);
    readable = true;
    // A few bytes may announce a sparse matrix of gigabytes; the fuzzer does not test memory use.
    constexpr std::int64_t max_elements = 1 << 16;
    if (info.rows > max_elements / info.cols) return 0;
    const io::Dense<double> matrix = io::read_matrix_market(file.path(), true, info);
    if (matrix.rows != info.rows || matrix.cols != info.cols) std::abort();
    if (static_cast<std::int64_t>(matrix.data.size()) != info.rows * info.cols) std::abort();
    for (const double element : matrix.data) {
      if (!std::isfinite(element)) std::abort();
    }
  } catch (const io::InputError&) {
    // After a successful check only the sum of repeated entries may still overflow.
    if (readable && info.stored_entries < 2) std::abort();
  }
  return 0;
}
