#pragma once
/// The layers that read MATLAB's files of versions 4 and 5: MatBytes decompresses bytes, and MatVariables
/// collects variables. For mat*.cpp only.

#include <zlib.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/files/open_file.hpp"
#include "io/matrix/dataset_choice.hpp"
#include "io/matrix/file_elements.hpp"

namespace gaussweep::io {

/// Thrown if the file contradicts its own tags, sizes or checksums.
struct BrokenMat : std::runtime_error {
  using std::runtime_error::runtime_error;
};
constexpr const char* mat_cut_off = "it is cut off, or damaged";

/// Reads a section of a file sequentially, and decompresses it if it is deflated.
class MatBytes {
 public:
  /// Starts at offset `begin` of the file. @param end the offset behind the section's last byte
  MatBytes(const Descriptor& file, off_t begin, off_t end, bool is_deflated);
  ~MatBytes();
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;
  /// @throws BrokenMat if there are fewer bytes
  void read(void* to, std::size_t bytes);
  void skip(std::size_t bytes);
  /// Requires that the section ends here, and verifies zlib's checksum. @throws BrokenMat
  void end();

 private:
  void inflate_to(unsigned char* to, std::size_t bytes);

  const Descriptor& file_;
  off_t at_, end_;                    ///< the next byte in the file, and the end of the section
  std::unique_ptr<z_stream> stream_;  ///< null if the section is not compressed
  int state_ = Z_OK;                  ///< the last result of inflate
  unsigned char block_[1 << 14];
};

/// Numbers of a sparse matrix, converted to double: its row indices, its column indices or starts, or its
/// entries.
struct MatNumbers {
  std::vector<double> values;
  std::size_t exact_count = 0;  ///< number of values before the first one that double does not represent
  std::string first_inexact;    ///< the bytes of the first value that double does not represent
  ElementType type;
};
/// Reads the next `count` numbers. @throws BrokenMat if there are fewer bytes
MatNumbers read_numbers(MatBytes& source, const ElementType& type, std::size_t count);

/// Collects the variables of a file in a first pass, and the elements of one of them in a second pass.
class MatVariables {
 public:
  /// Starts the first pass, which lists the variables.
  MatVariables() = default;
  /// Starts the second pass, which reads the elements of `wanted`. @param where the beginning of messages:
  /// "FILE: A: "
  MatVariables(const Candidate& wanted, std::string where, bool keep, MatrixInfo& info);

  /// Adds a variable; it replaces an earlier one of the same name, as in MATLAB's load.
  /// @return true if the caller must read its elements
  bool add(Candidate candidate);
  /// Reads a full matrix, column by column. @param is_real true if the class of the variable is double or
  /// single
  void read_full(MatBytes& source, const ElementType& type, bool is_real);
  /// Stores the entries of a sparse matrix, in any order; entries with equal indices are added. @param
  /// position(i) returns row and column of entry i, from 0. @throws BrokenMat if an index is out of range
  template <class Position>
  void add_sparse_entries(const MatNumbers& entries, bool is_real, const Position& position) {
    start(is_real);
    for (std::size_t i = 0; i < entries.values.size(); ++i) {
      const auto [row, col] = position(i);
      add_sparse_entry(entries, i, row, col, is_real);
    }
    info_->stored_entries = static_cast<std::int64_t>(entries.values.size());
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  Dense<double>& matrix() { return matrix_; }

 private:
  /// Records the matrix in `info_` and allocates zeros for its elements if they are kept.
  void start(bool is_real);
  void add_sparse_entry(const MatNumbers& entries, std::size_t i, double row, double col, bool is_real);

  std::vector<Candidate> candidates_;
  Candidate wanted_;                 ///< the variable that the second pass reads
  std::int64_t variable_count_ = 0;  ///< number of variables so far
  std::string where_;
  bool keep_ = false;
  MatrixInfo* info_ = nullptr;  ///< null in the first pass
  Dense<double> matrix_;
};

/// Return true if the file begins like a MATLAB file of version 4 (is_mat4) or version 5 (is_mat5).
bool is_mat4(const Descriptor& file);
bool is_mat5(const Descriptor& file);
/// Read and check a whole file, and pass its variables to `variables`. @throws BrokenMat; InputError if
/// double cannot represent an element
void walk_mat4(const Descriptor& file, MatVariables& variables);
void walk_mat5(const Descriptor& file, MatVariables& variables);

}  // namespace gaussweep::io
