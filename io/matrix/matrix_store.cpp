#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "io/files/atomic_file.hpp"
#include "io/files/errors.hpp"
#include "io/files/hdf5_handles.hpp"
#include "io/files/hdf5_inside.hpp"
#include "io/files/open_file.hpp"
#include "io/matrix/file_seal.hpp"
#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {
namespace {

constexpr hsize_t chunk_bytes = 1 << 20;
constexpr std::int64_t bookkeeping_bytes =
    24 << 10;  // what HDF5 writes around three small datasets, and the seal

constexpr const char* digest_attribute = "digest";

template <class T>
hid_t native_type() {
  return sizeof(T) == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}
template <class T>
hid_t file_type() {
  return sizeof(T) == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

/// Columns and rows of a chunk.
std::array<hsize_t, 2> chunk_of(std::int64_t rows, std::int64_t cols, std::size_t element_bytes) {
  const hsize_t elements = chunk_bytes / element_bytes;
  const hsize_t chunk_rows = std::min(static_cast<hsize_t>(rows), elements);
  return {std::clamp<hsize_t>(elements / chunk_rows, 1, static_cast<hsize_t>(cols)), chunk_rows};
}

/// Column-major data: to HDF5, which is row-major, a dataset of (cols, rows). Chunked with a checksum.
template <class T>
void write_dense(hid_t file, const std::string& name, const Dense<T>& matrix) {
  const hsize_t dims[2] = {static_cast<hsize_t>(matrix.cols), static_cast<hsize_t>(matrix.rows)};
  const std::array<hsize_t, 2> chunk = chunk_of(matrix.rows, matrix.cols, sizeof(T));
  const h5::Space space(H5Screate_simple(2, dims, nullptr), "make a space for " + name);
  const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE), "make dataset properties");
  h5::check(H5Pset_chunk(properties, 2, chunk.data()), "set chunks of " + name);
  h5::check(H5Pset_fletcher32(properties), "set the checksum of " + name);
  const h5::Dataset dataset(
      H5Dcreate2(file, name.c_str(), file_type<T>(), space, H5P_DEFAULT, properties, H5P_DEFAULT),
      "create " + name);
  h5::check(H5Dwrite(dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.data.data()),
            "write " + name);
  h5::write_attribute(dataset, "column_major", 1LL);
}

/// Reads /`name`; an absent one is empty. @throws h5::Error where it is damaged or no matrix
template <class T>
Dense<T> read_dense(hid_t file, const std::string& name) {
  Dense<T> matrix;
  if (h5::check(H5Lexists(file, name.c_str(), H5P_DEFAULT), "look for " + name) == 0) return matrix;
  const h5::Dataset dataset = h5::open_dataset(file, name);
  const h5::Space space(H5Dget_space(dataset), "read the shape of " + name);
  if (H5Sget_simple_extent_ndims(space) != 2) throw h5::Error(name + " is no matrix");
  const h5::Type type(H5Dget_type(dataset), "read the type of " + name);
  if (H5Tget_class(type) != H5T_FLOAT || H5Tget_size(type) != sizeof(T)) {
    throw h5::Error(name + " has elements of another type");
  }
  hsize_t dims[2];
  h5::check(H5Sget_simple_extent_dims(space, dims, nullptr), "read the shape of " + name);
  // a damaged header must not make us allocate what the file cannot hold
  hsize_t file_bytes = 0;
  h5::check(H5Fget_filesize(file, &file_bytes), "read the size of the file");
  if (dims[0] != 0 && dims[1] > file_bytes / sizeof(T) / dims[0])
    throw h5::Error(name + " is larger than its file");
  matrix.rows = static_cast<std::int64_t>(dims[1]);
  matrix.cols = static_cast<std::int64_t>(dims[0]);
  matrix.data.resize(dims[0] * dims[1]);
  h5::check(H5Dread(dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.data.data()),
            "read " + name);
  return matrix;
}

