/// Reads and writes the matrix store of a run directory. It has one HDF5 file per matrix, named by the
/// matrix's digest. Each file begins with a seal, a checksum of the rest (file_seal.hpp).

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/files/hdf5_handles.hpp"
#include "io/files/hdf5_inside.hpp"
#include "io/files/open_file.hpp"
#include "io/matrix/file_seal.hpp"
#include "io/matrix/matrix_elements.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {
namespace {

// An upper estimate of the seal and of HDF5's metadata for three datasets and the attributes. 9000 bytes were
// measured.
constexpr std::int64_t bookkeeping_bytes = 12 << 10;

constexpr const char* digest_attribute = "digest";
constexpr const char* lock_name = ".store.lock";

template <class T>
hid_t native_type() {
  return sizeof(T) == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}
struct Shape {
  std::int64_t rows = 0, cols = 0;
};
/// Returns the shape of a dataset. @throws h5::Error if it is not a matrix of real elements of
/// `element_bytes`
Shape read_shape(const h5::Dataset& dataset, const std::string& name, std::size_t element_bytes) {
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + name);
  if (H5Sget_simple_extent_ndims(space) != 2) throw h5::Error(name + " is no matrix");
  const h5::Type type(H5Dget_type(dataset), "read the type of " + name);
  if (H5Tget_class(type) != H5T_FLOAT || H5Tget_size(type) != element_bytes)
    throw h5::Error(name + " has elements of another type");
  hsize_t dims[2];
  h5::check(H5Sget_simple_extent_dims(space, dims, nullptr), "read the shape of " + name);
  return {static_cast<std::int64_t>(dims[1]), static_cast<std::int64_t>(dims[0])};
}
/// Reads /`name`; an absent dataset gives an empty matrix. @throws h5::Error if it is damaged or not a matrix
template <class T>
void read_dense(hid_t file, const std::string& name, Dense<T>& matrix) {
  matrix.rows = matrix.cols = 0;
  if (h5::check(H5Lexists(file, name.c_str(), H5P_DEFAULT), "look for " + name) == 0) {
    matrix.data.clear();
    return;
  }
  const h5::Dataset dataset = h5::open_dataset(file, name);
  const Shape shape = read_shape(dataset, name, sizeof(T));
  const auto rows = static_cast<hsize_t>(shape.rows), cols = static_cast<hsize_t>(shape.cols);
  // A damaged header must not cause an allocation that exceeds the file's size.
  hsize_t file_bytes = 0;
  h5::check(H5Fget_filesize(file, &file_bytes), "read the size of the file");
  if (cols != 0 && rows > file_bytes / sizeof(T) / cols) throw h5::Error(name + " is larger than its file");
  matrix.rows = shape.rows;
  matrix.cols = shape.cols;
  matrix.data.resize(rows * cols);
  h5::check(H5Dread(dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.data.data()),
            "read " + name);
}

