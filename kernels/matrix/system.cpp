/// Generates systems of equations with known solutions.

#include "kernels/matrix/system.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/core/parallel_rows.hpp"
#include "kernels/matrix/generate.hpp"
#include "kernels/registry/batch.hpp"

namespace gaussweep {

template <class T>
System<T> make_system(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, int threads) {
  System<T> system;
  system.x_true = generate_solution<T>(a.rows, nrhs, seed);
  system.b = right_hand_side(a, system.x_true, threads);
  const auto finite = [](T value) { return std::isfinite(value); };
  if (std::all_of(system.b.data.begin(), system.b.data.end(), finite)) return system;
  // b overflowed. Since |b_i| <= n max|A| max|x_true| and |x_true| < 1, a factor of at most 1 / n for x_true
  // keeps b in range. A power of two changes no digits of x_true.
  const int exponent = -std::ilogb(static_cast<double>(a.cols)) - 1;
  for (T& value : system.x_true.data) value = std::ldexp(value, exponent);
  system.b = right_hand_side(a, system.x_true, threads);
  return system;
}

template <class T>
System<T> make_systems(const HostMatrix<T>& a, std::int64_t nrhs, std::uint64_t seed, std::int64_t batch) {
  if (batch == 1) return make_system(a, nrhs, seed);
  System<T> all{HostMatrix<T>::uninitialized(a.rows, nrhs * batch),
                HostMatrix<T>::uninitialized(a.rows, nrhs * batch)};
  const double cost = 4.0 * static_cast<double>(a.rows * a.cols) * static_cast<double>(nrhs);
  for_row_ranges(batch, /*threads=*/0, cost, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      const System<T> one = make_system(system_of(a, batch, s), nrhs, seed_of_system(seed, s), /*threads=*/1);
      put_system(one.x_true, s, all.x_true);
      put_system(one.b, s, all.b);
    }
  });
  return all;
}

template System<float> make_systems<float>(const HostMatrix<float>&, std::int64_t, std::uint64_t,
                                           std::int64_t);
template System<double> make_systems<double>(const HostMatrix<double>&, std::int64_t, std::uint64_t,
                                             std::int64_t);
template System<float> make_system<float>(const HostMatrix<float>&, std::int64_t, std::uint64_t, int);
template System<double> make_system<double>(const HostMatrix<double>&, std::int64_t, std::uint64_t, int);

}  // namespace gaussweep
