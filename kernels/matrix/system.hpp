#pragma once
/// Generates systems of equations with known solutions.

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// A right-hand side with its exact solution.
template <class T>
struct System {
  HostMatrix<T> x_true, b;
};

/// Returns x_true (generate_solution) and b = A x_true. If b overflows in T, scales x_true by a power of two
/// that keeps b in range. @pre A is square and finite
template <class T>
System<T> make_system(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, int threads = 0);
/// Returns the systems of a batch side by side. System s uses seed_of_system(seed, s).
template <class T>
System<T> make_systems(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, std::int64_t batch);

}  // namespace gaussweep
