#pragma once
/// Matrix generators. They use counter-based random numbers (Philox 4x32-10), no FMAs, and a fixed order of
/// sums. All backends and any number of threads therefore give the same bits.

#include <cstdint>
#include <string>

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/matrix/matrix_spec.hpp"

namespace gaussweep {

/// Returns an error text with the allowed values if this spec is impossible in this precision, else "".
/// Reasons are a condition number above max_condition_number or max_spd_condition_number and, for `uniform`
/// and `symmetric`, too few floating-point numbers between low and high.
std::string precision_fault(const MatrixSpec& spec, Precision precision);

/// Generates the matrix, or the batch of matrices side by side, on the host with `threads` threads (0: all
/// usable CPUs).
/// @throws std::invalid_argument if a kind must be square or a value is out of range; the message names the
/// allowed values.
template <class T>
HostMatrix<T> generate(const MatrixSpec& spec, int threads = 0);

/// Generates the same matrix by kernels on the context's device (cuda, emulated) and downloads it. Works on
/// blocks of whole columns of at most `max_elements` elements, but at least a column. Kinds whose elements
/// depend on each other (condition, spd with a condition, blur) are generated on the host.
template <class T>
HostMatrix<T> generate_on(Context& context, const MatrixSpec& spec,
                          std::int64_t max_elements = std::int64_t{1} << 29);

/// Returns a random solution x_true, from which right_hand_side computes b: n x nrhs numbers, uniform in (-1,
/// 1), never 0.
template <class T>
HostMatrix<T> generate_solution(std::int64_t n, std::int64_t nrhs, std::uint64_t seed);

/// Returns b = A x_true, accumulated in long double in a fixed order and rounded once; the bits do not depend
/// on the number of threads.
template <class T>
HostMatrix<T> right_hand_side(const HostMatrix<T>& a, const HostMatrix<T>& x_true, int threads = 0);

}  // namespace gaussweep
