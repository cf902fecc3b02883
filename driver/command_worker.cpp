#include <CLI/CLI.hpp>

#include <csignal>
#include <memory>

#include <sys/prctl.h>
#include <unistd.h>

#include "driver/cli.hpp"
#include "driver/worker.hpp"

namespace gaussweep::driver {

void add_worker_command(CLI::App& app, Commands& commands) {
  CLI::App* worker = app.add_subcommand("worker", "(started by run) Serve trials on descriptor 3");
  worker->group("");  // not for people
  auto parent = std::make_shared<pid_t>(0);
  worker->add_option("--parent", *parent, "The supervisor's process")->required();
  worker->callback([parent, &commands] {
    // It dies with its supervisor, also where that is killed in the moment between the spawn and this call.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != *parent) {
      commands.exit_code = exit_broken;
      return;
    }
    commands.exit_code = serve_trials(3, commands.registry);
  });
}

}  // namespace gaussweep::driver
