#pragma once
/// Which matrix of a file with several variables or datasets is read.

#include <string>
#include <vector>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::io {

/// A variable or dataset of a file.
struct Candidate {
  std::string name;
  std::int64_t rows = 0, cols = 0;
  std::string why;         ///< why it is no matrix that can be read; empty if it is one
  std::int64_t order = 0;  ///< its number in the file
};

/// Returns the names that are tried one after the other: the given one, or the usual ones of the operand.
std::vector<std::string> wanted_names(const DatasetChoice& choice);

/// Returns the index of the only matrix; vectors do not count beside a single matrix.
/// @pre no candidate has a wanted name
/// @throws InputError "FILE: …" with the names of all matrices
std::size_t only_matrix(const std::filesystem::path& path, const std::vector<Candidate>& candidates,
                        const DatasetChoice& choice);

}  // namespace gaussweep::io
