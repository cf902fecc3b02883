#pragma once
/// Matrices in files: Matrix Market, NumPy, MATLAB, HDF5, and the run directory's store. The store has one
/// HDF5 file per digest, which identifies the matrix. Matrices are column-major. The store keeps the trial's
/// precision; other files are read as double.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/files/digest.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// A dense column-major matrix whose leading dimension is `rows`.
template <class T>
struct Dense {
  std::int64_t rows = 0, cols = 0;
  std::vector<T> data;
};

/// The attributes of a stored matrix: "kind", "generator", "seed", … (see io/SCHEMA.md).
using MatrixAttributes = std::map<std::string, std::string>;

/// A stored system: A, b and x_true (empty if unknown), and the generator's attributes.
template <class T>
struct StoredMatrix {
  Dense<T> a, b, x_true;
  MatrixAttributes attributes;
};

/// A non-owning view of a dense column-major matrix whose leading dimension is `rows`.
template <class T>
struct DenseView {
  DenseView() = default;
  DenseView(std::int64_t r, std::int64_t c, const T* d) : rows(r), cols(c), data(d) {}
  DenseView(const Dense<T>& dense)  // NOLINT: implicit conversion to a view is intended
      : rows(dense.rows), cols(dense.cols), data(dense.data.empty() ? nullptr : dense.data.data()) {}
  bool empty() const { return data == nullptr || rows == 0 || cols == 0; }

  std::int64_t rows = 0, cols = 0;
  const T* data = nullptr;
};

/// A system to be stored.
template <class T>
struct SystemView {
  DenseView<T> a, b, x_true;
};

/// The points at which a write calls its WriteCallback. `block`: between two blocks of about 3 MiB. `wait`:
/// before the process waits for a lock that another process holds, or for a sync.
enum class WriteStep { block, wait };
/// A callback at the points of WriteStep, never inside a call of HDF5. It may block. An exception ends the
/// write, which then leaves no file.
using WriteCallback = std::function<void(WriteStep)>;

struct MatrixSize {
  std::int64_t rows = 0, cols = 0;
};

/// The output of `matrix info` for any readable file.
struct MatrixInfo {
  std::string format;   ///< "gaussweep", "hdf5", "matlab", "matrix market", "npy"
  std::string dataset;  ///< HDF5 path or variable that import_matrix reads
  std::int64_t rows = 0, cols = 0, stored_entries = 0;
  std::string field, symmetry;  ///< "real", "integer" / "general", "symmetric", "skew-symmetric"
  std::map<std::string, std::string> attributes;
};

/// The operand that a file is read for: A (`matrix`) or b. It determines the default dataset names.
/// `right_hand_sides_in_same_file`: b, and A is read from the same file.
enum class Operand { matrix, right_hand_sides, right_hand_sides_in_same_file };

/// Selects a matrix of an HDF5 or MATLAB file.
struct DatasetChoice {
  DatasetChoice(std::string wanted = {}, Operand read_for = Operand::matrix)  // NOLINT: a name is a choice
      : name(std::move(wanted)), operand(read_for) {}
  DatasetChoice(const char* wanted) : name(wanted) {}  // NOLINT

  /// A path like /A or Problem.A. If it is empty, a default name is read. If the file has none of the default
  /// names, its only matrix is read.
  std::string name;
  Operand operand = Operand::matrix;
};

/// Reads a matrix from a Matrix Market, NumPy, MATLAB or HDF5 file. The format is detected by content, not by
/// name. A vector is read as a column.
/// @param sha256 if given, receives the file's digest (text files are not read twice)
/// @throws InputError if the file is unreadable, malformed (file:line for Matrix Market), complex, sparse
/// MATLAB v7.3, empty or too large
Dense<double> import_matrix(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                            std::string* sha256 = nullptr);
/// Returns the description of the matrix that import_matrix reads. The elements of Matrix Market files are
/// read and checked too.
MatrixInfo matrix_info(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                       std::string* sha256 = nullptr);