bool is_digest(const std::string& text) {
  return !text.empty() && text.size() <= 128 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Returns the bytes of a regular file in a folder; 0 if there is none.
std::int64_t file_bytes(int folder, const std::string& name) {
  struct stat file_status {};
  const bool found = ::fstatat(folder, name.c_str(), &file_status, AT_SYMLINK_NOFOLLOW) == 0;
  return found && S_ISREG(file_status.st_mode) ? file_status.st_size : 0;
}

/// The lock of one matrix: one byte of the store's lock file, at an offset made from the digest. The system
/// releases it when the holder ends. A lock file per matrix would take longer than writing a small matrix.
class MatrixLock {
 public:
  /// @param path of the lock file, for messages; it is opened as `path.filename()` in `folder`
  MatrixLock(int folder, const std::filesystem::path& path, const std::string& digest) {
    Opened opened = open_regular(path.filename(), O_RDWR | O_CREAT | O_NOFOLLOW, folder);
    if (!opened) throw StorageError("cannot open " + path.string() + ": " + opened.why);
    file_ = std::move(opened.file);
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    // 15 hexadecimal digits are 60 bits, which fit in the signed 64-bit offset. Two digests with equal first
    // digits only share a lock.
    range.l_start = static_cast<off_t>(std::stoull(digest.substr(0, 15), nullptr, 16));
    range.l_len = 1;
    // An open-file-description lock belongs to the open file and not to the process, unlike POSIX locks.
    while (::fcntl(file_.fd(), F_OFD_SETLKW, &range) != 0) {
      if (errno == EINTR) continue;
      // Without locks, two processes may both write the matrix. The result is still correct, because the
      // later one renames the same bytes to the same name.
      if (errno == ENOSYS || errno == ENOLCK || errno == EOPNOTSUPP || errno == EINVAL) return;
      throw StorageError("cannot lock " + path.string() + ": " + std::strerror(errno));
    }
  }

 private:
  Descriptor file_;
};

/// Writes everything except the elements with HDF5. @return the elements and their offsets in the file
template <class T>
std::vector<ElementRange> write_hdf5(const AtomicFile& target, const std::filesystem::path& path,
                                     const SystemView<T>& system, const MatrixAttributes& attributes) {
  const h5::Quiet quiet;
  try {
    const h5::Properties creation(H5Pcreate(H5P_FILE_CREATE), "make file creation properties");
    h5::check(H5Pset_userblock(creation, seal_bytes), "leave room for the seal");
    h5::File file(H5Fcreate(target.temporary().c_str(), H5F_ACC_TRUNC, creation, h5::access_properties()),
                  "create '" + path.string() + "'");
    h5::write_attribute(file, "gaussweep", std::string("matrix"));
    for (const auto& [name, value] : attributes) h5::write_attribute(file, name, value);
    std::vector<ElementRange> ranges{create_dense(file, "/A", system.a)};
    if (!system.b.empty()) ranges.push_back(create_dense(file, "/b", system.b));
    if (!system.x_true.empty()) ranges.push_back(create_dense(file, "/x_true", system.x_true));
    file.close("finish '" + path.string() + "'");
    std::sort(ranges.begin(), ranges.end(),
              [](const ElementRange& x, const ElementRange& y) { return x.begin < y.begin; });
    return ranges;
  } catch (const h5::Error& e) {
    throw StorageError(path.string() + ": cannot be written: " + e.what());
  }
}

/// Writes the datasets and the seal of a file under construction, and gives it its final name.
template <class T>
void write_sealed(AtomicFile& target, const std::filesystem::path& path, const SystemView<T>& system,
                  const MatrixAttributes& attributes, Durable durable, const WriteCallback& between) {
  const std::vector<ElementRange> ranges = write_hdf5(target, path, system, attributes);
  const Opened created = open_regular(target.temporary(), O_RDWR);
  if (!created) throw StorageError(path.string() + ": cannot be opened after it was made: " + created.why);
  try {
    const std::string seal = write_elements(created.file.fd(), ranges, between);
    target.write(seal.data(), seal.size());
  } catch (const StorageError& error) {
    throw StorageError(path.string() + ": " + error.what());
  }
  if (between) between(WriteStep::wait);
  target.commit(durable);
}

/// Reads an open file. @throws InputError
template <class T>
void read_sealed(const Descriptor& opened, const std::filesystem::path& path, StoredMatrix<T>& matrix) {
  const std::string why = broken_seal(opened.fd());
  if (!why.empty()) throw InputError(path.string() + ": is not an intact file of the matrix store: " + why);
  const h5::Quiet quiet;
  try {
    const h5::File file = h5::open_read_only(opened.path(), path);
    read_dense(file, "/A", matrix.a);
    if (matrix.a.data.empty()) throw h5::Error("there is no /A");
    read_dense(file, "/b", matrix.b);
    read_dense(file, "/x_true", matrix.x_true);
    matrix.attributes = h5::read_texts(file);
  } catch (const h5::Error& e) {
    throw InputError(path.string() + ": is not an intact matrix file of " + std::to_string(8 * sizeof(T)) +
                     "-bit elements: " + e.what());
  }
}

/// Returns true if /`name` has the shape and element type of a matrix; an absent dataset matches an empty
/// matrix.
template <class T>
bool has_shape(hid_t file, const char* name, const DenseView<T>& matrix) {
  if (h5::check(H5Lexists(file, name, H5P_DEFAULT), "look for " + std::string(name)) == 0)
    return matrix.empty();
  const Shape found = read_shape(h5::open_dataset(file, name), name, sizeof(T));
  return found.rows == matrix.rows && found.cols == matrix.cols;
}

/// Returns true if an open file is intact and contains a system with this shape and digest.
template <class T>
bool holds_system(const Descriptor& opened, const std::filesystem::path& path, const std::string& digest,
                  const SystemView<T>& system) {
  if (!broken_seal(opened.fd()).empty()) return false;
  const h5::Quiet quiet;
  try {
    const h5::File file = h5::open_read_only(opened.path(), path);
    const MatrixAttributes found = h5::read_texts(file);
    const auto stored_digest = found.find(digest_attribute);
    return stored_digest != found.end() && stored_digest->second == digest &&
           has_shape(file, "/A", system.a) && has_shape(file, "/b", system.b) &&
           has_shape(file, "/x_true", system.x_true);
  } catch (const h5::Error&) {
    return false;  // any damaged file is replaced
  }
}

void require_a(bool empty) {
  if (empty) throw std::invalid_argument("write_matrix: A is empty");
}

}  // namespace