bool is_digest(const std::string& text) {
  return !text.empty() && text.size() <= 128 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Bytes of a regular file in a folder; 0 where there is none.
std::int64_t file_bytes(int folder, const std::string& name) {
  struct stat facts {};
  const bool found = ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  return found && S_ISREG(facts.st_mode) ? facts.st_size : 0;
}

/// A lock that dies with its holder.
class FileLock {
 public:
  /// @param path of the folder's file `path.filename()`, for words
  FileLock(int folder, const std::filesystem::path& path) {
    Opened opened = open_regular(path.filename(), O_RDWR | O_CREAT | O_NOFOLLOW, folder);
    if (!opened) throw StorageError("cannot open " + path.string() + ": " + opened.why);
    file_ = std::move(opened.file);
    while (::flock(file_.fd(), LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      // A file system without locks costs work done twice, not correctness: whoever is later renames the same
      // bytes over the same name.
      if (errno == ENOSYS || errno == ENOLCK || errno == EOPNOTSUPP) return;
      throw StorageError("cannot lock " + path.string() + ": " + std::strerror(errno));
    }
  }

 private:
  Descriptor file_;
};

/// What write_matrix and the store have in common: a file under construction filled, sealed and named.
template <class T>
void write_sealed(AtomicFile& target, const std::filesystem::path& path, const StoredMatrix<T>& matrix) {
  const h5::Quiet quiet;
  try {
    const h5::Properties creation(H5Pcreate(H5P_FILE_CREATE), "make file creation properties");
    h5::check(H5Pset_userblock(creation, seal_bytes), "leave room for the seal");
    h5::File file(H5Fcreate(target.temporary().c_str(), H5F_ACC_TRUNC, creation, h5::access_properties()),
                  "create '" + path.string() + "'");
    h5::write_attribute(file, "gaussweep", std::string("matrix"));
    for (const auto& [name, value] : matrix.attributes) h5::write_attribute(file, name, value);
    write_dense(file, "/A", matrix.a);
    if (!matrix.b.data.empty()) write_dense(file, "/b", matrix.b);
    if (!matrix.x_true.data.empty()) write_dense(file, "/x_true", matrix.x_true);
    file.close("finish '" + path.string() + "'");
  } catch (const h5::Error& e) {
    throw StorageError(path.string() + ": cannot be written: " + e.what());
  }
  const Opened written = open_regular(target.temporary());
  if (!written) throw StorageError(path.string() + ": cannot be read after it was written: " + written.why);
  const std::string seal = make_seal(written.file.fd());
  target.write(seal.data(), seal.size());
  target.commit();
}

/// Reads an open file. @throws InputError
template <class T>
StoredMatrix<T> read_sealed(const Descriptor& opened, const std::filesystem::path& path) {
  const std::string why = broken_seal(opened.fd());
  if (!why.empty()) throw InputError(path.string() + ": is no whole file of the matrix store: " + why);
  const h5::Quiet quiet;
  try {
    const h5::File file = h5::open_read_only(opened.path(), path);
    StoredMatrix<T> matrix;
    matrix.a = read_dense<T>(file, "/A");
    if (matrix.a.data.empty()) throw h5::Error("there is no /A");
    matrix.b = read_dense<T>(file, "/b");
    matrix.x_true = read_dense<T>(file, "/x_true");
    matrix.attributes = h5::read_texts(file);
    return matrix;
  } catch (const h5::Error& e) {
    throw InputError(path.string() + ": is no whole matrix file of " + std::to_string(8 * sizeof(T)) +
                     "-bit elements: " + e.what());
  }
}

void require_a(bool empty) {
  if (empty) throw std::invalid_argument("write_matrix: A is empty");
}

}  // namespace

template <class T>
void write_matrix(const std::filesystem::path& path, const StoredMatrix<T>& matrix) {
  require_a(matrix.a.data.empty());
  AtomicFile target(path);
  write_sealed(target, path, matrix);
}

template <class T>
StoredMatrix<T> read_matrix(const std::filesystem::path& path) {
  const Opened opened = open_regular(path);
  if (!opened)
    throw InputError(path.string() +
                     ": is no whole file of the matrix store: it cannot be opened: " + opened.why);
  return read_sealed<T>(opened.file, path);
}

MatrixStore::MatrixStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

std::filesystem::path MatrixStore::path_of(const std::string& digest) const {
  if (!is_digest(digest)) throw InputError("'" + digest + "' is no digest: hexadecimal digits are allowed");
  return directory_ / (digest + ".h5");
}

Descriptor MatrixStore::hold() const {
  Opened held = hold_folder(directory_);
  if (!held) throw StorageError(directory_.string() + "/: cannot be opened: " + held.why);
  return std::move(held.file);
}

template <class T>
StoredMatrix<T> MatrixStore::get(const std::string& digest, const std::function<StoredMatrix<T>()>& make,
                                 bool* made) {
  const std::filesystem::path path = path_of(digest);
  // Whatever takes the folder's name in the meantime, a link maybe: nothing is read or written through it.
  const Descriptor folder = hold();
  const auto stored = [&](StoredMatrix<T>& matrix) {
    const Opened opened = open_regular(path.filename(), O_RDONLY | O_NOFOLLOW, folder.fd());
    if (!opened) return false;  // writing it below says what else is wrong
    try {
      matrix = read_sealed<T>(opened.file, path);
      return matrix.attributes[digest_attribute] == digest;  // else it is another's, under this name
    } catch (const InputError&) {
      return false;  // damaged: it is made anew below
    }
  };
  StoredMatrix<T> matrix;
  if (made != nullptr) *made = false;
  if (stored(matrix)) return matrix;
  const std::filesystem::path lock_name = directory_ / (digest + ".lock");
  const FileLock lock(folder.fd(), lock_name);
  if (stored(matrix)) return matrix;  // another process made it while this one waited
  matrix = make();
  require_a(matrix.a.data.empty());
  matrix.attributes[digest_attribute] = digest;
  {
    AtomicFile target(folder.fd(), path);
    write_sealed(target, path, matrix);
  }
  // Who waits on the old lock still gets it, then finds the matrix.
  ::unlinkat(folder.fd(), lock_name.filename().c_str(), 0);
  if (made != nullptr) *made = true;
  return matrix;
}

std::map<std::string, std::int64_t> MatrixStore::inventory() const {
  std::map<std::string, std::int64_t> found;
  const Opened held = hold_folder(directory_);
  if (held.error == ENOENT) return found;
  std::error_code error(held.error, std::generic_category());
  if (held) {
    for (std::filesystem::directory_iterator entry(held.file.path(), error), end; !error && entry != end;
         entry.increment(error)) {
      const std::filesystem::path& path = entry->path();
      if (path.extension() != ".h5" || !is_digest(path.stem().string())) continue;
      const std::int64_t bytes = file_bytes(held.file.fd(), path.filename());
      if (bytes > 0) found[path.stem().string()] = bytes;
    }
  }
  if (error)
    throw StorageError(directory_.string() + "/: cannot be listed: " + (held ? error.message() : held.why));
  return found;
}

std::int64_t MatrixStore::bytes_of(const std::string& digest) const {
  const std::string name = path_of(digest).filename();
  const Opened held = hold_folder(directory_);
  return held ? file_bytes(held.file.fd(), name) : 0;
}

void MatrixStore::remove(const std::string& digest) {
  const std::filesystem::path path = path_of(digest);
  const Opened held = hold_folder(directory_);
  if (held.error == ENOENT) return;
  if (!held || (::unlinkat(held.file.fd(), path.filename().c_str(), 0) != 0 && errno != ENOENT))
    throw StorageError(path.string() + ": cannot be removed: " + (held ? std::strerror(errno) : held.why));
}

void MatrixStore::tidy() {
  // Housekeeping: what cannot be listed or removed is no reason to fail.
  const Opened held = hold_folder(directory_);
  if (!held) return;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(held.file.path(), ignored)) {
    const std::filesystem::path extension = entry.path().extension();
    if (extension == ".tmp" || extension == ".lock")
      ::unlinkat(held.file.fd(), entry.path().filename().c_str(), 0);
  }
}

