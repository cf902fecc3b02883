/// Fuzzes the readers of matrices in HDF5 and MATLAB files. Each input is read as a foreign file, and, with a
/// valid seal (its checksum), as a file of the matrix store. A child process calls these readers directly, as
/// a worker does: HDF5 may crash there, but no HDF5 id may stay open.
///
/// Inputs whose size is a multiple of 8, and those that ended the child, are also read as the program reads
/// foreign files: by functions that start a child themselves. A crash or hang of HDF5 must then become an
/// InputError.

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

constexpr double timeout_seconds = 0.5;  // a few times less than run.sh allows per input
// Larger matrices are not read: a small file may announce gigabytes, and the fuzzer does not test memory use.
constexpr std::int64_t max_elements = 1 << 16;

template <class T>
bool is_complete(const io::Dense<T>& matrix) {
  return static_cast<std::int64_t>(matrix.data.size()) == matrix.rows * matrix.cols;
}

template <class Read>
bool succeeds_or_refuses(const Read& read) {
  try {
    return read();
  } catch (const io::InputError&) {
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool import_in_child(const std::filesystem::path& path) {
  const io::MatrixInfo info = io::matrix_info_in_child(path, "", nullptr, timeout_seconds);
  return info.rows > max_elements / info.cols ||
         is_complete(io::import_matrix_in_child(path, "", timeout_seconds));
}

bool import_in_this_process(const std::filesystem::path& path) {
  const io::MatrixInfo info = io::matrix_info(path);
  return info.rows > max_elements / info.cols || is_complete(io::import_matrix(path));
}

/// Returns the number of open ids of files and their objects. Data spaces are not in it: H5Fget_obj_count
/// leaves them out, and H5Inmembers refuses the id types of HDF5 itself.
ssize_t open_ids() {
  const ssize_t count = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
  if (count < 0) std::abort();
  return count;
}

/// Requires that `work` succeeds in a child and leaves no id open. @return true if HDF5 ended the child
template <class Work>
bool require_success_in_child(const Work& work) {
  std::int64_t succeeded = 0;
  try {
    io::Child child(
        [&](io::ChildOutput& out) {
          const ssize_t before = open_ids();
          out.put(std::int64_t{work() && open_ids() == before});
        },
        timeout_seconds);
    succeeded = child.integer();
  } catch (const io::ChildFailed&) {
    return true;
  }
  if (succeeded != 1) std::abort();
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
  const bool ended = require_success_in_child(
      [&] { return succeeds_or_refuses([&] { return import_in_this_process(file.path()); }); });
  // Another process takes more time than everything else. So only inputs of certain sizes, and crashes, get
  // one.
  if ((ended || size % 8 == 0) && !succeeds_or_refuses([&] { return import_in_child(file.path()); }))
    std::abort();
  if (size > io::seal_bytes) {
    const std::string seal =
        io::sum_of_file(file.fd(), static_cast<off_t>(io::seal_bytes), static_cast<off_t>(size)).seal();
    std::fstream(file.path(), std::ios::binary | std::ios::in | std::ios::out)
        .write(seal.data(), static_cast<std::streamsize>(seal.size()));
    require_success_in_child([&] {
      return succeeds_or_refuses([&] { return is_complete(io::read_matrix<float>(file.path()).a); }) &&
             succeeds_or_refuses([&] { return is_complete(io::read_matrix<double>(file.path()).a); });
    });
  }
  fuzz::require_no_fault_in_our_code();
  return 0;
}
