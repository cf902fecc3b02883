/// The readers of HDF5 matrices on damaged files: as a foreign file, and, behind a seal that fits, as one of
/// the store's.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "io/errors.hpp"
#include "io/matrix_file.hpp"
#include "io/seal.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace gaussweep;

void import(const std::filesystem::path& path) {
  try {
    const io::MatrixInfo info = io::matrix_info(path);
    // A small file may announce gigabytes that it never stored: memory is not what is tried here.
    constexpr std::int64_t most_elements = 1 << 16;
    if (info.rows > most_elements / info.cols) return;
    const io::Dense<double> matrix = io::import_matrix(path);
    if (static_cast<std::int64_t>(matrix.data.size()) != matrix.rows * matrix.cols) std::abort();
  } catch (const io::InputError&) {
  }
}

template <class T>
void read_stored(const std::filesystem::path& path) {
  try {
    const io::StoredMatrix<T> matrix = io::read_matrix<T>(path);
    if (static_cast<std::int64_t>(matrix.a.data.size()) != matrix.a.rows * matrix.a.cols) std::abort();
  } catch (const io::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > io::seal_bytes) {
    const fuzz::MemoryFile file(data, size);
    const std::string seal = io::make_seal(file.path());
    std::fstream(file.path(), std::ios::binary | std::ios::in | std::ios::out)
        .write(seal.data(), seal.size());
    read_stored<float>(file.path());
    read_stored<double>(file.path());
  }
  const fuzz::MemoryFile file(data, size);
  import(file.path());
  return 0;
}
