#pragma once
/// What MATLAB files of versions 4 and 5 are made of, and whether they are whole. libmatio does not notice.
/// It reads on past the end of a short element, takes what a cut file lacks for zeros, and ignores zlib's
/// checksums. It puts entries that are not sorted into wrong columns.

#include <string>

#include "io/files/open_file.hpp"

namespace gaussweep::io {

/// Whether the file begins like MATLAB's of version 4 or 5.
bool is_mat(const Descriptor& file);
/// Why a file is not what MATLAB's elements, sizes and checksums say. Of version 4 also why a sparse matrix
/// is not sorted. Empty where all is well. @pre is_mat
std::string broken_mat(const Descriptor& file);

}  // namespace gaussweep::io
