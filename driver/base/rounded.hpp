#pragma once
/// Rounds a file's matrix to the precision of a trial.

#include <string>

#include "io/matrix/matrix_file.hpp"

namespace gaussweep::driver {

/// Returns the matrix with each element rounded to T; a no-op for double. An element may become 0 or
/// subnormal if its row and its column hold numbers that are normal in T, because their rounding errors are
/// larger. Otherwise a row or column would lose its values unnoticed, so that is an error.
/// @throws io::InputError naming `file`, the element (counted from 1) and its value, if the element is beyond
/// the range of T, or if it changes below T's normal numbers in a row or column without a normal number
template <class T>
io::Dense<T> rounded(io::Dense<double>&& a, const std::string& file);

}  // namespace gaussweep::driver
