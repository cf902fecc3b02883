#pragma once
/// The forward error of a computed inverse.

#include "kernels/core/matrix.hpp"
#include "kernels/registry/method.hpp"

namespace gaussweep::driver {

/// Returns true if the answer is the inverse of A.
bool is_inverse(Problem problem);

/// Estimates the relative error of a computed inverse X of A by max |X r| / max |X v|. Here v is a vector
/// with random elements 1 and -1, and r = v - A (X v). The sums are in extended precision, so that
/// cancellation leaves correct digits in r. Takes O(n^2) operations.
/// @return NaN if an element is not finite
template <class T>
double inverse_error(Problem problem, Uplo uplo, const HostMatrix<T>& a, const HostMatrix<T>& x);

}  // namespace gaussweep::driver
