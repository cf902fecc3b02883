/// `gaussweep worker`: started by `run`, not by people.

#include <CLI/CLI.hpp>

#include <csignal>
#include <fstream>
#include <memory>
#include <new>

#include <sys/resource.h>
#include <unistd.h>

#include "driver/base/errors.hpp"
#include "driver/command/cli.hpp"
#include "driver/system/process.hpp"
#include "driver/worker/worker.hpp"

namespace gaussweep::driver {
namespace {

/// Where memory runs out, the system shall end the worker, not its rank; and what crashes leaves no image of
/// its memory, as large as the machine's, in whatever folder the sweep was started from.
void be_expendable() {
  std::ofstream("/proc/self/oom_score_adj") << "1000\n";
  rlimit core{};
  if (::getrlimit(RLIMIT_CORE, &core) != 0) return;
  core.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &core);
}

}  // namespace

void add_worker_command(CLI::App& app, Commands& commands) {
  CLI::App* worker =
      app.add_subcommand("worker", "(started by run) Serve trials on descriptor 3, note steps in 4");
  worker->group("");  // not for people
  auto parent = std::make_shared<pid_t>(0);
  worker->add_option("--parent", *parent, "The supervisor's process")->required();
  worker->callback([parent, &commands] {
    if (!die_with(*parent)) {
      commands.exit_code = exit_broken;
      return;
    }
    // srun and scancel signal every process of a step: what a trial that runs gets of its grace is the
    // supervisor's decision.
    for (int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) std::signal(number, SIG_IGN);
    be_expendable();
    try {
      commands.exit_code = serve_trials(3, 4, commands.registry, commands.make_device);
    } catch (const std::bad_alloc&) {
      ::_exit(exit_broken);  // without memory nothing that an orderly end does can be relied on
    }
  });
}

}  // namespace gaussweep::driver