template <class T>
void write_matrix(const std::filesystem::path& path, const SystemView<T>& system,
                  const MatrixAttributes& attributes) {
  require_a(system.a.empty());
  AtomicFile target(path);
  write_sealed(target, path, system, attributes, Durable::yes, {});
}

template <class T>
StoredMatrix<T> read_matrix(const std::filesystem::path& path) {
  const Opened opened = open_regular(path);
  if (!opened)
    throw InputError(path.string() +
                     ": is not an intact file of the matrix store: it cannot be opened: " + opened.why);
  StoredMatrix<T> matrix;
  read_sealed(opened.file, path, matrix);
  return matrix;
}

MatrixStore::MatrixStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

std::filesystem::path MatrixStore::path_of(const std::string& digest) const {
  if (!is_digest(digest)) throw InputError("'" + digest + "' is no digest: hexadecimal digits are allowed");
  return directory_ / (digest + ".h5");
}

Descriptor MatrixStore::opened_directory() const {
  Opened folder_opened = open_folder(directory_);
  if (!folder_opened) throw StorageError(directory_.string() + "/: cannot be opened: " + folder_opened.why);
  return std::move(folder_opened.file);
}

template <class T>
bool MatrixStore::find(const std::string& digest, StoredMatrix<T>& matrix) {
  const std::filesystem::path path = path_of(digest);
  // The folder stays open, so that a link that replaces the folder in the meantime is not followed.
  const Descriptor folder = opened_directory();
  const Opened opened = open_regular(path.filename(), O_RDONLY | O_NOFOLLOW, folder.fd());
  if (!opened) return false;  // a later put reports other errors
  try {
    read_sealed(opened.file, path, matrix);
    return matrix.attributes[digest_attribute] == digest;  // if they differ, the file has the wrong name
  } catch (const InputError&) {
    return false;  // a damaged file counts as absent
  }
}

