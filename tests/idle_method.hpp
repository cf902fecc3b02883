#pragma once
/// Methods that compute nothing, for tests of code that uses a registry.

#include "kernels/registry/method.hpp"
#include "tests/testing.hpp"

namespace gaussweep::testing_help {

/// Returns a row whose entry points compute nothing, on the given backends.
inline Method idle_method(Problem problem, const std::string& variant,
                          std::vector<Backend> backends = {Backend::host}) {
  const EntryPoints entry = {[](Context&, Operands<float>&, const Parameters&) {},
                             [](Context&, Operands<double>&, const Parameters&) {}};
  Method method;
  method.problem = problem;
  method.variant = variant;
  method.backends = std::move(backends);
  for (const Backend backend : method.backends) {
    (backend == Backend::cuda       ? method.cuda
     : backend == Backend::emulated ? method.emulated
                                    : method.host) = entry;
  }
  return method;
}

}  // namespace gaussweep::testing_help
