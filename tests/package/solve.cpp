// Solves a system by gesv/recursive, on the first GPU or, without one, emulated.
#include <cstdio>

#include "kernels/staging/method_run.hpp"

int main() {
  using namespace gaussweep;
  const auto device =
      cuda_device_count() > 0 ? make_cuda_device(0) : make_host_device(Backend::emulated, nullptr);
  Context context(*device);
  const Registry registry = builtin_registry();
  const Method& method = *registry.find(Problem::named("gesv"), "recursive");
  Inputs<double> system{{2, 2, 2, 1}, HostMatrix<double>(2, 2), HostMatrix<double>(2, 1), {}};
  system.a(0, 1) = 2, system.a(1, 0) = 4, system.b(0, 0) = 6, system.b(1, 0) = 8;  // x = (2, 3)
  MethodRun<double> run(context, method, device->backend(), defaults(method.parameters), system.shape);
  run.upload(system);
  run.warm_up();
  const Answer<double> answer = run.download();
  std::printf("info %d, x = (%g, %g)\n", static_cast<int>(answer.info), answer.x(0, 0), answer.x(1, 0));
}
