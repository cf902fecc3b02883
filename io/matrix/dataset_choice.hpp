#pragma once
/// Selects the matrix to read from a file with several variables or datasets.

#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// A variable or dataset of a file.
struct Candidate {
  std::string name;
  std::int64_t rows = 0, cols = 0;
  std::string why;                ///< why it cannot be read as a matrix; empty if it can
  std::int64_t order = 0;         ///< its position among the file's variables
  bool is_unread_matrix = false;  ///< a matrix of a kind that cannot be read: complex or sparse
};

/// Returns the names to look for, in this order: the given name, or the usual names of the operand.
std::vector<std::string> wanted_names(const DatasetChoice& choice);

/// Returns the index of the only matrix. Vectors are ignored if there is exactly one matrix that is not a
/// vector. A complex or sparse matrix counts too, because the user may mean it.
/// @pre no candidate has a wanted name
/// @throws InputError "FILE: …" with the names of all matrices
std::size_t only_matrix(const std::filesystem::path& path, const std::vector<Candidate>& candidates,
                        const DatasetChoice& choice);

}  // namespace gaussweep::io