std::int64_t MatrixStore::estimated_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nrhs,
                                          std::size_t element_bytes) {
  const auto dataset = [&](std::int64_t r, std::int64_t c) {
    const std::array<hsize_t, 2> chunk = chunk_of(r, c, element_bytes);
    const auto whole = [](std::int64_t length, hsize_t part) {
      return (length + static_cast<std::int64_t>(part) - 1) / static_cast<std::int64_t>(part);
    };
    const std::int64_t chunks = whole(c, chunk[0]) * whole(r, chunk[1]);
    constexpr std::int64_t a_chunk = 64;  // its checksum and its place in HDF5's index
    return chunks * (static_cast<std::int64_t>(chunk[0] * chunk[1] * element_bytes) + a_chunk);
  };
  const std::int64_t system = nrhs > 0 ? dataset(rows, nrhs) + dataset(cols, nrhs) : 0;
  return bookkeeping_bytes + dataset(rows, cols) + system;
}

template void write_matrix<float>(const std::filesystem::path&, const StoredMatrix<float>&);
template void write_matrix<double>(const std::filesystem::path&, const StoredMatrix<double>&);
template StoredMatrix<float> read_matrix<float>(const std::filesystem::path&);
template StoredMatrix<double> read_matrix<double>(const std::filesystem::path&);
template StoredMatrix<float> MatrixStore::get<float>(const std::string&,
                                                     const std::function<StoredMatrix<float>()>&, bool*);
template StoredMatrix<double> MatrixStore::get<double>(const std::string&,
                                                       const std::function<StoredMatrix<double>()>&, bool*);

}  // namespace gaussweep::io
