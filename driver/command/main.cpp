/// The main function of the program `gaussweep`.

#include "driver/command/cli.hpp"
#include "kernels/registry/method.hpp"

int main(int argc, char** argv) {
  const gaussweep::Registry registry = gaussweep::builtin_registry();
  return gaussweep::driver::run_command_line(argc, argv, registry);
}
