#pragma once
/// The layers of MATLAB's files of versions 4 and 5: bytes of the file, inflated where they are packed, then
/// variables. For mat*.cpp only.

#include <zlib.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/files/open_file.hpp"
#include "io/matrix/dataset_choice.hpp"
#include "io/matrix/file_elements.hpp"

namespace gaussweep::io {

/// A file that is not what MATLAB's elements, sizes and checksums say.
struct BrokenMat : std::runtime_error {
  using std::runtime_error::runtime_error;
};
constexpr const char* mat_cut_off = "it is cut off, or damaged";

/// Part of a file, as it is or inflated, read from its beginning to its end.
class MatBytes {
 public:
  MatBytes(const Descriptor& file, off_t begin, off_t end, bool deflated);
  ~MatBytes();
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;
  /// @throws BrokenMat if there are fewer bytes
  void read(void* to, std::size_t bytes);
  void skip(std::size_t bytes);
  /// Requires the end of the part here, with zlib's checksum. @throws BrokenMat
  void end();

 private:
  void inflate_to(unsigned char* to, std::size_t bytes);

  const Descriptor& file_;
  off_t at_, end_;
  std::unique_ptr<z_stream> stream_;
  int state_ = Z_OK;
  unsigned char block_[1 << 14];
};

/// Numbers that are indices or entries of a sparse matrix.
struct MatNumbers {
  std::vector<double> values;
  std::size_t held = 0;  ///< index of the first number that a double does not hold
  std::string refused;   ///< its bytes
  ElementType type;
};
MatNumbers read_numbers(MatBytes& source, const ElementType& type, std::size_t count);

/// Collects the variables of a file, and in a second walk the elements of one of them.
class MatVariables {
 public:
  /// The first walk.
  MatVariables() = default;
  /// The second walk. @param where begins messages: "FILE: A: "
  MatVariables(const Candidate& wanted, std::string where, bool keep, MatrixInfo& info);

  /// Adds a variable; a later one replaces an earlier one of the same name, as MATLAB's load does.
  /// @return true if its elements are to be read
  bool add(Candidate candidate);
  /// Reads a full matrix, column by column. @param is_real the class of the variable is double or single
  void read_full(MatBytes& source, const ElementType& type, bool is_real);
  /// Takes the entries of a sparse matrix, which may come in any order; those of one place are added.
  /// @param position(i) gives row and column of entry i from 0. @throws BrokenMat if they are outside
  template <class Position>
  void take_entries(const MatNumbers& entries, bool is_real, const Position& position) {
    start(is_real);
    for (std::size_t i = 0; i < entries.values.size(); ++i) {
      const auto [row, col] = position(i);
      take_entry(entries, i, row, col, is_real);
    }
    info_->stored_entries = static_cast<std::int64_t>(entries.values.size());
  }

  const std::vector<Candidate>& candidates() const { return candidates_; }
  Dense<double>& matrix() { return matrix_; }

 private:
  void start(bool is_real);
  void take_entry(const MatNumbers& entries, std::size_t i, double row, double col, bool is_real);

  std::vector<Candidate> candidates_;
  Candidate wanted_;
  std::int64_t seen_ = 0;  ///< variables
  std::string where_;
  bool keep_ = false;
  MatrixInfo* info_ = nullptr;
  Dense<double> matrix_;
};

/// Returns true if the file begins like MATLAB's of version 4, or of version 5.
bool is_mat4(const Descriptor& file);
bool is_mat5(const Descriptor& file);
/// Walks through a whole file and checks it. @throws BrokenMat; InputError for an element
void walk_mat4(const Descriptor& file, MatVariables& variables);
void walk_mat5(const Descriptor& file, MatVariables& variables);

}  // namespace gaussweep::io
