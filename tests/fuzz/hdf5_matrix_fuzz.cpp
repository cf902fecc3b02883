/// Fuzzes the readers of matrices in HDF5 and MATLAB files: as a foreign file and, with a valid seal, as a
/// file of the store. One child reads every file, as a worker does: HDF5 may crash there, but no id may stay
/// open. Every eighth file, and each that ended the child, is also read as the program reads foreign files: a
/// crash or hang of HDF5 must become an InputError, like every other failure.

#include <hdf5.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "io/files/child.hpp"
#include "io/files/errors.hpp"
#include "io/matrix/file_seal.hpp"
#include "io/matrix/matrix_file.hpp"
#include "tests/fuzz/children.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace {

using namespace gaussweep;

constexpr double patience = 0.5;  // seconds; a few times less than run.sh allows per input
// A small file may announce gigabytes that it never stored; the fuzzer does not test memory use.
constexpr std::int64_t most_elements = 1 << 16;

template <class T>
bool whole(const io::Dense<T>& matrix) {
  return static_cast<std::int64_t>(matrix.data.size()) == matrix.rows * matrix.cols;
}

/// Returns true if `read` succeeds or throws an InputError.
template <class Read>
bool well(const Read& read) {
  try {
    return read();
  } catch (const io::InputError&) {
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool import_in_child(const std::filesystem::path& path) {
  const io::MatrixInfo info = io::matrix_info_in_child(path, "", nullptr, patience);
  return info.rows > most_elements / info.cols || whole(io::import_matrix_in_child(path, "", patience));
}

bool import_here(const std::filesystem::path& path) {
  const io::MatrixInfo info = io::matrix_info(path);
  return info.rows > most_elements / info.cols || whole(io::import_matrix(path));
}

/// Returns the number of open ids of files and their objects. (HDF5 does not count data spaces, and
/// H5Inmembers refuses all types of HDF5 itself.)
ssize_t open_ids() {
  const ssize_t count = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
  if (count < 0) std::abort();
  return count;
}

/// Requires that `work` succeeds in a child and leaves no id open. @return true if HDF5 ended the child
template <class Work>
bool require_well_in_child(const Work& work) {
  std::int64_t went_well = 0;
  try {
    io::Child child(
        [&](io::ChildOutput& out) {
          const ssize_t before = open_ids();
          out.put(std::int64_t{work() && open_ids() == before});
        },
        patience);
    went_well = child.integer();
  } catch (const io::ChildFailed&) {
    return true;
  }
  if (went_well != 1) std::abort();
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool prepared = [] {
    fuzz::prepare_for_children();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  if (!prepared) std::abort();
  const fuzz::MemoryFile file(data, size);
  const bool ended = require_well_in_child([&] { return well([&] { return import_here(file.path()); }); });
  // Another process costs more than all the rest, so only every eighth input that HDF5 survives gets one.
  if ((ended || size % 8 == 0) && !well([&] { return import_in_child(file.path()); })) std::abort();
  if (size > io::seal_bytes) {
    const std::string seal =
        io::sum_of_file(file.fd(), static_cast<off_t>(io::seal_bytes), static_cast<off_t>(size)).seal();
    std::fstream(file.path(), std::ios::binary | std::ios::in | std::ios::out)
        .write(seal.data(), static_cast<std::streamsize>(seal.size()));
    require_well_in_child([&] {
      return well([&] { return whole(io::read_matrix<float>(file.path()).a); }) &&
             well([&] { return whole(io::read_matrix<double>(file.path()).a); });
    });
  }
  fuzz::require_no_fault_of_ours();
  return 0;
}