/// Do the same for untrusted files. If libhdf5 has to read the file, this is done in a child process, because
/// libhdf5 crashes on some damaged files and hangs on others.
/// @pre this process is no MPI rank, because forking a rank is not allowed
/// @param extra_seconds seconds in addition to the time limit that follows from the sizes of the file and the
/// matrix
/// @throws InputError like import_matrix, and if the child crashed or timed out
Dense<double> import_matrix_in_child(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                                     double extra_seconds = 60);
MatrixInfo matrix_info_in_child(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                                std::string* sha256 = nullptr, double extra_seconds = 60);
/// Returns the rows and columns in the file's header. Reads only the header, so it is fast for any file.
/// @throws InputError like import_matrix_in_child
MatrixSize matrix_size_in_child(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                                double extra_seconds = 60);
/// Returns true if HDF5 has to read the file: it is not Matrix Market, NumPy, or MATLAB of version 4 or 5.
/// @throws InputError if the file does not exist or cannot be read
bool needs_hdf5(const std::filesystem::path& path);

/// Writes Matrix Market array format atomically, with 17 significant digits, so that reading it back is
/// exact.
/// @throws InputError if a holds NaN or Inf; StorageError
void export_matrix_market(const std::filesystem::path& path, const Dense<double>& a);

/// Writes a file of the store, with checksums, atomically. @throws StorageError; std::invalid_argument if A
/// is empty
template <class T>
void write_matrix(const std::filesystem::path& path, const SystemView<T>& system,
                  const MatrixAttributes& attributes);
template <class T>
void write_matrix(const std::filesystem::path& path, const StoredMatrix<T>& matrix) {
  write_matrix(path, SystemView<T>{matrix.a, matrix.b, matrix.x_true}, matrix.attributes);
}
/// Reads a file of the store. @throws InputError if it is damaged, not a file of the store, or not of type T
template <class T>
StoredMatrix<T> read_matrix(const std::filesystem::path& path);

/// The folder DIR/matrices with one file per matrix. If several processes store a matrix concurrently, only
/// one writes it: a writer locks a byte of the file .store.lock, and the others wait and then find the
/// matrix. The system releases the lock if the writer dies. The folder is not opened if a link has replaced
/// it.
class MatrixStore {
 public:
  explicit MatrixStore(std::filesystem::path directory);
  /// Returns the path of the matrix with this digest, stored or not. @throws InputError if `digest` is
  /// malformed
  std::filesystem::path path_of(const std::string& digest) const;
  /// Reads the matrix of this digest into `matrix`, reusing the memory of `matrix`. The matrix has the
  /// attribute "digest".
  /// @return false if there is no intact file with this digest in its name and content
  /// @throws StorageError if the folder cannot be opened
  template <class T>
  bool find(const std::string& digest, StoredMatrix<T>& matrix);
  /// Stores a matrix unless it is already stored; replaces a file that is damaged or has another digest or
  /// shape. Adds the attribute "digest" to the given ones.
  /// @return true if it was written @throws StorageError, exceptions of `between`; std::invalid_argument if A
  /// is empty
  template <class T>
  bool put(const std::string& digest, const SystemView<T>& system, MatrixAttributes attributes,
           const WriteCallback& between = {});
  /// Returns the bytes of each stored matrix by digest; an absent folder is empty. @throws StorageError
  std::map<std::string, std::int64_t> inventory() const;
  /// Returns the bytes of one matrix; 0 if it is not stored.
  std::int64_t bytes_of(const std::string& digest) const;
  /// Removes one matrix if it is stored. @throws StorageError
  void remove(const std::string& digest);
  /// Removes the lock file and the temporary files of killed writers. @pre no process writes to the store
  void tidy();
  /// Returns a slight overestimate of the file size for a batch of systems: A of rows x cols and, if nrhs >
  /// 0, b and x_true.
  static std::int64_t estimated_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nrhs,
                                      std::size_t element_bytes, std::int64_t batch = 1);

 private:
  /// Opens the store's folder. @throws StorageError
  Descriptor opened_directory() const;
  std::filesystem::path directory_;
};

}  // namespace gaussweep::io