template <class T>
bool MatrixStore::put(const std::string& digest, const SystemView<T>& system, MatrixAttributes attributes,
                      const WriteCallback& between) {
  require_a(system.a.empty());
  const std::filesystem::path path = path_of(digest);
  const Descriptor folder = opened_directory();
  if (between) between(WriteStep::wait);
  const MatrixLock lock(folder.fd(), directory_ / lock_name, digest);
  if (between) between(WriteStep::block);
  {
    const Opened opened = open_regular(path.filename(), O_RDONLY | O_NOFOLLOW, folder.fd());
    if (opened && holds_system(opened.file, path, digest, system)) return false;
  }
  attributes[digest_attribute] = digest;
  AtomicFile target(folder.fd(), path);
  // Does not sync the file, because every run would then wait for gigabytes to reach the disk. If a power
  // failure leaves a file incomplete, its seal reveals that, and the file is written again.
  write_sealed(target, path, system, attributes, Durable::no, between);
  return true;
}

std::map<std::string, std::int64_t> MatrixStore::inventory() const {
  std::map<std::string, std::int64_t> found;
  const Opened folder_opened = open_folder(directory_);
  if (folder_opened.error == ENOENT) return found;
  std::error_code error(folder_opened.error, std::generic_category());
  if (folder_opened) {
    for (std::filesystem::directory_iterator entry(folder_opened.file.path(), error), end;
         !error && entry != end; entry.increment(error)) {
      const std::filesystem::path& path = entry->path();
      if (path.extension() != ".h5" || !is_digest(path.stem().string())) continue;
      const std::int64_t bytes = file_bytes(folder_opened.file.fd(), path.filename());
      if (bytes > 0) found[path.stem().string()] = bytes;
    }
  }
  if (error)
    throw StorageError(directory_.string() +
                       "/: cannot be listed: " + (folder_opened ? error.message() : folder_opened.why));
  return found;
}

std::int64_t MatrixStore::bytes_of(const std::string& digest) const {
  const std::string name = path_of(digest).filename();
  const Opened folder_opened = open_folder(directory_);
  return folder_opened ? file_bytes(folder_opened.file.fd(), name) : 0;
}

void MatrixStore::remove(const std::string& digest) {
  const std::filesystem::path path = path_of(digest);
  const Opened folder_opened = open_folder(directory_);
  if (folder_opened.error == ENOENT) return;
  if (!folder_opened ||
      (::unlinkat(folder_opened.file.fd(), path.filename().c_str(), 0) != 0 && errno != ENOENT))
    throw StorageError(path.string() +
                       ": cannot be removed: " + (folder_opened ? std::strerror(errno) : folder_opened.why));
}

void MatrixStore::tidy() {
  // Files that cannot be listed or removed are ignored, since this is only housekeeping.
  const Opened folder_opened = open_folder(directory_);
  if (!folder_opened) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_opened.file.path(), ignored)) {
    const std::filesystem::path extension = entry.path().extension();
    if (extension == ".tmp" || extension == ".lock")
      ::unlinkat(folder_opened.file.fd(), entry.path().filename().c_str(), 0);
  }
}

std::int64_t MatrixStore::estimated_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nrhs,
                                          std::size_t element_bytes, std::int64_t batch) {
  const std::int64_t elements = rows * cols + (nrhs > 0 ? (rows + cols) * nrhs : 0);
  return bookkeeping_bytes + batch * elements * static_cast<std::int64_t>(element_bytes);
}

template void write_matrix(const std::filesystem::path&, const SystemView<float>&, const MatrixAttributes&);
template void write_matrix(const std::filesystem::path&, const SystemView<double>&, const MatrixAttributes&);
template StoredMatrix<float> read_matrix<float>(const std::filesystem::path&);
template StoredMatrix<double> read_matrix<double>(const std::filesystem::path&);
template bool MatrixStore::find<float>(const std::string&, StoredMatrix<float>&);
template bool MatrixStore::find<double>(const std::string&, StoredMatrix<double>&);
template bool MatrixStore::put<float>(const std::string&, const SystemView<float>&, MatrixAttributes,
                                      const WriteCallback&);
template bool MatrixStore::put<double>(const std::string&, const SystemView<double>&, MatrixAttributes,
                                       const WriteCallback&);

}  // namespace gaussweep::io
