#include <cstdio>

#include <gaussweep/gaussweep.hpp>

gaussweep::Answer<double> solve(const gaussweep::Inputs<double>& system, const char* device);

int main() {
  gaussweep::Inputs<double> system{{2, 2, 2, 1}, {2, 2}, {2, 1}, {}};  // m, n, k, nrhs; A; b
  system.a(0, 1) = 2, system.a(1, 0) = 4, system.b(0, 0) = 6, system.b(1, 0) = 8;
  const gaussweep::Answer<double> answer = solve(system, "emulated");
  std::printf("info %d, x = (%g, %g)\n", static_cast<int>(answer.info), answer.x(0, 0), answer.x(1, 0));
}
