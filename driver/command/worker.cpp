/// `gaussweep worker`: the worker process; started by `run`, not by users.

#include "driver/worker/worker.hpp"

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

namespace gaussweep::driver {
namespace {

/// Makes the kernel kill this worker before its supervisor if memory runs out, and disables core dumps, which
/// could be as large as the machine's memory.
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
  worker->group("");  // hidden from the help
  auto parent = std::make_shared<pid_t>(0);
  worker->add_option("--parent", *parent, "The supervisor's process")->required();
  worker->callback([parent, &commands] {
    if (!die_with_parent(*parent)) {
      commands.exit_code = exit_broken;
      return;
    }
    // srun and scancel signal every process of a job step. The supervisor decides when a running trial ends.
    for (int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) std::signal(number, SIG_IGN);
    be_expendable();
    try {
      commands.exit_code = serve_trials(3, 4, commands.registry, commands.make_device);
    } catch (const std::bad_alloc&) {
      ::_exit(exit_broken);  // without memory an orderly exit may fail
    }
  });
}

}  // namespace gaussweep::driver
