#include <chrono>
#include <cstdio>

#include <gaussweep/gaussweep.hpp>

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  gaussweep::Inputs<double> system{{2, 2, 2, 1}, {2, 2}, {2, 1}, {}};
  system.a(0, 1) = 2, system.a(1, 0) = 4, system.b(0, 0) = 6, system.b(1, 0) = 8;
  const gaussweep::Registry registry = gaussweep::builtin_registry();
  const gaussweep::Method& method = *registry.find(gaussweep::Problem::named("gesv"), "recursive");
  const auto device = gaussweep::device_for(method, seconds);  // GPUs have their own clock
  gaussweep::Context context(*device);
  const gaussweep::Parameters parameters = gaussweep::parameters_with(method.parameters, {});
  gaussweep::MethodRun<double> run(context, method, device->backend(), parameters, system.shape);
  run.upload(system);
  run.warm_up();
  for (int i = 0; i < 5; ++i) std::printf("%.3g s\n", run.timed_run());  // each on restored operands
  const gaussweep::Answer<double> answer = run.download();
  std::printf("info %d, x = (%g, %g)\n", static_cast<int>(answer.info), answer.x(0, 0), answer.x(1, 0));
}
