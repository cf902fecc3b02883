#pragma once
/// Matrices in files: the run directory's store (one HDF5 file a digest), Matrix Market, NumPy, MATLAB
/// and HDF5. Elements are read as double, column-major; the store keeps the trial's own precision.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "io/files/digest.hpp"
#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// A dense column-major matrix, ld == rows.
template <class T>
struct Dense {
  std::int64_t rows = 0, cols = 0;
  std::vector<T> data;
};

/// The words of a stored matrix: "kind", "generator", "seed", … : see io/SCHEMA.md.
using MatrixAttributes = std::map<std::string, std::string>;

/// A stored system: A, and b and x_true where they are known (empty otherwise), with the generator's words.
template <class T>
struct StoredMatrix {
  Dense<T> a, b, x_true;
  MatrixAttributes attributes;
};

/// A dense column-major matrix that somebody else holds, ld == rows.
template <class T>
struct DenseView {
  DenseView() = default;
  DenseView(std::int64_t r, std::int64_t c, const T* d) : rows(r), cols(c), data(d) {}
  DenseView(const Dense<T>& dense)  // NOLINT: a view of it is what is wanted
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

/// Where a write stands: between two pieces of some 3 MiB, or before something for which this process only
/// waits: another's lock, the sync.
enum class WriteStep { piece, wait };
/// Called there, never in the middle of a call of HDF5: it may wait. What it throws ends the write, which
/// leaves nothing behind.
using BetweenWrites = std::function<void(WriteStep)>;

struct MatrixSize {
  std::int64_t rows = 0, cols = 0;
};

/// What `matrix info` says of any readable file.
struct MatrixInfo {
  std::string format;   ///< "gaussweep", "hdf5", "matlab", "matrix market", "npy"
  std::string dataset;  ///< the HDF5 path that would be read
  std::int64_t rows = 0, cols = 0, stored_entries = 0;
  std::string field, symmetry;  ///< "real", "integer" / "general", "symmetric", "skew-symmetric"
  std::map<std::string, std::string> attributes;
};

/// The operand that a file is read for. It decides which names are usual: A, or b.
enum class Operand { matrix, right_hand_sides, right_hand_sides_beside_matrix };

/// Selects a matrix of an HDF5 or MATLAB file.
struct DatasetChoice {
  DatasetChoice(std::string wanted = {}, Operand read_for = Operand::matrix)  // NOLINT: a name is a choice
      : name(std::move(wanted)), operand(read_for) {}
  DatasetChoice(const char* wanted) : name(wanted) {}  // NOLINT

  std::string name;  ///< a path: /A, Problem.A; empty: the usual name, else the only matrix of the file
  Operand operand = Operand::matrix;
};

/// Reads a matrix from a Matrix Market, NumPy, MATLAB or HDF5 file, told apart by content, not by name. A
/// vector is a column.
/// @param sha256 where given, becomes the file's (of a text file without reading it twice)
/// @throws InputError: unreadable, malformed (file:line for Matrix Market), complex, sparse MATLAB v7.3,
/// empty, too large
Dense<double> import_matrix(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                            std::string* sha256 = nullptr);
/// The same without the elements, which of a Matrix Market file are read and checked all the same.
MatrixInfo matrix_info(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                       std::string* sha256 = nullptr);

/// The same two, for files that others may have made. Where a library would read the file, a child process
/// does: libraries crash on some damaged files and never end on others.
/// @pre this process is no rank of MPI, for a child of one must not be forked
/// @param patience seconds that each may take besides those that the file's size and the matrix's explain
/// @throws InputError as above, and where the child crashed or lost all patience
Dense<double> import_matrix_apart(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                                  double patience = 60);
MatrixInfo matrix_info_apart(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                             std::string* sha256 = nullptr, double patience = 60);
/// Rows and columns as the file announces them. Reads only the header, so it is fast for any file.
/// @throws InputError as the functions above
MatrixSize matrix_size_apart(const std::filesystem::path& path, const DatasetChoice& dataset = {},
                             double patience = 60);
/// Returns true if HDF5 would read the file: it is neither Matrix Market nor NumPy's nor MATLAB's of version
/// 4 or 5.
/// @throws InputError where there is no such file, or none that could be read
bool left_to_library(const std::filesystem::path& path);

/// Writes Matrix Market array format (%.17g: exact), atomically.
/// @throws InputError: a holds NaN or Inf; StorageError
void export_matrix_market(const std::filesystem::path& path, const Dense<double>& a);

/// Writes a file of the store, with checksums, atomically. @throws StorageError; std::invalid_argument: no A
template <class T>
void write_matrix(const std::filesystem::path& path, const SystemView<T>& system,
                  const MatrixAttributes& attributes);
template <class T>
void write_matrix(const std::filesystem::path& path, const StoredMatrix<T>& matrix) {
  write_matrix(path, SystemView<T>{matrix.a, matrix.b, matrix.x_true}, matrix.attributes);
}
/// Reads it back. @throws InputError where it is not whole, not the store's, or not of T
template <class T>
StoredMatrix<T> read_matrix(const std::filesystem::path& path);

/// DIR/matrices holds each matrix once, even when several processes store it at the same moment. A place in
/// the file .store.lock is a lock that dies with its holder. The others wait and find the matrix there. Where
/// a link has taken the folder's place it is not followed.
class MatrixStore {
 public:
  explicit MatrixStore(std::filesystem::path directory);
  /// Where the matrix of this digest stands, or would. @throws InputError where it is no digest
  std::filesystem::path path_of(const std::string& digest) const;
  /// Reads the matrix of this digest into `matrix`, whose memory is used again. It has the attribute
  /// "digest".
  /// @return false where there is none: no file, a damaged one, or one of another digest than its name says
  /// @throws StorageError where the folder cannot be opened
  template <class T>
  bool find(const std::string& digest, StoredMatrix<T>& matrix);
  /// Stores a matrix unless it is there; a file that is damaged, of another digest or of another shape is
  /// replaced. The file has the attribute "digest" in addition to those given.
  /// @return whether it was written @throws StorageError, what `between` throws; std::invalid_argument: no A
  template <class T>
  bool put(const std::string& digest, const SystemView<T>& system, MatrixAttributes attributes,
           const BetweenWrites& between = {});
  /// What is stored: digest → bytes. An absent folder holds nothing. @throws StorageError
  std::map<std::string, std::int64_t> inventory() const;
  /// Bytes of one matrix; 0 where it is not stored.
  std::int64_t bytes_of(const std::string& digest) const;
  /// Removes one matrix, if it is there. @throws StorageError
  void remove(const std::string& digest);
  /// Removes temporaries that killed writers left, and the file of locks. Only while nobody writes.
  void tidy();
  /// Bytes that the file of a batch of systems takes, a little more rather than less. It holds A of
  /// rows x cols, and for nrhs > 0 b and x_true.
  static std::int64_t estimated_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nrhs,
                                      std::size_t element_bytes, std::int64_t batch = 1);

 private:
  Descriptor hold() const;
  std::filesystem::path directory_;
};

}  // namespace gaussweep::io
