#pragma once
/// Selects the matrix to read from a file with several variables or datasets.

#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// A variable or dataset of a file that may be the matrix to read.
struct Candidate {
  std::string name;
  std::int64_t rows = 0, cols = 0;
  std::string why;                ///< the reason why it cannot be read as a matrix; empty if it can
  std::int64_t order = 0;         ///< its position in the file, from 1
  bool is_unread_matrix = false;  ///< a complex or sparse matrix, which cannot be read
};

/// Returns the names to look for, in order. If `choice` has a name, this is the only one; otherwise they are
/// its operand's default names.
std::vector<std::string> default_names(const DatasetChoice& choice);

/// Returns the option that names the operand's dataset.
std::string option_of(const DatasetChoice& choice);

/// Returns the index of the only matrix. Vectors are ignored if there is exactly one matrix that is not a
/// vector. A complex or sparse matrix counts too, because the user may mean it.
/// @pre no candidate has one of the default_names
/// @throws InputError "FILE: …" with the names of all matrices
std::size_t sole_matrix(const std::filesystem::path& path, const std::vector<Candidate>& candidates,
                        const DatasetChoice& choice);

}  // namespace gaussweep::io
