// gaussweep_faulty: gaussweep with the methods and devices of faults.hpp.
#include "driver/command/cli.hpp"
#include "tests/faults/faults.hpp"

int main(int argc, char** argv) {
  gaussweep::Registry registry = gaussweep::builtin_registry();
  for (gaussweep::Method& method : gaussweep::faults::host_methods()) registry.add(std::move(method));
  for (gaussweep::Method& method : gaussweep::faults::device_methods()) registry.add(std::move(method));
  for (gaussweep::Method& method : gaussweep::faults::cheats()) registry.add(std::move(method));
  registry.add(gaussweep::faults::changed_method());
  return gaussweep::driver::run_command_line(argc, argv, registry, gaussweep::faults::make_failing_device);
}
