#pragma once
/// Systems of equations of our own making.

#include "kernels/core/matrix.hpp"

namespace gaussweep {

/// A right-hand side with its exact solution.
template <class T>
struct System {
  HostMatrix<T> x_true, b;
};

/// x_true as generate_solution, b = A x_true. Where that is beyond the range of T, all of x_true is scaled
/// down by one power of two, so that b is within it. @pre A is square and finite
template <class T>
System<T> make_system(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, int threads = 0);
/// The same of a batch, side by side: system s by seed_of_system(seed, s).
template <class T>
System<T> make_systems(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, std::int64_t batch);

}  // namespace gaussweep
