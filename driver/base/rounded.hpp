#pragma once
/// A matrix of a file in the precision of a trial, where that can hold it.

#include <string>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

/// The matrix, each element rounded once; double stays as it is. An element may become 0 or subnormal where
/// its row and its column hold a normal number, whose rounding is coarser. Elsewhere the row or column would
/// be lost without a word, and is refused.
/// @throws io::InputError naming `file`, the element (counted from 1) and its value. It is beyond the range
/// of T, or the largest of a row or column, below T's normal numbers, and would change
template <class T>
io::Dense<T> rounded(io::Dense<double>&& a, const std::string& file);

}  // namespace gaussweep::driver
