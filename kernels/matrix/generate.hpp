#pragma once
/// Matrix generators. Counter-based (Philox 4x32-10), no contraction, sums in fixed order: the same bits on
/// every backend and for any number of threads.

#include <cstdint>
#include <string>

#include "kernels/core/matrix.hpp"
#include "kernels/device/context.hpp"
#include "kernels/matrix/matrix_spec.hpp"

namespace gaussweep {

/// Why no matrix of this spec is made in this precision, with what is allowed; empty if one is. A
/// chosen condition: beyond most_condition or most_spd_condition. `uniform` and `symmetric`: too few numbers
/// between low and high.
std::string precision_fault(const MatrixSpec& spec, Precision precision);

/// The matrix, or the batch of them side by side, on the host, made with `threads` threads (0: as many as the
/// machine has).
/// @throws std::invalid_argument where a kind must be square or a value is out of range, saying what is
/// allowed.
template <class T>
HostMatrix<T> generate(const MatrixSpec& spec, int threads = 0);

/// The same matrix made by kernels on the context's device (cuda, emulated) and fetched. Kinds whose elements
/// cannot be had one by one (condition, spd with a condition, blur) are made on the host.
template <class T>
HostMatrix<T> generate_on(Context& context, const MatrixSpec& spec);

/// x_true of a system: uniform in (-1, 1), never 0, by seed; n x nrhs.
template <class T>
HostMatrix<T> generate_solution(std::int64_t n, std::int64_t nrhs, std::uint64_t seed);

/// b = A x_true, accumulated in long double in fixed order and rounded once (any number of threads, same
/// bits).
template <class T>
HostMatrix<T> right_hand_side(const HostMatrix<T>& a, const HostMatrix<T>& x_true, int threads = 0);

}  // namespace gaussweep
