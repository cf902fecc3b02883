/// The readers of matrices in HDF5 and MATLAB files on damaged ones: as a foreign file, and, behind a seal
/// that fits, as one of the store's. Once as the program reads files from elsewhere: a crash or a hang of
/// HDF5 is an InputError, and nothing else is. And once all in a child, as a worker reads them, where HDF5
/// may crash, but no id stays open.

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

constexpr double patience = 0.5;  // seconds, a few times less than run.sh gives an input
// A small file may announce gigabytes that it never stored: memory is not what is tried here.
constexpr std::int64_t most_elements = 1 << 16;

template <class T>
bool whole(const io::Dense<T>& matrix) {
  return static_cast<std::int64_t>(matrix.data.size()) == matrix.rows * matrix.cols;
}

/// Whether `read` gives true or an InputError.
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

bool import_apart(const std::filesystem::path& path) {
  const io::MatrixInfo info = io::matrix_info_apart(path, "", nullptr, patience);
  return info.rows > most_elements / info.cols || whole(io::import_matrix_apart(path, "", patience));
}

bool import_here(const std::filesystem::path& path) {
  const io::MatrixInfo info = io::matrix_info(path);
  return info.rows > most_elements / info.cols || whole(io::import_matrix(path));
}

/// What is open of files and of what stands in them. (HDF5 counts no data spaces, and H5Inmembers refuses all
/// types of its own.)
ssize_t open_ids() {
  const ssize_t count = H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
  if (count < 0) std::abort();
  return count;
}

/// Requires of `work`, in a child, that it goes well and leaves no id open. @return whether HDF5 ended the
/// child
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
  // A process more costs more than all the rest: of what HDF5 stands, each eighth does.
  if ((ended || size % 8 == 0) && !well([&] { return import_apart(file.path()); })) std::abort();
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
