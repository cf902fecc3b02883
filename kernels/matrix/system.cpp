#include "kernels/matrix/system.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/matrix/generate.hpp"

namespace gaussweep {

template <class T>
System<T> make_system(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, int threads) {
  System<T> system;
  system.x_true = generate_solution<T>(a.rows, nrhs, seed);
  system.b = right_hand_side(a, system.x_true, threads);
  const auto finite = [](T value) { return std::isfinite(value); };
  if (std::all_of(system.b.data.begin(), system.b.data.end(), finite)) return system;
  // No row of A sums up to more than n times the largest number, and no element of x_true reaches 1.
  const int down = -std::ilogb(static_cast<double>(a.cols)) - 1;
  for (T& value : system.x_true.data) value = std::ldexp(value, down);
  system.b = right_hand_side(a, system.x_true, threads);
  return system;
}

template System<float> make_system<float>(const HostMatrix<float>&, std::int64_t, std::uint64_t, int);
template System<double> make_system<double>(const HostMatrix<double>&, std::int64_t, std::uint64_t, int);

}  // namespace gaussweep
