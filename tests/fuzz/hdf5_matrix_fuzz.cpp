/// The readers of HDF5 matrices on damaged files: as a foreign file, and, behind a seal that fits, as one of
/// the store's. No id stays open.

#include <hdf5.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "io/files/errors.hpp"
#include "io/matrix/file_seal.hpp"
#include "io/matrix/matrix_file.hpp"
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

/// What is open of the types that the readers open.
hsize_t open_ids() {
  hsize_t all = 0;
  for (const H5I_type_t type : {H5I_FILE, H5I_GROUP, H5I_DATATYPE, H5I_DATASPACE, H5I_DATASET, H5I_ATTR}) {
    hsize_t count = 0;
    if (H5Inmembers(type, &count) >= 0) all += count;
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hsize_t at_first = [] {
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return open_ids();
  }();
  if (size > io::seal_bytes) {
    const fuzz::MemoryFile file(data, size);
    const std::string seal = io::make_seal(file.fd());
    std::fstream(file.path(), std::ios::binary | std::ios::in | std::ios::out)
        .write(seal.data(), seal.size());
    read_stored<float>(file.path());
    read_stored<double>(file.path());
  }
  const fuzz::MemoryFile file(data, size);
  import(file.path());
  if (open_ids() != at_first) std::abort();
  return 0;
}
